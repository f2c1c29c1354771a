import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createEngine, type MediaPlace } from "../../../../adapters/sip-stack/media/create-engine.ts";
import type { MediaEngine } from "../../../../adapters/sip-stack/media/engine.ts";
import { writeRtpHeader } from "../../../../adapters/sip-stack/media/rtp-packet.ts";
import { Playout } from "../../../../src/audio/playout/playout.ts";
import { MULAW_LEVELS } from "../../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem } from "../../../../src/ports/system.ts";
import { decodePackets, type EchoedCall, isLost, killThread, loudPart, RATE, startCall } from "./echoed-call.ts";
import type { Arrival } from "./far-end.ts";

const HZ = 437;
const engines: MediaEngine[] = [];

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function engineIn(place: MediaPlace): Promise<MediaEngine> {
  const engine = await createEngine({ system: realSystem, logger: silentLogger, place });
  engines.push(engine);
  return engine;
}

function maxGapMs(arrivals: readonly Arrival[]): number {
  return Math.max(...arrivals.slice(1).map(({ at }, i) => at - arrivals[i]!.at));
}

/** Blocks this thread for `ms`. */
function stall(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** Records the pauses in which this thread moved no samples. */
class ObservedPlayout extends Playout {
  maxPauseMs = 0;
  #lastMovedAt = Number.POSITIVE_INFINITY; // no pause precedes the first move

  override read(frame: Int16Array): number {
    this.#recordPause();
    return super.read(frame);
  }

  override sent(samples: number, silence: number, hasRunDry: boolean): void {
    this.#recordPause();
    super.sent(samples, silence, hasRunDry);
  }

  #recordPause(): void {
    const now = performance.now();
    this.maxPauseMs = Math.max(this.maxPauseMs, now - this.#lastMovedAt);
    this.#lastMovedAt = now;
  }
}

/** Audio buffered by a worker, less a frame, ms: a longer pause of this thread is audible. */
const MAX_PAUSE_MS = 180;

/** Makes a call without audible pauses, in up to five attempts: this thread never pauses longer than the buffered audio, and the worker's audio never runs dry. */
async function undisturbedCall(
  place: MediaPlace,
  play: (playout: ObservedPlayout) => Promise<void>,
): Promise<EchoedCall & { readonly playout: ObservedPlayout }> {
  let maxPauseMs = 0;
  for (let attempt = 0; attempt < 5; attempt++) {
    const playout = new ObservedPlayout(RATE);
    const finishedCall = await startCall(await engineIn(place), playout);
    await play(playout);
    if (playout.maxPauseMs < MAX_PAUSE_MS && playout.underruns === 0) return { ...finishedCall, playout };
    ({ maxPauseMs } = playout);
    await finishedCall.session.close();
  }
  throw new Error(
    `the audio ran dry, or this machine paused, in each of five attempts; the last pause was ${maxPauseMs} ms`,
  );
}

/** Plays a tone while this thread is blocked most of the time; returns the packets at the remote end and the longest pause. */
async function playWhileStalling(place: MediaPlace, toneMs: number): Promise<{ arrivals: Arrival[]; pauseMs: number }> {
  const playout = new ObservedPlayout(RATE);
  const { session, farEnd } = await startCall(await engineIn(place), playout);
  await sleep(300);
  const countBefore = (await farEnd.arrivals()).length;
  playout.enqueue(tone(HZ, toneMs, RATE, 8_000));
  playout.end();
  let hasEnded = false;
  void playout.whenDrained.then(() => {
    hasEnded = true;
  });
  await sleep(60);
  playout.maxPauseMs = 0;
  while (!hasEnded) {
    stall(150);
    await sleep(45);
  }
  await session.close();
  return { arrivals: (await farEnd.arrivals()).slice(countBefore), pauseMs: playout.maxPauseMs };
}

describe("while the application's thread repeatedly blocks for 150 ms", () => {
  test("the remote end hears no gap if the audio is in a worker", async () => {
    let { arrivals, pauseMs } = await playWhileStalling("worker", 1500);
    // A busy machine makes the pause longer than the buffered audio, or delays frames itself; such runs do not count.
    const isDisturbed = () => pauseMs > 180 || maxGapMs(arrivals) >= pauseMs;
    for (let attempt = 0; attempt < 4 && isDisturbed(); attempt++)
      ({ arrivals, pauseMs } = await playWhileStalling("worker", 1500));
    expect(pauseMs).toBeGreaterThan(145);
    const heard = loudPart(decodePackets(arrivals));
    expect(Math.abs(heard.length - 1.5 * RATE)).toBeLessThan(10);
    expect(toneShare(heard, HZ, RATE)).toBeGreaterThan(0.98);
    expect(maxGapMs(arrivals)).toBeLessThan(pauseMs);
    for (const [i, { sequence }] of arrivals.slice(1).entries())
      expect(sequence).toBe((arrivals[i]!.sequence + 1) & 0xffff);
  });

  test("the remote end hears gaps if the audio is in that thread", async () => {
    const { arrivals, pauseMs } = await playWhileStalling("thread", 1500);
    expect(pauseMs).toBeGreaterThan(145);
    expect(maxGapMs(arrivals)).toBeGreaterThan(120);
  });
});

describe.each(["thread", "worker"] as const)("an engine in a %s", (place) => {
  test("sends the source's audio, receives the echo, and reports its start", async () => {
    const { playout, session, events, heard, farEnd } = await undisturbedCall(place, async (playout) => {
      playout.enqueue(tone(HZ, 600, RATE, 8_000));
      playout.silence(300);
      playout.end();
      await playout.whenDrained;
    });
    expect(playout.heardMs).toBe(600);
    await session.close();
    expect(events).toEqual(["sending", "receiving"]);
    expect(toneShare(loudPart(decodePackets(await farEnd.arrivals())), HZ, RATE)).toBeGreaterThan(0.98);
    expect(loudPart(decodePackets(await farEnd.arrivals())).length).toBeGreaterThan(0.59 * RATE);
    // The jitter buffer may have made it slightly longer or shorter.
    const echo = loudPart(Int16Array.from(heard));
    const pieces = Array.from({ length: Math.floor(echo.length / 800) }, (_, n) =>
      echo.subarray(n * 800, n * 800 + 800),
    );
    expect(Math.max(...pieces.map((piece) => toneShare(piece, HZ, RATE)))).toBeGreaterThan(0.95);
    const { codec, packetsSent, packetsReceived, packetsLost } = session.statistics();
    expect(codec).toBe("PCMU");
    expect(packetsSent).toBeGreaterThan(44);
    expect(packetsReceived).toBeGreaterThan(40);
    expect(packetsLost).toBeLessThan(10); // on a busy machine some arrive too late
  });

  test("counts packets from unknown senders", async () => {
    const { session, events } = await startCall(await engineIn(place), new Playout(RATE));
    for (let attempt = 0; !events.includes("receiving") && attempt < 500; attempt++) await sleep(10);
    const stranger = createSocket("udp4");
    const packet = new Uint8Array(172);
    for (let i = 0; i < 7; i++) {
      writeRtpHeader(packet, 0, false, i, i * 160, 5);
      await new Promise((resolve) => stranger.send(packet, session.port, "127.0.0.1", resolve));
    }
    for (let attempt = 0; session.statistics().packetsInjected !== 7 && attempt < 500; attempt++) await sleep(10);
    stranger.close();
    expect(session.statistics().packetsInjected).toBe(7);
  });

  test("cleared audio is not heard, and heardMs is exact", async () => {
    let marks: string[] = [];
    let heardMs = 0;
    const { playout, session, farEnd } = await undisturbedCall(place, async (playout) => {
      marks = [];
      playout.enqueue(tone(HZ, 200, RATE, 8_000));
      playout.mark("early", (name) => marks.push(name));
      playout.enqueue(tone(HZ, 3_000, RATE, 8_000));
      playout.mark("late", (name) => marks.push(name));
      await sleep(700);
      heardMs = playout.clear();
      await sleep(400);
    });
    expect(playout.heardMs).toBe(heardMs);
    expect(marks).toEqual(["early"]);
    await session.close();
    const heard = loudPart(decodePackets(await farEnd.arrivals()));
    expect(Math.abs(heard.length / 8 - heardMs)).toBeLessThan(2);
    expect(heardMs).toBeGreaterThan(300);
    expect(heardMs).toBeLessThan(2_500);
  });

  test("audio enqueued into silence is heard soon", async () => {
    const playout = new ObservedPlayout(RATE);
    const { session, farEnd } = await startCall(await engineIn(place), playout);
    await sleep(400);
    const countBefore = (await farEnd.arrivals()).length;
    playout.maxPauseMs = 0;
    playout.enqueue(tone(HZ, 200, RATE, 8_000));
    await sleep(500);
    await session.close();
    const arrivals = (await farEnd.arrivals()).slice(countBefore);
    const firstLoud = arrivals.findIndex(({ payload }) => payload.some((byte) => Math.abs(MULAW_LEVELS[byte]!) > 1000));
    expect(firstLoud).toBeGreaterThanOrEqual(0);
    expect(firstLoud * 20).toBeLessThan(60 + 2 * playout.maxPauseMs);
  });

  test("keys are sent while the source waits", async () => {
    const playout = new Playout(RATE);
    const { session, events } = await startCall(await engineIn(place), playout);
    await sleep(100);
    await session.sendDigits("5");
    await sleep(200);
    await session.close();
    expect(events).toContain("digit 5"); // the echoed key
  });

  test("a source that cannot be pulled ahead is read once per frame interval", async () => {
    let frames = 0;
    const { session } = await startCall(await engineIn(place), {
      read(frame) {
        frames++;
        frame.fill(0);
        return 0;
      },
    });
    const startedAt = performance.now();
    await sleep(1000);
    await session.close();
    const [readFrames, expectedFrames] = [frames, (performance.now() - startedAt) / 20];
    expect(readFrames).toBeGreaterThan(expectedFrames / 2);
    expect(readFrames).toBeLessThan(expectedFrames + 10);
    await sleep(100);
    expect(frames).toBe(readFrames);
  });

  test("an error names the exhausted range of ports", async () => {
    const engine = await engineIn(place);
    const options = { address: "127.0.0.1", ports: [43_000, 43_001], sampleRate: RATE, lossMs: 1_000 } as const;
    const listener = { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} };
    const session = await engine.open(options, listener);
    await expect(engine.open(options, listener)).rejects.toThrow(/43000 to 43001/);
    await expect(engine.open(options, listener)).rejects.toMatchObject({ name: "PortsExhausted" });
    await session.close();
    await (await engine.open(options, listener)).close();
  });
});

describe("a worker that dies", () => {
  const workerDeath = async (...calls: readonly EchoedCall[]): Promise<void> => {
    for (let attempt = 0; !calls.every(isLost); attempt++) {
      if (attempt > 1_000) throw new Error("the calls were not notified of their worker's death");
      await sleep(10);
    }
  };

  test("on every call is replaced by this thread", async () => {
    const source = `import { parentPort } from "node:worker_threads";
      parentPort.on("message", () => process.exit(1));
      parentPort.postMessage({ type: "ready", monotonic: performance.now() });`;
    const entry = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const engine = await createEngine({ system: realSystem, logger: silentLogger, place: "worker", entry });
    engines.push(engine);
    const { events } = await startCall(engine, new Playout(RATE));
    for (let attempt = 0; !events.includes("receiving") && attempt < 500; attempt++) await sleep(10);
    expect(events).toEqual(["sending", "receiving"]);
  });

  test("ends its calls, and a new one carries the next calls", async () => {
    const engine = await engineIn("worker");
    const firstCalls = [
      await startCall(engine, new Playout(RATE)),
      await startCall(engine, new Playout(RATE)),
    ] as const;
    killThread(firstCalls[0]);
    await workerDeath(...firstCalls);
    for (const { session } of firstCalls) await session.close();
    const playout = new Playout(RATE);
    const { session, farEnd, events } = await startCall(engine, playout);
    playout.enqueue(tone(HZ, 300, RATE, 8_000));
    playout.end();
    await playout.whenDrained;
    const { length } = await farEnd.arrivals();
    stall(500);
    const arrivalsDuringStall = (await farEnd.arrivals()).slice(length);
    await session.close();
    expect(arrivalsDuringStall.length).toBeGreaterThan(15); // this thread has sent none of them
    expect(toneShare(loudPart(decodePackets(await farEnd.arrivals())), HZ, RATE)).toBeGreaterThan(0.98);
    expect(events).toEqual(["sending", "receiving"]);
  });

  test("while a call is being opened is replaced for that call", async () => {
    const engine = await engineIn("worker");
    const firstCall = await startCall(engine, new Playout(RATE));
    const listener = { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} };
    const options = { address: "127.0.0.1", ports: [43_002, 43_999], sampleRate: RATE, lossMs: 20_000 } as const;
    killThread(firstCall);
    const sessions = await Promise.all([0, 1, 2].map(() => engine.open(options, listener)));
    await workerDeath(firstCall);
    expect(new Set(sessions.map(({ port }) => port)).size).toBe(3);
  });
});

describe("without a worker", () => {
  test("calls run in this thread, and a warning is logged once", async () => {
    const lines: string[] = [];
    const logger = { ...silentLogger, warn: (_: unknown, line: string) => void lines.push(line) };
    const entry = new URL("./there-is-no-such-file.ts", import.meta.url);
    const engine = await createEngine({ system: realSystem, logger, place: "worker", entry });
    engines.push(engine);
    const playout = new Playout(RATE);
    playout.enqueue(tone(HZ, 100, RATE, 8_000));
    playout.end();
    const { session } = await startCall(engine, playout);
    await playout.whenDrained;
    await session.close();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/thread/);
  });
});
