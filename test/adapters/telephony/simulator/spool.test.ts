import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Spool } from "../../../../adapters/telephony/simulator/spool.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";

const RATE = 16_000;
/** Samples of a recording, and its bytes with the header. */
const SECOND = new Int16Array(RATE).fill(7);
const SECOND_BYTES = 2 * RATE + 44;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ringport-test-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function openSpool(maxInstanceBytes: number, maxBytes = 2 ** 31): Promise<Spool> {
  const spool = new Spool({ dir, maxBytes, maxInstanceBytes, maxRecordingMs: 60_000, logger: silentLogger });
  await spool.open();
  return spool;
}

async function record(spool: Spool, callId: string, instanceId: string, seconds = 1): Promise<void> {
  const recording = spool.record(callId, instanceId, RATE);
  for (let i = 0; i < seconds; i++) {
    recording?.write(SECOND, undefined, SECOND.length);
    await recording?.flush();
  }
  await spool.finish(callId);
}

async function storedIds(spool: Spool, callIds: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const callId of callIds) if (await spool.read(callId)) ids.push(callId);
  return ids;
}

async function diskBytes(): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir)) bytes += (await readFile(join(dir, name))).length;
  return bytes;
}

describe("an instance's recordings", () => {
  test("make room for the newest, and leave other instances' alone", async () => {
    const spool = await openSpool(2 * SECOND_BYTES);
    await record(spool, "call_0", "inst_other");
    for (const callId of ["call_1", "call_2", "call_3", "call_4"]) await record(spool, callId, "inst_1");
    const callIds = ["call_0", "call_1", "call_2", "call_3", "call_4"];
    await expect.poll(() => storedIds(spool, callIds)).toEqual(["call_0", "call_3", "call_4"]);
    await expect.poll(diskBytes).toBe(3 * SECOND_BYTES);
    await spool.close();
  });

  test("end at their limit if one is longer", async () => {
    const spool = await openSpool(2 * SECOND_BYTES);
    await record(spool, "call_1", "inst_1");
    await record(spool, "call_2", "inst_1", 4);
    await record(spool, "call_3", "inst_other", 2);
    expect(await spool.read("call_2")).toMatchObject({ incomplete: true });
    expect(await spool.read("call_3")).toMatchObject({ incomplete: false });
    await expect.poll(() => storedIds(spool, ["call_1"])).toEqual([]);
    expect((await spool.read("call_2"))?.size).toBeLessThanOrEqual(2 * SECOND_BYTES);
    await spool.close();
  });

  test("count only towards the spool's limit if they are from an earlier run", async () => {
    const earlierSpool = await openSpool(2 * SECOND_BYTES);
    for (const callId of ["call_1", "call_2"]) await record(earlierSpool, callId, "inst_1");
    await earlierSpool.close();
    const spool = await openSpool(2 * SECOND_BYTES, 3 * SECOND_BYTES);
    await record(spool, "call_3", "inst_1");
    expect(await storedIds(spool, ["call_1", "call_2", "call_3"])).toEqual(["call_1", "call_2", "call_3"]);
    await record(spool, "call_4", "inst_other");
    await expect.poll(async () => (await readdir(dir)).length).toBe(3);
    expect(await storedIds(spool, ["call_3", "call_4"])).toEqual(["call_3", "call_4"]);
    await spool.close();
  });

  test("free their space when they are deleted", async () => {
    const spool = await openSpool(2 * SECOND_BYTES);
    await record(spool, "call_1", "inst_1");
    await record(spool, "call_2", "inst_1");
    await spool.forget(["call_1"]);
    await record(spool, "call_3", "inst_1");
    expect(await storedIds(spool, ["call_1", "call_2", "call_3"])).toEqual(["call_2", "call_3"]);
    await spool.close();
  });
});
