import { memoryUsage } from "node:process";
import { expect, test } from "vitest";
import type { CallTap } from "../../../../src/application/call-audio/call-tap.ts";
import { CallListeners } from "../../../../src/application/call-audio/listeners/call-listeners.ts";
import { EventLog } from "../../../../src/application/calls/event-log.ts";
import { idSource } from "../../../../src/base/ids.ts";
import type { Call } from "../../../../src/domain/call.ts";
import type { Principal } from "../../../../src/domain/principal.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";

const ALICE: Principal = { userId: "usr_alice" };
const CALL = { id: "call_1", status: "IN_PROGRESS" } as Call;
const FRAMES = 5_000;
/** A thousandth of what the frames themselves hold. */
const MOST_BYTES = 16 << 10;

/** Four listeners of a call whose frames this test makes. */
function listened(): { tap: Required<Pick<CallTap, "inbound" | "outbound">>; tick: () => void } {
  const system = new ManualSystem();
  const ids = idSource(
    () => system.now(),
    (bytes) => system.random(bytes),
  );
  let now = 0;
  let tap: CallTap | undefined;
  const clock = { ...system, monotonic: () => now } as ManualSystem;
  const session = {
    call: CALL,
    follow(tapOf: (leg: { sampleRate: number; frameMs: number }) => CallTap) {
      tap = tapOf({ sampleRate: 16_000, frameMs: 20 });
      return () => {};
    },
    note() {},
  };
  const listeners = new CallListeners({ events: new EventLog(system, ids, silentLogger), system: clock }, CALL.id, {
    session: () => session,
    gone() {},
  });
  for (let i = 0; i < 4; i++) listeners.add(ALICE, CALL);
  const tick = (): void => {
    now += 20;
  };
  return { tap: tap as ReturnType<typeof listened>["tap"], tick };
}

test("listeners who read nothing cost the leg's clock no memory", () => {
  const { tap, tick } = listened();
  const frame = new Int16Array(320).fill(7);
  const run = (): number => {
    const before = memoryUsage().heapUsed + memoryUsage().arrayBuffers;
    for (let i = 0; i < FRAMES; i++) {
      tick();
      tap.outbound(frame, 0, frame.length);
      tap.inbound(frame);
    }
    return memoryUsage().heapUsed + memoryUsage().arrayBuffers - before;
  };
  run(); // until it is compiled
  const grown = Array.from({ length: 5 }, run);
  expect(Math.min(...grown.map(Math.abs))).toBeLessThan(MOST_BYTES);
});
