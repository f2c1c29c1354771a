import { mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Simulator, simulator } from "../../../../adapters/telephony/simulator/index.ts";
import { decodeWav } from "../../../../src/audio/wav/wav.ts";
import { wavHeader } from "../../../../src/audio/wav/wav-header.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { SimulatedNetwork } from "./network.ts";
import { heardBy, heardWav } from "./scan.ts";

let spoolDir: string;
let warnings: string[];
let logger: Logger;
beforeEach(async () => {
  spoolDir = await mkdtemp(join(tmpdir(), "ringport-test-"));
  warnings = [];
  const warn: Logger["warn"] = (fields, message) => void warnings.push(`${message}: ${fields.reason ?? fields.callId}`);
  logger = { debug() {}, info() {}, warn, error: warn };
});
afterEach(() => rm(spoolDir, { recursive: true, force: true }));

const noise = (samples: number): Int16Array => Int16Array.from({ length: samples }, (_, i) => (i * 7_919) % 30_000);

/** A simulator that only serves its spool. */
async function openSpool(options: { maxSpoolBytes?: number } = {}): Promise<Simulator> {
  const telephony = simulator({ spoolDir, logger, ...options });
  await telephony.open({ id: "inst_1", userId: "usr_1", name: "x" }, new TestLineHost(), new AbortController().signal);
  return telephony;
}

/** Writes a recording as a killed process would leave it. */
async function leaveFile(callId: string, bytes: number, ageMs = 0): Promise<void> {
  const path = join(spoolDir, `${callId}.heard.wav`);
  await writeFile(path, new Uint8Array([...wavHeader({ sampleRate: 8_000 }), ...new Uint8Array(bytes).fill(7)]));
  const modifiedAt = new Date(Date.now() - ageMs);
  await utimes(path, modifiedAt, modifiedAt);
}

describe("a recording", () => {
  test("holds every sample from the answer to the end", async () => {
    const network = await SimulatedNetwork.create({ spoolDir });
    const sound = noise(16_000 * 3);
    const call = await network.call("+12025550104", sound);
    await network.system.advance(1_500);
    await expect(network.simulator.pages.artefact(call.callId, "heard.wav")).rejects.toMatchObject({
      code: "recording_not_ready",
    });
    await network.system.advance(2_000);
    const heard = await heardBy(network.simulator, call.callId);
    expect(heard.length).toBe(call.requestedFrames * 320);
    expect(heard).toEqual(sound.subarray(0, heard.length));
    const response = await network.simulator.pages.artefact(call.callId, "heard.wav");
    expect(response?.headers).toEqual({
      "content-length": String(44 + 2 * heard.length),
      "content-type": "audio/wav",
      "content-disposition": 'inline; filename="call_1.wav"',
      "cache-control": "private, no-store",
    });
    expect(await network.simulator.pages.artefact(call.callId, "said.wav")).toBe(undefined);
    const file = decodeWav(await readFile(join(spoolDir, "call_1.heard.wav")));
    expect([file.sampleRate, file.truncated, file.samples.length]).toEqual([16_000, false, heard.length]);
    await network.close();
  });

  test("survives restarts; unanswered calls have none", async () => {
    const network = await SimulatedNetwork.create({ spoolDir });
    const answeredCall = await network.call("+12025550100", noise(16_000));
    const busyCall = await network.call("+12025550101");
    await network.system.advance(2_000);
    await answeredCall.leg.hangUp();
    await network.simulator.close();
    const restartedSimulator = simulator({ spoolDir });
    expect((await heardBy(restartedSimulator, answeredCall.callId)).length).toBe(51 * 320);
    expect(await restartedSimulator.pages.artefact(busyCall.callId, "heard.wav")).toBe(undefined);
    await restartedSimulator.close();
  });

  test("is readable after a crash, up to the last complete sample", async () => {
    await leaveFile("call_1", 1_001);
    await leaveFile("call_2", 0);
    await truncate(join(spoolDir, "call_2.heard.wav"), 20);
    const telephony = await openSpool();
    const wav = await heardWav(telephony, "call_1");
    expect([wav.sampleRate, wav.samples.length, wav.truncated]).toEqual([8_000, 500, false]);
    expect(await telephony.pages.artefact("call_2", "heard.wav")).toBe(undefined);
    await telephony.close();
  });

  test("stops at its maximum length, and the call continues", async () => {
    const network = await SimulatedNetwork.create({ spoolDir, maxRecordingMs: 1_000, logger });
    const call = await network.call("+12025550100", noise(16_000));
    await network.system.advance(5_000);
    expect(call.requestedFrames).toBe(201);
    await call.leg.hangUp();
    const response = await network.simulator.pages.artefact(call.callId, "heard.wav");
    expect(response?.headers["recording-incomplete"]).toBe("?1");
    expect(await heardBy(network.simulator, call.callId)).toEqual(noise(16_000));
    expect(warnings).toEqual(["simulator: the recording is incomplete: it has reached the maximum length"]);
    await network.close();
  });

  test("does not disturb the call if it cannot be written", async () => {
    const network = await SimulatedNetwork.create({ spoolDir, logger });
    const call = await network.call("+12025550104");
    await network.system.advance(500);
    await rm(spoolDir, { recursive: true, force: true });
    await network.system.advance(4_000);
    await call.leg.hangUp();
    expect(call.log.at(-1)).toEqual(["ended callee_hung_up", 3_000]);
    expect(warnings).toEqual(["simulator: the recording is incomplete: the disk failed"]);
    expect(await network.simulator.pages.artefact(call.callId, "heard.wav")).toBe(undefined);
    await network.close();
  });

  test("a call whose id is not a file name is not recorded", async () => {
    const network = await SimulatedNetwork.create({ spoolDir, logger });
    for (const callId of ["../call_1", "", "CALL", "call/1", "call_1\0", ".hidden", "a".repeat(101)]) {
      const leg = await network.line.dial("+1", { callId, ringTimeoutMs: 1_000 }, new AbortController().signal);
      await network.system.advance(2_000);
      await leg.hangUp();
    }
    expect(await readdir(spoolDir)).toEqual([]);
    expect(warnings.length).toBe(7);
    await network.close();
  });
});

describe("the spool", () => {
  test("deletes its oldest recordings when full, including those of earlier runs", async () => {
    await leaveFile("call_old", 40_000, 60_000);
    await leaveFile("call_older", 40_000, 120_000);
    await writeFile(join(spoolDir, "notes.txt"), "foreign");
    const network = await SimulatedNetwork.create({ spoolDir, maxSpoolBytes: 120_000, logger });
    for (const names of [
      ["call_1.heard.wav", "call_old.heard.wav", "notes.txt"],
      ["call_1.heard.wav", "call_2.heard.wav", "notes.txt"],
      ["call_2.heard.wav", "call_3.heard.wav", "notes.txt"],
    ]) {
      const call = await network.call("+12025550100", noise(1));
      await network.system.advance(2_500); // 76 frames of 640 bytes
      await call.leg.hangUp();
      await expect.poll(async () => (await readdir(spoolDir)).sort()).toEqual(names);
    }
    expect(warnings).toEqual([]);
    await network.close();
  });

  test("stays within its limit while all calls are live", async () => {
    const network = await SimulatedNetwork.create({ spoolDir, maxSpoolBytes: 50_000, logger });
    const calls = [await network.call("+12025550100"), await network.call("+12025550100")];
    await network.system.advance(4_000);
    await Promise.all(calls.map((call) => call.leg.hangUp()));
    expect(calls.map((call) => call.requestedFrames)).toEqual([151, 151]);
    let bytes = 0;
    for (const name of await readdir(spoolDir)) bytes += (await readFile(join(spoolDir, name))).length;
    expect(bytes).toBeLessThanOrEqual(50_000);
    expect(warnings).toContain("simulator: the recording is incomplete: the spool is full");
    await network.close();
  });

  test("shrinks to a smaller limit when it is opened", async () => {
    for (let i = 0; i < 5; i++) await leaveFile(`call_${i}`, 1_000, 1_000 * i);
    const telephony = await openSpool({ maxSpoolBytes: 2_500 });
    await expect.poll(async () => (await readdir(spoolDir)).sort()).toEqual(["call_0.heard.wav", "call_1.heard.wav"]);
    await telephony.close();
  });

  test("deletes recordings on forget(), and ignores malformed ids", async () => {
    await leaveFile("call_1", 100);
    await leaveFile("call_2", 100);
    const telephony = await openSpool();
    await telephony.forget(["call_1", "call_1", "call_9", "../call_2", ""]);
    expect(await readdir(spoolDir)).toEqual(["call_2.heard.wav"]);
    expect(await telephony.pages.artefact("call_1", "heard.wav")).toBe(undefined);
    await telephony.close();
  });

  test("uses a temporary folder if none is set, and deletes it", async () => {
    const network = await SimulatedNetwork.create({ spoolDir: undefined });
    const call = await network.call("+12025550100", noise(16_000));
    await network.system.advance(2_000);
    await call.leg.hangUp();
    expect((await heardBy(network.simulator, call.callId)).length).toBe(51 * 320);
    await network.close();
    expect(await network.simulator.pages.artefact(call.callId, "heard.wav")).toBe(undefined);
  });

  test("leaves calls unrecorded if it is unusable", async () => {
    const file = join(spoolDir, "file");
    await writeFile(file, "");
    const network = await SimulatedNetwork.create({ spoolDir: join(file, "below"), logger });
    const call = await network.call("+12025550104");
    await network.system.advance(4_000);
    expect(call.log.at(-1)?.[0]).toBe("ended callee_hung_up");
    await network.close();
  });
});
