import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CreateEngineOptions, createEngine } from "../../../../adapters/sip-stack/media/create-engine.ts";
import {
  type MediaEngine,
  MediaOverloaded,
  type MediaSession,
  PortsExhausted,
} from "../../../../adapters/sip-stack/media/engine.ts";
import { BEAT_MS, HeartbeatWatch, STUCK_MS } from "../../../../adapters/sip-stack/media/worker/heartbeat.ts";
import { Playout } from "../../../../src/audio/playout/playout.ts";
import { mulawCode } from "../../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem } from "../../../../src/ports/system.ts";
import {
  decodePackets,
  type EchoedCall,
  isLost,
  killThread,
  loudPart,
  RATE,
  startCall,
  testFarEnd,
} from "./echoed-call.ts";

const WAIT = { timeout: 10_000, interval: 10 };
const listener = { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} };

async function threadedEngine(options: Partial<CreateEngineOptions> = {}): Promise<MediaEngine> {
  const engine = await createEngine({
    ...{ system: realSystem, logger: silentLogger, place: "worker", threads: 2 },
    ...options,
  });
  onTestFinished(() => engine.close());
  return engine;
}

const callsPerThread = (engine: MediaEngine): number[] => engine.threads().map(({ calls }) => calls);

/** Starts as many calls on each of two threads, which share a remote end. */
async function callsOnTwoThreads(engine: MediaEngine, callsOnEach: number): Promise<[EchoedCall[], EchoedCall[]]> {
  const farEnd = await testFarEnd();
  const calls: [EchoedCall[], EchoedCall[]] = [[await startCall(engine, new Playout(RATE), { farEnd })], []];
  const additionalCall = await startCall(engine, new Playout(RATE), { farEnd });
  await expect.poll(() => engine.threads().length, WAIT).toBe(2);
  await additionalCall.session.close();
  while (calls[0].length + calls[1].length < 2 * callsOnEach) {
    const [countBefore] = callsPerThread(engine);
    const call = await startCall(engine, new Playout(RATE), { farEnd });
    calls[callsPerThread(engine)[0] === countBefore ? 1 : 0].push(call);
  }
  return calls;
}

/** Plays a tone on a call, and checks the echo. */
async function expectHeard(engine: MediaEngine): Promise<void> {
  const playout = new Playout(RATE);
  const { session, farEnd, events } = await startCall(engine, playout);
  playout.enqueue(tone(437, 300, RATE, 8_000));
  playout.end();
  await playout.whenDrained;
  await session.close();
  expect(toneShare(loudPart(decodePackets(await farEnd.arrivals())), 437, RATE)).toBeGreaterThan(0.98);
  expect(events).toEqual(["sending", "receiving"]);
}

describe("calls on two threads", () => {
  test("are heard sample by sample", async () => {
    const engine = await threadedEngine();
    await startCall(engine, new Playout(RATE));
    await startCall(engine, new Playout(RATE));
    await expect.poll(() => engine.threads().length, WAIT).toBe(2);
    const frequencies = [350, 440, 620, 700];
    let exactCalls = 0;
    // A busy machine may stop this thread for longer than the audio that the threads have; such a call does not count.
    for (let attempt = 0; attempt < 5 && exactCalls < 4; attempt++) {
      exactCalls = 0;
      const calls = await Promise.all(
        frequencies.map(async (hz) => {
          const playout = new Playout(RATE);
          const samples = tone(hz, 1_000, RATE, 8_000);
          const call = await startCall(engine, playout);
          playout.enqueue(samples);
          playout.end();
          return { ...call, playout, codes: Buffer.from(Array.from(samples, mulawCode)) };
        }),
      );
      expect(callsPerThread(engine).toSorted()).toEqual([3, 3]);
      for (const { playout, session, farEnd, codes, heard } of calls) {
        await playout.whenDrained;
        await session.close();
        const arrivals = await farEnd.arrivals();
        const isComplete = arrivals.every(({ sequence }, i) => sequence === ((arrivals[0]!.sequence + i) & 0xffff));
        const payloads = Buffer.concat(arrivals.map(({ payload }) => payload));
        if (playout.underruns > 0 || !isComplete) continue;
        expect(payloads.includes(codes)).toBe(true);
        expect(loudPart(Int16Array.from(heard)).length).toBeGreaterThan(0.8 * RATE);
        exactCalls++;
      }
    }
    expect(exactCalls).toBe(4);
  });

  test("go to the thread with the fewest, and the second one starts beside the second call", async () => {
    const engine = await threadedEngine();
    const farEnd = await testFarEnd();
    const open = () => startCall(engine, new Playout(RATE), { farEnd });
    const first = await open();
    expect(callsPerThread(engine)).toEqual([1]);
    const second = await open();
    await expect.poll(() => callsPerThread(engine), WAIT).toEqual([2, 0]);
    await open();
    await open();
    expect(callsPerThread(engine)).toEqual([2, 2]);
    await Promise.all([first.session.close(), second.session.close()]);
    expect(callsPerThread(engine)).toEqual([0, 2]);
    await open();
    expect(callsPerThread(engine)).toEqual([1, 2]);
  });

  test("many at once are spread before the second thread has started", async () => {
    const engine = await threadedEngine();
    const farEnd = await testFarEnd();
    await Promise.all(Array.from({ length: 40 }, () => startCall(engine, new Playout(RATE), { farEnd })));
    const [first = 0, second = 0] = callsPerThread(engine);
    expect(first + second).toBe(40);
    expect(second).toBeGreaterThanOrEqual(10);
  });

  test("never share a pair of ports, and the ports of a dead thread are free again", async () => {
    const engine = await threadedEngine();
    const farEnd = await testFarEnd();
    const ports = [43_000, 43_015] as const;
    const open = () => startCall(engine, new Playout(RATE), { farEnd, ports });
    const calls = await Promise.all(Array.from({ length: 8 }, open));
    expect(new Set(calls.map(({ session }) => session.port)).size).toBe(8);
    await expect(open()).rejects.toBeInstanceOf(PortsExhausted);
    killThread(calls[0]!);
    await expect.poll(() => isLost(calls[0]!), WAIT).toBe(true);
    const usedPorts = calls.filter((call) => !isLost(call)).map(({ session }) => session.port);
    const newPorts: number[] = [];
    while (usedPorts.length + newPorts.length < 8) {
      const call = await open().catch(() => sleep(10));
      if (call) newPorts.push(call.session.port);
    }
    expect(new Set([...usedPorts, ...newPorts]).size).toBe(8);
  });
});

describe("a thread that dies", () => {
  test("costs only its own calls among many, and is replaced", async () => {
    const engine = await threadedEngine();
    const [onFirst, onSecond] = await callsOnTwoThreads(engine, 20);
    expect(callsPerThread(engine)).toEqual([20, 20]);
    killThread(onFirst[0]!);
    await expect.poll(() => onFirst.every(isLost), WAIT).toBe(true);
    await Promise.all(onFirst.map(({ session }) => session.close()));
    const heardBefore = onSecond.map(({ heard }) => heard.length);
    await expect
      .poll(() => onSecond.every(({ heard }, i) => heard.length > heardBefore[i]! + RATE / 2), WAIT)
      .toBe(true);
    expect(onSecond.some(isLost)).toBe(false);
    await expectHeard(engine);
    await expect.poll(() => callsPerThread(engine), WAIT).toEqual([0, 20]);
  });
});

describe("a thread that is stuck", () => {
  const entry = new URL("./stuck-worker.ts", import.meta.url);

  test("ends its calls within two seconds, and is replaced", async () => {
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_: unknown, message: string) => void logged.push(message) };
    const engine = await threadedEngine({ entry, logger });
    const [onFirst, onSecond] = await callsOnTwoThreads(engine, 3);
    let lateMs = 0;
    let expectedAt = performance.now() + 20;
    const timer = setInterval(() => {
      lateMs += Math.max(0, performance.now() - expectedAt - 20);
      expectedAt = performance.now() + 20;
    }, 20);
    onTestFinished(() => clearInterval(timer));
    const stuckAt = performance.now();
    const keys = onFirst[0]!.session.sendDigits("D");
    await expect.poll(() => onFirst.every(isLost), WAIT).toBe(true);
    expect(performance.now() - stuckAt).toBeLessThan(2_000 + lateMs);
    await keys;
    await Promise.all(onFirst.map(({ session }) => session.close()));
    expect(onSecond.some(isLost)).toBe(false);
    expect(logged).toEqual(["a thread for SIP audio has died; its calls have ended"]);
    await expectHeard(engine);
    await expectHeard(engine);
  });

  test("can be closed", async () => {
    const engine = await threadedEngine({ entry, threads: 1 });
    const { session } = await startCall(engine, new Playout(RATE));
    const keys = session.sendDigits("D");
    const pendingCall = engine.open(
      { address: "127.0.0.1", ports: [40_000, 42_000], sampleRate: RATE, lossMs: 1_000 },
      listener,
    );
    const settled = Promise.allSettled([keys, pendingCall]);
    await engine.close();
    const results = await settled;
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });
});

describe("a thread whose audio is late", () => {
  const entry = new URL("./late-worker.ts", import.meta.url);

  test("takes no new calls, and takes them again after its last one", async () => {
    const engine = await threadedEngine({ entry, threads: 1 });
    const open = () => startCall(engine, new Playout(RATE));
    const { session } = await open();
    void session.sendDigits("A");
    await expect.poll(() => engine.threads()[0]?.isOverloaded, WAIT).toBe(true);
    expect(engine.threads()[0]?.latenessMs).toBeGreaterThan(20);
    await expect(open()).rejects.toThrow(/the audio of calls over SIP is \d+ ms late \(live calls: 1\)/);
    await expect(open()).rejects.toBeInstanceOf(MediaOverloaded);
    void session.sendDigits("B");
    await session.close();
    await expect.poll(() => engine.threads()[0]?.isOverloaded, WAIT).toBe(false);
    await expectHeard(engine);
  });

  test("leaves new calls to another one", async () => {
    const engine = await threadedEngine({ entry });
    const { session } = await startCall(engine, new Playout(RATE));
    void session.sendDigits("A");
    await expect.poll(() => engine.threads()[0]?.isOverloaded, WAIT).toBe(true);
    const farEnd = await testFarEnd();
    for (let i = 0; i < 3; i++) await startCall(engine, new Playout(RATE), { farEnd });
    expect(callsPerThread(engine)).toEqual([1, 3]);
  });
});

test("threads without calls end after a while, except one", async () => {
  const engine = await threadedEngine({ idleMs: 50 });
  const sessions: MediaSession[] = [];
  for (let i = 0; i < 2; i++) sessions.push((await startCall(engine, new Playout(RATE))).session);
  await expect.poll(() => engine.threads().length, WAIT).toBe(2);
  await sessions[0]!.close();
  await expect.poll(() => engine.threads().length, WAIT).toBe(1);
  await sessions[1]!.close();
  await sleep(100);
  expect(engine.threads()).toHaveLength(1);
  await expectHeard(engine);
});

describe("the heartbeat", () => {
  const checksUntilStuck = (beats: (check: number) => number, at: (check: number) => number): number => {
    const watch = new HeartbeatWatch(0, 0);
    for (let check = 1; check <= 100; check++) if (watch.isStuck(beats(check), at(check))) return check;
    return Infinity;
  };

  test("is missing after 1.5 s without a beat", () => {
    expect(
      checksUntilStuck(
        () => 0,
        (check) => check * BEAT_MS,
      ) * BEAT_MS,
    ).toBe(STUCK_MS);
  });

  test("is present while beats arrive, even slowly", () => {
    expect(
      checksUntilStuck(
        (check) => Math.floor(check / 5),
        (check) => check * BEAT_MS,
      ),
    ).toBe(Infinity);
  });

  test("is not missed by checks that are late themselves", () => {
    expect(
      checksUntilStuck(
        () => 0,
        (check) => check * 1_000,
      ),
    ).toBe(Infinity);
    // The process was stopped for an hour: the thread has the usual time to beat again.
    expect(
      checksUntilStuck(
        () => 0,
        (check) => check * BEAT_MS + 3_600_000,
      ),
    ).toBe(7);
  });
});
