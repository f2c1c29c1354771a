import { describe, expect, test } from "vitest";
import { InboundAudio } from "../../../../../adapters/telephony/whatsapp/calls/inbound-audio.ts";
import { WHATSAPP_FRAME } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-frame.ts";
import { concatPcm } from "../../../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../../../src/audio/tones/tone.ts";
import { CountingSource } from "../../../../../src/testing/telephony-network.ts";
import { audiblePart, CallScene, endOf, RATE, receivedAudio, typesOf } from "./scene.ts";

const HZ = 437; // no whole number of periods fits into a frame, so a lost or doubled frame breaks the tone

function keysIn(samples: Int16Array): string {
  let keys = "";
  new DtmfDetector(RATE, (digit) => {
    keys += digit;
  }).push(samples);
  return keys;
}

/** Maximum audio buffered by the client after each feed, ms. */
function trackMaxBuffered(scene: CallScene): () => number {
  const { voip } = scene.client;
  const feed = voip.feedLiveAudio.bind(voip);
  let maxMs = 0;
  voip.feedLiveAudio = (callId, samples) => {
    const level = feed(callId, samples);
    maxMs = Math.max(maxMs, level);
    return level;
  };
  return () => maxMs;
}

describe("the audio to the callee", () => {
  test("is 30 s of a tone, with no frame lost or doubled", async () => {
    const scene = await CallScene.start();
    const maxBufferedMs = trackMaxBuffered(scene);
    const message = tone(HZ, 30_000, RATE, 9_000);
    const call = await scene.connectedCall(message);
    await scene.system.advance(31_000);
    const { frames } = call.callee;
    for (const [i, { atMs }] of frames.entries()) if (i > 0) expect(atMs - frames[i - 1]!.atMs).toBe(60);
    const heard = audiblePart(call.callee.heard);
    expect(heard).toEqual(audiblePart(message));
    expect(toneShare(heard, HZ, RATE)).toBeGreaterThan(0.999);
    expect(scene.client.voip.lostSamples(call.leg.callId)).toBe(0);
    expect(maxBufferedMs()).toBe(120);
    expect(call.playout.heardMs).toBe(30_000);
  });

  test("is the complete message even if the client's clock is slow", async () => {
    const scene = await CallScene.start();
    const { system } = scene;
    const message = tone(HZ, 20_000, RATE, 9_000);
    const call = await scene.connectedCall(message);
    const after = system.after.bind(system);
    // The client sends a frame every 63 ms, as with a timer that drifts.
    system.after = (ms, run) => after(ms <= 60 ? 63 : ms, run);
    await system.advance(25_000);
    const gaps = new Set(
      call.callee.frames.slice(10, 300).map(({ atMs }, i, frames) => atMs - (frames[i - 1]?.atMs ?? atMs - 63)),
    );
    expect([...gaps]).toEqual([63]);
    expect(audiblePart(call.callee.heard)).toEqual(audiblePart(message));
    expect(call.playout.heardMs).toBe(20_000);
  });

  test("can be a source that cannot be pulled ahead", async () => {
    const scene = await CallScene.start();
    const call = await scene.call();
    const source = new CountingSource();
    call.leg.connectMedia(source, { write() {} });
    await scene.system.advance(2_000);
    const before = source.frames;
    await scene.system.advance(6_000);
    expect([source.frames - before, ...source.lengths]).toEqual([100, WHATSAPP_FRAME]);
    expect(source.readsBeforeAnswer).toBe(0);
  });

  test.each([20, 50])("is an utterance without gaps if it arrives in pieces of %i ms", async (ms) => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    await scene.system.advance(1_000);
    const words = tone(HZ, 2_100, RATE, 9_000);
    const length = (RATE * ms) / 1_000;
    for (let offset = 0; offset < words.length; offset += length) {
      call.playout.enqueue(words.slice(offset, offset + length));
      await scene.system.advance(ms);
    }
    await scene.system.advance(1_000);
    expect(call.playout.heardMs).toBe(2_100);
    expect(audiblePart(call.callee.heard)).toEqual(audiblePart(words));
  });

  test("can be keys as tones, then the message", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    let isSent = false;
    void call.leg.sendDtmf("42#a").then(() => {
      isSent = true;
    });
    call.playout.enqueue(tone(HZ, 600, RATE, 9_000));
    await scene.system.advance(3_000);
    expect([isSent, keysIn(call.callee.heard)]).toEqual([true, "42#A"]);
    expect(call.playout.heardMs).toBe(600);
    await expect(call.leg.sendDtmf("x")).rejects.toThrow(RangeError);
  });

  test("ends at the deadline for sending, and continues when that is extended", async () => {
    const scene = await CallScene.start();
    const message = tone(HZ, 20_000, RATE, 9_000);
    const call = await scene.connectedCall(message);
    await scene.system.advance(2_000);
    scene.deadlines.send = -Infinity;
    await scene.system.advance(60);
    const [frames, heardMs] = [call.callee.frames.length, call.playout.heardMs];
    await scene.system.advance(3_000);
    expect([call.callee.frames.length, call.playout.heardMs]).toEqual([frames, heardMs]);
    scene.deadlines.send = Infinity;
    await scene.system.advance(1_000);
    expect(call.callee.frames.length).toBeGreaterThan(frames + 10);
    scene.deadlines.send = -Infinity;
    void call.leg.hangUp();
    await scene.system.advance(1_000);
    expect([endOf(call)?.cause, call.callee.ended]).toEqual(["released", "caller"]);
  });
});

describe("heard_ms", () => {
  test("counts the audio that the client has sent, without its buffer", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall(tone(HZ, 6_000, RATE, 9_000));
    for (let i = 0; i < 300; i++) {
      await scene.system.advance(13);
      const sentMs = call.callee.frames.filter(({ samples }) => audiblePart(samples).length > 0).length * 60;
      expect(sentMs - call.playout.heardMs).toBeGreaterThanOrEqual(0);
      expect(sentMs - call.playout.heardMs).toBeLessThanOrEqual(60);
    }
    const { heardMs } = call.playout;
    expect(scene.client.voip.getLiveBufferMs(call.leg.callId)).toBeGreaterThan(0);
    call.callee.hangUp();
    await scene.system.advance(100);
    call.playout.clear();
    expect(call.playout.heardMs).toBe(heardMs);
  });

  test("counts audio that cannot be recalled when the message is cleared", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall(tone(HZ, 10_000, RATE, 9_000));
    await scene.system.advance(3_025);
    const heardMs = call.playout.clear();
    await scene.system.advance(1_000);
    expect(audiblePart(call.callee.heard).length).toBeGreaterThan((heardMs - 1) * 16);
    expect(call.callee.frames.filter(({ samples }) => audiblePart(samples).length > 0).length * 60).toBe(heardMs);
    call.playout.enqueue(tone(HZ, 600, RATE, 9_000));
    await scene.system.advance(1_000);
    expect(call.playout.heardMs).toBe(heardMs + 600);
  });

  test("counts silence on its clock, but not as heard audio", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    await scene.system.advance(6_000);
    const before = call.playout.clockMs;
    await scene.system.advance(6_000);
    expect(call.playout.clockMs - before).toBe(6_000);
    call.playout.enqueue(tone(HZ, 3_000, RATE, 9_000));
    await scene.system.advance(6_000);
    expect(Math.abs(call.playout.clockMs - before - 12_000)).toBeLessThanOrEqual(120);
    expect(call.playout.heardMs).toBe(3_000);
  });
});

describe("the callee's voice", () => {
  test("arrives frame by frame, detected by its share of the energy", async () => {
    const words = tone(HZ, 10_000, RATE, 9_000);
    const scene = await CallScene.start({ speaks: words });
    const call = await scene.connectedCall();
    await scene.system.advance(12_000);
    expect(call.inbound.every((frame) => frame.length === WHATSAPP_FRAME)).toBe(true);
    const heard = audiblePart(receivedAudio(call));
    expect(toneShare(heard, HZ, RATE)).toBeGreaterThan(0.999);
    expect(Math.abs(heard.length - audiblePart(words).length)).toBeLessThanOrEqual(2);
  });

  test("can be the echo of our own audio", async () => {
    const scene = await CallScene.start({ echoes: true });
    const call = await scene.connectedCall(tone(HZ, 3_000, RATE, 9_000));
    await scene.system.advance(5_000);
    expect(toneShare(audiblePart(receivedAudio(call)), HZ, RATE)).toBeGreaterThan(0.99);
  });

  test("is silence of equal length for missing frames", async () => {
    const scene = await CallScene.start({ speaks: tone(HZ, 60_000, RATE, 9_000) });
    const call = await scene.connectedCall();
    await scene.system.advance(3_000);
    const before = call.inbound.length;
    call.callee.sendsAudio = false;
    await scene.system.advance(1_200);
    call.callee.sendsAudio = true;
    await scene.system.advance(1_800);
    expect(call.inbound.length - before).toBe(50);
    const silentFrames = call.inbound.slice(before).filter((frame) => frame.every((sample) => sample === 0));
    expect(silentFrames.length).toBe(20);
  });

  test("is not reported before its first audio", async () => {
    const scene = await CallScene.start({ media: "one-way" });
    const call = await scene.connectedCall();
    await scene.system.advance(5_000);
    expect(call.inbound).toEqual([]);
    call.callee.sendsAudio = true;
    await scene.system.advance(600);
    expect(call.inbound.length).toBeGreaterThanOrEqual(8);
  });
});

describe("a call's statistics", () => {
  test("count frames both ways, gaps, jitter and holds", async () => {
    const scene = await CallScene.start({ mediaAfterMs: 2_000 });
    const call = await scene.call();
    await scene.system.advance(1_500);
    expect(call.leg.statistics()).toBeNull();
    await scene.system.advance(8_500);
    const before = call.leg.statistics()!;
    call.callee.sendsAudio = false;
    await scene.system.advance(300);
    call.callee.sendsAudio = true;
    await scene.system.advance(5_700);
    const after = call.leg.statistics()!;
    expect(after).toMatchObject({ codec: "MLow", packetsLost: 5, heldMs: 0, mos: null });
    expect(after.packetsSent - before.packetsSent).toBe(100);
    expect(after.packetsReceived - before.packetsReceived).toBe(95);
    expect([before.jitterMs, after.jitterMs > 0]).toEqual([0, true]);
    call.callee.sendsAudio = false;
    await scene.system.advance(5_000); // a pause, not a loss
    call.callee.sendsAudio = true;
    await scene.system.advance(1_000);
    expect(call.leg.statistics()?.packetsLost).toBe(5);
    void call.leg.hangUp();
    await scene.system.advance(1_000);
    expect(call.leg.statistics()?.packetsSent).toBeGreaterThanOrEqual(after.packetsSent);
  });
});

test("a callee who holds the call gets no audio and misses none", async () => {
  const scene = await CallScene.start();
  const message = tone(HZ, 6_000, RATE, 9_000);
  const call = await scene.connectedCall(message);
  await scene.system.advance(2_000);
  const reportState = (state: string) => {
    const info = scene.client.voip.getCall(call.leg.callId)!;
    const stateData = { ...info.stateData, state };
    scene.port.report((listener) => listener.voip({ type: "state", call: { ...info, stateData } }));
  };
  reportState("on_hold");
  await scene.system.advance(300);
  const { heardMs } = call.playout;
  await scene.system.advance(3_000);
  expect(call.playout.heardMs).toBe(heardMs);
  reportState("active");
  await scene.system.advance(6_000);
  expect(call.playout.heardMs).toBe(6_000);
  expect(call.leg.statistics()?.heldMs).toBe(3_300);
  expect(call.events.flatMap((event) => (event.type === "noted" ? [event.fact.event] : [])).slice(-2)).toEqual([
    "held",
    "resumed",
  ]);
});

describe("a source or sink that throws", () => {
  test.each(["source", "sink"])("ends its call with internal_error: the %s", async (part) => {
    const scene = await CallScene.start();
    const call = await scene.call();
    const fault = (): never => {
      throw new Error("the program is broken");
    };
    call.leg.connectMedia(
      part === "source" ? { read: fault } : { read: () => 0 },
      part === "sink" ? { write: fault } : { write() {} },
    );
    await scene.system.advance(5_000);
    expect(endOf(call)).toEqual({ cause: "internal_error", detail: "the program is broken" });
    expect(typesOf(call).at(-1)).toBe("ended");
    expect(call.callee.ended).toBe("caller");
  });
});

describe("inbound audio", () => {
  const listener = { recordFrame() {} };
  const ticks = (audio: InboundAudio, count: number, isStalled = false): Int16Array => {
    const frames: Int16Array[] = [];
    for (let i = 0; i < count; i++) audio.tick({ write: (frame) => void frames.push(frame.slice()) }, isStalled);
    return concatPcm(frames);
  };
  const floats = (samples: Int16Array) => Float32Array.from(samples, (sample) => sample / 32_768);
  const words = tone(HZ, 6_000, RATE, 9_000);
  /** One frame of the words. */
  const word = (i: number) => floats(words.subarray(i * WHATSAPP_FRAME, (i + 1) * WHATSAPP_FRAME));

  test("becomes the same samples in frames, whatever its pieces", () => {
    const audio = new InboundAudio(listener);
    const heard: Int16Array[] = [];
    let offset = 0;
    for (const length of [1, 700, 0, 259, 960, 1_920, 3, 957, 2_000, 880]) {
      audio.add(floats(words.subarray(offset, offset + length)));
      offset += length;
      while (offset - concatPcm(heard).length >= WHATSAPP_FRAME) heard.push(ticks(audio, 1));
    }
    const samples = concatPcm(heard);
    expect(samples).toEqual(words.subarray(0, samples.length));
    expect(samples.length).toBe(Math.floor(offset / WHATSAPP_FRAME) * WHATSAPP_FRAME);
  });

  test("has no gap if pieces arrive up to a frame late or early", () => {
    const audio = new InboundAudio(listener);
    const heard: Int16Array[] = [];
    let arrivedPieces = 0;
    for (let tick = 0; tick < 60; tick++) {
      const duePieces = tick % 7 === 3 ? tick : tick + 1; // every seventh piece comes with the next one
      for (; arrivedPieces < duePieces; arrivedPieces++) audio.add(word(arrivedPieces));
      heard.push(ticks(audio, 1));
    }
    const samples = concatPcm(heard);
    expect(samples).toEqual(words.subarray(0, samples.length));
    expect(samples.length).toBe(59 * WHATSAPP_FRAME);
  });

  test("includes late audio after a stall, without a gap", () => {
    const audio = new InboundAudio(listener);
    for (let i = 0; i < 2; i++) audio.add(word(i));
    const heard = [ticks(audio, 1)];
    heard.push(ticks(audio, 4, true)); // the clock catches up by 240 ms: one frame is available
    expect(concatPcm(heard).length).toBe(2 * WHATSAPP_FRAME);
    for (let i = 2; i < 6; i++) audio.add(word(i));
    heard.push(ticks(audio, 1));
    expect(concatPcm(heard)).toEqual(words.subarray(0, 6 * WHATSAPP_FRAME));
  });

  test("is silence after a stall without arrivals, of the same duration", () => {
    const audio = new InboundAudio(listener);
    for (let i = 0; i < 2; i++) audio.add(word(i));
    const heard = [ticks(audio, 2), ticks(audio, 3, true), ticks(audio, 1)];
    expect(heard.map(({ length }) => length / WHATSAPP_FRAME)).toEqual([2, 0, 4]);
    expect(heard[2]!.every((sample) => sample === 0)).toBe(true);
    expect(ticks(audio, 30, true).length / WHATSAPP_FRAME).toBeGreaterThanOrEqual(25);
  });

  test("keeps the newest audio if it arrives too fast", () => {
    const audio = new InboundAudio(listener);
    audio.add(floats(words));
    expect(ticks(audio, 5)).toEqual(words.subarray(words.length - 5 * WHATSAPP_FRAME));
    for (let i = 0; i < 8; i++) audio.add(word(i));
    expect(ticks(audio, 5)).toEqual(words.subarray(3 * WHATSAPP_FRAME, 8 * WHATSAPP_FRAME));
  });

  test("drops a delay during a pause once the delay is no longer needed", () => {
    const audio = new InboundAudio(listener);
    audio.add(new Float32Array(3 * WHATSAPP_FRAME));
    for (let i = 0; i < 400; i++) {
      audio.add(new Float32Array(WHATSAPP_FRAME));
      ticks(audio, 1);
    }
    audio.add(word(0));
    expect(ticks(audio, 5).findIndex((sample) => sample !== 0)).toBeLessThan(2 * WHATSAPP_FRAME);
  });

  test("is clipped, and NaN is silence", () => {
    const audio = new InboundAudio(listener);
    audio.add(new Float32Array(WHATSAPP_FRAME).fill(Number.NaN));
    audio.add(new Float32Array(WHATSAPP_FRAME).fill(7));
    const heard = ticks(audio, 2);
    expect([heard[0], heard[WHATSAPP_FRAME]]).toEqual([0, 32_767]);
  });
});
