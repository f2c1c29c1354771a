import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { CreateCallInput } from "../../../src/domain/calls/call-input.ts";
import { type NewReceipt, type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, audioFile, NUMBER, World } from "../../support/application.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";

const KEY = { idempotencyKey: "k" };
const QUEUE = { kind: "fifo", depth: 100 } as const;
const STORAGE_ERROR = { name: "StorageUnavailable" };

/** A world whose instance is not linked, so that its calls wait. */
async function waitingWorld(storage: Storage, policy: World["context"]["policy"] = QUEUE) {
  const world = await World.start({ storage, policy });
  const { id: instanceId } = await world.newInstance();
  const input = (text: string): CreateCallInput => ({
    instanceId,
    type: "FIXED_TTS",
    target: { phoneNumber: NUMBER },
    tts: { text, voiceId: "en-US-1" },
  });
  const unplayableInput: CreateCallInput = {
    instanceId,
    type: "FIXED_AUDIO",
    target: { phoneNumber: NUMBER },
    audio: { audioBase64: btoa("nonsense") },
  };
  const create = (body: CreateCallInput) => world.app.calls.create(ALICE, body, KEY);
  const repair = () => {
    world.storage.before = () => {};
    world.storage.after = () => {};
  };
  return {
    world,
    repair,
    createUnplayable: () => create(unplayableInput),
    createPlayable: () => create({ ...unplayableInput, audio: { audioBase64: audioFile(1) } }),
    place: (text = "Hello") => create(input(text)),
    calls: () => world.app.calls.list(ALICE),
  };
}

/** Makes the operation fail, before or after it is done, this many times or until the connection is repaired. */
function breakConnection(world: World, moment: "before" | "after", operation: string, times = Infinity): void {
  let remainingFailures = times;
  world.storage[moment] = (method) => {
    if (method === operation && remainingFailures-- > 0) throw new StorageUnavailable("the connection broke");
  };
}

function testLosses(newStorage: () => Promise<Storage>): void {
  test("a creation with a lost response is replayed", async () => {
    const { world, repair, place, calls } = await waitingWorld(await newStorage());
    breakConnection(world, "after", "calls.insert");
    await expect(place()).rejects.toMatchObject(STORAGE_ERROR);
    repair();
    const [call] = await calls();
    expect(await place()).toMatchObject({ id: call?.id, created: true, replayed: true });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("a creation stored after its repetition has begun is replayed", async () => {
    const storage = await newStorage();
    const { world, repair, place, calls } = await waitingWorld(storage);
    const [instance] = await world.app.instances.list(ALICE);
    const lateInstance = { ...(await world.create(instance as never)), id: world.context.ids("call") };
    world.storage.before = async (operation, args) => {
      if (operation !== "calls.insert") return;
      repair();
      await storage.calls.insert(lateInstance, undefined, QUEUE, [], args[4] as NewReceipt);
    };
    expect(await place()).toMatchObject({ id: lateInstance.id, created: true, replayed: true });
    expect(await calls()).toHaveLength(2);
    await world.stop();
  });

  test("a refused request leaves its key free", async () => {
    const { world, createUnplayable, createPlayable, calls } = await waitingWorld(await newStorage());
    await expect(createUnplayable()).rejects.toMatchObject({ code: "audio_unsupported" });
    const { id } = await createPlayable();
    expect(await createPlayable()).toMatchObject({ id, replayed: true });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("concurrent requests for a stored response all get it", async () => {
    const { world, place } = await waitingWorld(await newStorage());
    const { id } = await place();
    const responses = await Promise.all(Array.from({ length: 20 }, () => place()));
    for (const response of responses) expect(response).toMatchObject({ id, replayed: true });
    await world.stop();
  });
}

describe("SQLite", () => testLosses(async () => sqliteStorage({ path: ":memory:" })));

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 60_000);
  afterAll(() => server?.stop());

  testLosses(async () => postgresStorage({ url: await server.createDatabase() }));
});
