import process from "node:process";
import type { MediaListener, MediaSession } from "../../../adapters/sip-stack/media/engine.ts";
import { createThreadEngine } from "../../../adapters/sip-stack/media/thread-engine.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";
import { LOOPBACK, settingsTo, until } from "./two-ends.ts";

// Prints the size of the buffers of a session that talks and listens, KiB. Runs alone: other tests would add to it.

/** Frames of an end before it is measured: its buffers have then been used, and used again. */
const FRAMES = 150;
const PAIRS = 100;

const engine = createThreadEngine();
const listener: MediaListener = { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} };
const frameCounts: { frames: number }[] = [];

const before = await memoryAfter(10);
const after = await memoryAfter(PAIRS);
console.log((after - before) / (2 * PAIRS) / 1024);
await engine.close();

/** Starts pairs of sessions that hear each other; returns the size of all buffers in use, bytes. */
async function memoryAfter(pairs: number): Promise<number> {
  for (let n = 0; n < pairs; n++) {
    const [a, b] = [await openSession(), await openSession()];
    a.configure(settingsTo(b.port));
    b.configure(settingsTo(a.port));
    a.start();
    b.start();
  }
  await until(() => frameCounts.every(({ frames }) => frames >= FRAMES), "all sessions hear each other", 20_000);
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 100)); // buffers are freed on another thread
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

async function openSession(): Promise<MediaSession> {
  const session = await engine.open(
    { address: LOOPBACK, ports: [20_000, 29_999], sampleRate: 8_000, lossMs: 20_000 },
    listener,
  );
  const heard = { frames: 0 };
  frameCounts.push(heard);
  session.connect({ read: (frame) => frame.fill(1_000).length }, { write: () => void heard.frames++ });
  return session;
}
