import { memoryUsage } from "node:process";
import { expect, test } from "vitest";
import { CallListeners } from "../../../../src/application/call-audio/listeners/call-listeners.ts";
import { EventLog } from "../../../../src/application/calls/event-log.ts";
import { AlignedChannels, type TakeChannels } from "../../../../src/audio/playout/aligned-channels.ts";
import { idSource } from "../../../../src/base/ids.ts";
import type { Principal } from "../../../../src/domain/access/principal.ts";
import type { Call } from "../../../../src/domain/calls/call.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";

const ALICE: Principal = { userId: "usr_alice" };
const CALL = { id: "call_1", status: "IN_PROGRESS" } as Call;
const FRAMES = 5_000;
/** Tolerated memory growth, bytes: a thousandth of the frames' memory. */
const MAX_BYTES = 16 << 10;

/** A call's audio with four listeners, as its leg's clock passes it on. */
function alignedChannels(): AlignedChannels {
  const system = new ManualSystem();
  const ids = idSource(
    () => system.now(),
    (bytes) => system.random(bytes),
  );
  let channels: AlignedChannels | undefined;
  const session = {
    call: CALL,
    whenStored: new Promise<void>(() => {}),
    follow(take: TakeChannels, pieceMs: number) {
      channels = new AlignedChannels(16_000, 20, take, { blockMs: pieceMs, silentAfterMs: 60 });
      return { sampleRate: 16_000, stop() {} };
    },
    addNote() {},
  };
  const host = { session: () => session, onLastListenerLeft() {} };
  const listeners = new CallListeners({ events: new EventLog(system, ids, silentLogger) }, CALL.id, host);
  for (let i = 0; i < 4; i++) listeners.add(ALICE, CALL);
  return channels as AlignedChannels;
}

test("idle listeners make the clock allocate no memory", async () => {
  const channels = alignedChannels();
  let now = 0;
  const frame = new Int16Array(320).fill(7);
  const run = (): number => {
    const before = memoryUsage().heapUsed + memoryUsage().arrayBuffers;
    for (let i = 0; i < FRAMES; i++) {
      now += 20;
      channels.pushRight(frame, 0, frame.length, now);
      channels.pushLeft(frame, 0, frame.length, now);
    }
    return memoryUsage().heapUsed + memoryUsage().arrayBuffers - before;
  };
  // Uncompiled code allocates, and a busy machine compiles late.
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  let minBytes = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 100 && minBytes >= MAX_BYTES; i++) {
    minBytes = Math.min(minBytes, Math.abs(run()));
    await nextTurn();
  }
  expect(minBytes).toBeLessThan(MAX_BYTES);
});
