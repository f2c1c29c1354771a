import { afterEach, describe, expect, test } from "vitest";
import { NUMBER_PLAN } from "../../../../adapters/telephony/simulator/index.ts";
import { concatPcm, rms } from "../../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { Vad } from "../../../../src/audio/voice/vad.ts";
import { type PlacedCall, SimulatedNetwork } from "./network.ts";

let network: SimulatedNetwork;
afterEach(() => network?.close());

/** Events up to `ms` after dialling, each with its time. */
async function timeline(number: string, ms: number): Promise<[string, number][]> {
  network = await SimulatedNetwork.create();
  const call = await network.call(number);
  await network.system.advance(ms);
  return call.log;
}

const ANSWERED = [
  ["placed", 0],
  ["alerting", 200],
  ["answered", 1_000],
  ["connected", 1_000],
];

describe("the number plan", () => {
  test("contains the documented numbers", () => {
    const numbersFrom = (first: number, count: number) =>
      Array.from({ length: count }, (_, row) => `+12025550${first + row}`);
    expect([...NUMBER_PLAN.keys()]).toEqual([...numbersFrom(100, 16), ...numbersFrom(120, 4)]);
  });

  test("0100, and any unlisted number, answers after 1 s and stays on the line", async () => {
    expect(await timeline("+12025550100", 60_000)).toEqual(ANSWERED);
    await network.close();
    expect(await timeline("+4915112345678", 60_000)).toEqual(ANSWERED);
    for (const name of ["toString", "__proto__", "constructor"]) {
      await network.close();
      expect(await timeline(name, 60_000)).toEqual(ANSWERED);
    }
  });

  test("0101 is busy", async () => {
    expect(await timeline("+12025550101", 60_000)).toEqual([
      ["placed", 0],
      ["ended busy", 200],
    ]);
  });

  test("0102 rings and never answers", async () => {
    expect(await timeline("+12025550102", 120_000)).toEqual([
      ["placed", 0],
      ["alerting", 200],
    ]);
  });

  test("0103 declines after 1 s", async () => {
    expect(await timeline("+12025550103", 60_000)).toEqual([
      ["placed", 0],
      ["alerting", 200],
      ["ended declined", 1_000],
    ]);
  });

  test("0104 hangs up 2 s after answering", async () => {
    expect(await timeline("+12025550104", 60_000)).toEqual([...ANSWERED, ["ended callee_hung_up", 3_000]]);
  });

  test("0105 speaks for 4 s, beeps, then listens", async () => {
    const call = await playedCall("+12025550105", 7_000);
    expect(speechMs(call.between(0, 4_000))).toBeGreaterThan(2_000);
    expect(toneShare(call.between(4_000, 4_400), 1_000, 16_000)).toBeGreaterThan(0.99);
    expect(rms(call.between(4_400, 5_000))).toBe(0);
  });

  test("0106 speaks with the configured voice, or babbles", async () => {
    const babblingCall = await playedCall("+12025550106", 6_000);
    expect(rms(babblingCall.between(0, 300))).toBe(0);
    expect(speechMs(babblingCall.between(0, 4_000))).toBeGreaterThan(1_000);
    await network.close();

    const sentence = Int16Array.from({ length: 8_000 }, (_, i) => 1 + (i % 100));
    const requestedTexts: [string, number][] = [];
    network = await SimulatedNetwork.create({
      say: async (text, sampleRate) => {
        requestedTexts.push([text, sampleRate]);
        return sentence;
      },
    });
    for (const call of [await network.call("+12025550106"), await network.call("+12025550106")]) {
      await network.system.advance(3_000);
      expect(call.between(300, 800)).toEqual(sentence);
      expect(rms(call.between(800, 1_500))).toBe(0);
    }
    expect(requestedTexts).toEqual([["Hello, this is the simulated phone speaking.", 16_000]]); // once for all calls
  });

  test("0106 babbles when its voice fails", async () => {
    network = await SimulatedNetwork.create({ say: () => Promise.reject(new Error("no voice")) });
    const call = await network.call("+12025550106");
    await network.system.advance(6_000);
    expect(speechMs(call.between(0, 4_000))).toBeGreaterThan(1_000);
  });

  test("0107 presses 1 2 3 4 # half a second after answering", async () => {
    const call = await playedCall("+12025550107", 4_000);
    expect(rms(call.between(0, 500))).toBe(0);
    expect(call.between(500, 1_500)).toEqual(dtmfTones("1234#", { sampleRate: 16_000 }));
    expect(rms(call.between(1_500, 2_500))).toBe(0);
  });

  test("0108 does not exist", async () => {
    expect(await timeline("+12025550108", 60_000)).toEqual([
      ["placed", 0],
      ["ended number_invalid", 200],
    ]);
  });

  test("0109 answers and receives audio, but sends no frames", async () => {
    const call = await playedCall("+12025550109", 11_000);
    expect(call.log).toEqual(ANSWERED);
    expect(call.requestedFrames).toBe(501);
    expect(call.frames.length).toBe(0);
  });

  test("0110 answers after 10 s", async () => {
    expect(await timeline("+12025550110", 60_000)).toEqual([
      ["placed", 0],
      ["alerting", 200],
      ["answered", 10_000],
      ["connected", 10_000],
    ]);
  });

  test("0111 drops the line 2 s after answering, without a signal, for 3 s", async () => {
    network = await SimulatedNetwork.create();
    const call = await network.call("+12025550111");
    const ringingCall = await network.call("+12025550102");
    await network.system.advance(2_990);
    expect(await network.line.probe()).toEqual({ state: "online" });
    await network.system.advance(10);
    const [requestedFrames, receivedFrames] = [call.requestedFrames, call.frames.length];
    expect(await network.line.probe()).toEqual({ state: "offline", reason: "the network does not respond" });
    expect(network.host.reports.types.at(-1)).toBe("offline");
    await expect(network.call("+12025550100")).rejects.toMatchObject({ name: "DialError", release: "line_lost" });
    await network.system.advance(2_990);
    expect(network.host.reports.types.at(-1)).toBe("offline");
    await network.system.advance(10);
    expect(network.host.reports.types.at(-1)).toBe("online");
    expect((await network.line.probe()).state).toBe("online");
    await network.system.advance(60_000);
    expect([call.requestedFrames, call.frames.length]).toEqual([requestedFrames, receivedFrames]);
    expect(call.log).toEqual(ANSWERED);
    await Promise.all([call.leg.hangUp(), ringingCall.leg.hangUp()]);
    await network.system.advance(0);
    expect(call.log.at(-1)?.[0]).toBe("ended released");
    expect(ringingCall.log.at(-1)?.[0]).toBe("ended released");
  });

  test("0120 replies to each question after its end", async () => {
    network = await SimulatedNetwork.create();
    const question = concatPcm([tone(440, 1_500, 16_000, 8_000), new Int16Array(5 * 16_000)]);
    const call = await network.call("+12025550120", concatPcm([question, question]));
    await network.system.advance(15_000);
    expect(speechMs(call.between(0, 2_300))).toBe(0);
    expect(speechMs(call.between(2_300, 4_500))).toBeGreaterThan(500);
    expect(speechMs(call.between(4_500, 8_700))).toBe(0);
    expect(speechMs(call.between(8_700, 11_000))).toBeGreaterThan(500);
    expect(speechMs(call.between(11_000, 14_000))).toBe(0);
  });

  test("0121 interrupts the caller, and replies only to the next sentence", async () => {
    network = await SimulatedNetwork.create();
    const speech = (ms: number): Int16Array => tone(440, ms, 16_000, 8_000);
    const call = await network.call(
      "+12025550121",
      concatPcm([speech(1_700), new Int16Array(5_300 * 16), speech(1_000)]),
    );
    await network.system.advance(14_000);
    expect(speechMs(call.between(0, 1_480))).toBe(0);
    expect(speechMs(call.between(1_500, 3_500))).toBeGreaterThan(500);
    expect(speechMs(call.between(3_500, 8_800))).toBe(0);
    expect(speechMs(call.between(8_900, 11_000))).toBeGreaterThan(500);
  });

  test("0122 says hello, then is silent", async () => {
    const call = await playedCall("+12025550122", 20_000);
    expect(speechMs(call.between(300, 1_500))).toBeGreaterThan(200);
    expect(speechMs(call.between(1_500, 18_000))).toBe(0);
  });

  test("0123 makes short sounds while the caller speaks", async () => {
    network = await SimulatedNetwork.create({ say: async () => tone(700, 300, 16_000, 8_000) });
    const call = await network.call("+12025550123", tone(440, 8_000, 16_000, 8_000));
    await network.system.advance(12_000);
    const sounds = [1_200, 2_200].map((at) => rms(call.between(at + 20, at + 280)));
    expect(Math.min(...sounds)).toBeGreaterThan(3_000);
    for (const [from, to] of [
      [0, 1_180],
      [1_540, 2_180],
      [2_540, 8_800],
    ] as const)
      expect(rms(call.between(from, to))).toBe(0);
    expect(rms(call.between(8_920, 9_180))).toBeGreaterThan(3_000);
  });

  test("timeScale shortens callees' waits, not audio", async () => {
    network = await SimulatedNetwork.create({ timeScale: 0.1 });
    const call = await network.call("+12025550107");
    await network.system.advance(2_000);
    expect(call.log.slice(0, 3)).toEqual([
      ["placed", 0],
      ["alerting", 20],
      ["answered", 100],
    ]);
    expect(call.between(50, 1_050)).toEqual(dtmfTones("1234#", { sampleRate: 16_000 }));
  });

  test("a callee that does not speak sends silence, a frame every 20 ms", async () => {
    const call = await playedCall("+12025550100", 2_000);
    expect(call.frames.length).toBe(51);
    expect(rms(concatPcm(call.frames))).toBe(0);
  });
});

async function playedCall(number: string, ms: number): Promise<PlacedCall> {
  network = await SimulatedNetwork.create();
  const call = await network.call(number);
  await network.system.advance(ms);
  return call;
}

function speechMs(samples: Int16Array): number {
  const vad = new Vad(16_000);
  let ms = 0;
  for (let offset = 0; offset + 320 <= samples.length; offset += 320)
    if (vad.push(samples.subarray(offset, offset + 320))) ms += 20;
  return ms;
}
