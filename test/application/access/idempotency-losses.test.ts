import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { postgresStorage } from "../../../adapters/storage/postgres.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import type { CreateCallInput } from "../../../src/domain/call-input.ts";
import { type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, audioFile, NUMBER, World } from "../../support/application.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";

const KEY = { idempotencyKey: "k" };
const QUEUE = { kind: "fifo", depth: 100 } as const;
const LOST = { name: "StorageUnavailable" };

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
  const unplayable: CreateCallInput = {
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
    refused: () => create(unplayable),
    playable: () => create({ ...unplayable, audio: { audioBase64: audioFile(1) } }),
    place: (text = "Hello") => create(input(text)),
    calls: () => world.app.calls.list(ALICE),
  };
}

/** Lets the operation fail, before or after it is done, this often or until the connection is repaired. */
function breakConnection(world: World, moment: "before" | "after", operation: string, times = Infinity): void {
  let left = times;
  world.storage[moment] = (one) => {
    if (one === operation && left-- > 0) throw new StorageUnavailable("the connection broke");
  };
}

/** Lets the operation wait until it is released. */
function hold(world: World, operation: string): { readonly reached: Promise<void>; release(): void } {
  let release = () => {};
  const reached = new Promise<void>((reach) => {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.storage.before = (begun) => {
      if (begun !== operation) return;
      reach();
      return released;
    };
  });
  return { reached, release };
}

function lossesOn(newStorage: () => Promise<Storage>): void {
  test("a key whose begin lost its answer is free, for another body too", async () => {
    const { world, repair, place, calls } = await waitingWorld(await newStorage());
    breakConnection(world, "after", "receipts.begin");
    await expect(place()).rejects.toMatchObject(LOST);
    repair();
    expect(await place("Bye")).toMatchObject({ created: true, replayed: false });
    await expect(place()).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("of two requests behind a lost begin, one creates the call", async () => {
    const { world, repair, place, calls } = await waitingWorld(await newStorage());
    breakConnection(world, "after", "receipts.begin");
    await expect(place()).rejects.toMatchObject(LOST);
    repair();
    // The later one comes while the other one is running, or behind its end.
    const both = await Promise.allSettled([place(), place()]);
    const answers = both.map((one) => (one.status === "fulfilled" ? one.value : { refused: one.reason.code }));
    const isCreation = (answer: object) => "replayed" in answer && !answer.replayed;
    // Whose begin comes first depends on the threads that hash the requests.
    const [creation, ...creations] = answers.filter(isCreation);
    expect(creation).toMatchObject({ created: true, replayed: false });
    expect(creations).toEqual([]);
    const other = answers.find((answer) => answer !== creation);
    expect([{ ...creation, replayed: true }, { refused: "idempotency_key_in_progress" }]).toContainEqual(other);
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("a creation whose commit lost its answer is replayed", async () => {
    const { world, repair, place, calls } = await waitingWorld(await newStorage());
    breakConnection(world, "after", "calls.insert");
    await expect(place()).rejects.toMatchObject(LOST);
    repair();
    const [call] = await calls();
    expect(await place()).toMatchObject({ id: call?.id, created: true, replayed: true });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("the answer with an existing call is replayed after a lost commit answer", async () => {
    const { world, repair, place, calls } = await waitingWorld(await newStorage(), { kind: "single" });
    const first = await world.create((await world.app.instances.list(ALICE))[0] as never);
    breakConnection(world, "after", "receipts.finish");
    await expect(place()).rejects.toMatchObject(LOST);
    repair();
    expect(await place()).toMatchObject({ id: first.id, created: false, replayed: true });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("a finish that was not stored leaves its key free", async () => {
    const { world, repair, place } = await waitingWorld(await newStorage(), { kind: "single" });
    const first = await world.create((await world.app.instances.list(ALICE))[0] as never);
    breakConnection(world, "before", "receipts.finish");
    await expect(place()).rejects.toMatchObject(LOST);
    repair();
    expect(await place()).toMatchObject({ id: first.id, created: false, replayed: false });
    await world.stop();
  });

  test("a refused request whose release was not stored leaves its key free at once", async () => {
    const { world, repair, refused, playable } = await waitingWorld(await newStorage());
    breakConnection(world, "before", "receipts.abandon");
    await expect(refused()).rejects.toMatchObject({ code: "audio_unsupported" });
    repair();
    expect(await playable()).toMatchObject({ created: true, replayed: false });
    await world.stop();
  });

  test("a release whose answer was lost never releases the key of the next request", async () => {
    const { world, repair, refused, playable, calls } = await waitingWorld(await newStorage());
    breakConnection(world, "after", "receipts.abandon", 2);
    await expect(refused()).rejects.toMatchObject({ code: "audio_unsupported" });
    const insertion = hold(world, "calls.insert");
    const next = playable();
    await insertion.reached;
    await world.system.advance(10_000);
    await vi.waitFor(() => expect(world.storage.underWay).toBe(1));
    insertion.release();
    repair();
    const { id } = await next;
    expect(await playable()).toMatchObject({ id, replayed: true });
    expect(await calls()).toHaveLength(1);
    await world.stop();
  });

  test("many requests for a known answer at once all get it", async () => {
    const { world, place } = await waitingWorld(await newStorage());
    const { id } = await place();
    const answers = await Promise.all(Array.from({ length: 20 }, () => place()));
    for (const answer of answers) expect(answer).toMatchObject({ id, replayed: true });
    await world.stop();
  });
}

describe("SQLite", () => lossesOn(async () => sqliteStorage({ path: ":memory:" })));

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 60_000);
  afterAll(() => server?.stop());

  lossesOn(async () => postgresStorage({ url: await server.createDatabase() }));
});
