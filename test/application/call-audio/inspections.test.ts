import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { ALICE, audioFile, BOB, decoder, NUMBER, World } from "../../support/application.ts";

let world: World;
let [alicesInstance, bobsInstance]: [Instance, Instance] = [] as never;
/** Functions that let the running inspections finish. */
let finishers: (() => void)[];
/** Durations of the inspected files, s, in order. */
let inspectedSeconds: number[];

beforeEach(async () => {
  world = await World.start({ policy: { kind: "fifo", depth: 1_000 } });
  [alicesInstance, bobsInstance] = [await world.newInstance(ALICE), await world.newInstance(BOB)];
  [finishers, inspectedSeconds] = [[], []];
  const { inspect } = decoder;
  vi.spyOn(decoder, "inspect").mockImplementation(async (file, limits) => {
    inspectedSeconds.push(file[4] ?? 0);
    await new Promise<void>((resolve) => finishers.push(resolve));
    return inspect(file, limits);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.stop();
});

const upload = (principal: Principal, instance: Instance, seconds: number, signal?: AbortSignal) =>
  world.app.calls
    .create(
      principal,
      {
        instanceId: instance.id,
        type: "FIXED_AUDIO",
        target: { phoneNumber: NUMBER },
        audio: { audioBase64: audioFile(seconds) },
      },
      { signal },
    )
    .catch((error: unknown) => error);

/** Waits for work outside the manual clock, such as hashes. */
async function waitUntilIdle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  await world.system.settle();
}

async function finishAll(uploads: readonly Promise<unknown>[]): Promise<unknown[]> {
  const finishTimer = setInterval(() => finishers.splice(0).map((release) => release()), 1);
  return Promise.all(uploads).finally(() => clearInterval(finishTimer));
}

describe("one user's uploads", () => {
  test("are refused beyond fifty, per user", async () => {
    const uploads = Array.from({ length: 50 }, () => upload(ALICE, alicesInstance, 1));
    await waitUntilIdle();
    expect(await upload(ALICE, alicesInstance, 1)).toMatchObject({ code: "server_busy" });
    uploads.push(upload(BOB, bobsInstance, 2));
    await waitUntilIdle();
    for (const result of await finishAll(uploads)) expect(result).toMatchObject({ created: true });
    const secondUpload = upload(ALICE, alicesInstance, 1);
    expect((await finishAll([secondUpload]))[0]).toMatchObject({ created: true });
  });

  test("take turns with another user's", async () => {
    const uploads = Array.from({ length: 10 }, () => upload(ALICE, alicesInstance, 1));
    await waitUntilIdle();
    uploads.push(upload(BOB, bobsInstance, 2));
    await waitUntilIdle();
    expect(inspectedSeconds).toEqual([1, 1]);
    for (const release of finishers.splice(0)) release();
    await waitUntilIdle();
    expect(inspectedSeconds).toEqual([1, 1, 1, 2]);
    await finishAll(uploads);
  });

  test("keep their turns until the work ends, even if their clients disconnect", async () => {
    const abort = new AbortController();
    const uploads = [1, 1].map((seconds) => upload(ALICE, alicesInstance, seconds, abort.signal));
    await waitUntilIdle();
    uploads.push(upload(BOB, bobsInstance, 2));
    await waitUntilIdle();
    abort.abort(new Error("the client has left"));
    await waitUntilIdle();
    expect(inspectedSeconds).toEqual([1, 1]);
    for (const release of finishers.splice(0)) release();
    await waitUntilIdle();
    expect(inspectedSeconds).toEqual([1, 1, 2]);
    await finishAll(uploads);
  });

  test("stop waiting once their clients disconnect", async () => {
    const abort = new AbortController();
    const uploads = [1, 1].map((seconds) => upload(ALICE, alicesInstance, seconds));
    await waitUntilIdle();
    const reason = new Error("the client has left");
    const pendingUpload = upload(ALICE, alicesInstance, 3, abort.signal);
    await waitUntilIdle();
    abort.abort(reason);
    expect(await pendingUpload).toBe(reason);
    expect(await upload(ALICE, alicesInstance, 4, abort.signal)).toBe(reason);
    await finishAll(uploads);
    expect(inspectedSeconds).toEqual([1, 1]);
  });
});
