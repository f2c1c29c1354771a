import { nextTurn } from "../../../src/base/turn-budget.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import type { Run } from "./run.ts";
import type { Step } from "./steps.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;
/** Steps of the wall clock, ms. */
const CLOCK_JUMPS_MS = [-HOUR_MS, HOUR_MS, -YEAR_MS, YEAR_MS] as const;
/** Durations of sleep, ms: shorter and longer than a call may wait. */
const SLEEPS_MS = [20_000, 3 * 60_000, HOUR_MS] as const;

/** Injects or repairs a step's fault. */
export async function injectFault(run: Run, { step, choice }: Step): Promise<void> {
  const { process, storageFaults, adapterFaults } = run;
  switch (step) {
    case "storage fails":
      return storageFaults.fail(choice);
    case "storage hangs":
      return storageFaults.hang(choice);
    case "storage heals":
      return storageFaults.heal();
    case "hold a write":
      return storageFaults.holdWrite(1 + (choice % 4));
    case "release the write":
      return storageFaults.releaseWrites();
    case "lose a response":
      return storageFaults.loseResponse(1 + (choice % 4));
    case "adapter hangs":
      run.expectsErrors = true;
      return adapterFaults.hangMethod(choice);
    case "adapters respond":
      return adapterFaults.heal();
    case "clock jumps":
      return process.system.jump(CLOCK_JUMPS_MS[choice % CLOCK_JUMPS_MS.length] as number);
    case "correct the clock":
      return process.system.correct();
    case "machine sleeps":
      return sleep(run, SLEEPS_MS[choice % SLEEPS_MS.length] as number, choice % 2 === 1);
    case "crash":
      // A random point between the awaits of running work.
      for (let turn = choice % 12; turn > 0; turn--) await nextTurn();
      return process.kill();
    case "crash at an operation":
      return process.crashAt({ at: "operation", n: 1 + (choice >> 2), writes: choice % 4 > 1, done: choice % 2 === 1 });
    case "crash at the dial":
      return process.crashAt({ at: "dial" });
    case "restart":
      return restart(run, choice % 2 ? 2_000 : 0);
    case "second server":
      return run.startSecondServer();
    case "cut off":
      return process.storage.cutConnection(choice % 2 ? "silent" : "refused");
    case "reachable again":
      for (const { storage } of run.processes) storage.repair();
      return;
    case "SIGSTOP":
      return process.system.stop();
    case "SIGCONT":
      for (const anyProcess of run.processes) anyProcess.resume(choice % 2 ? "backwards" : "forwards");
      return;
  }
}

/**
 * Puts the process's machine to sleep.
 * @param stopsMonotonic true if its monotonic clock also stops, as in a paused virtual machine
 */
async function sleep(run: Run, ms: number, stopsMonotonic: boolean): Promise<void> {
  const { process, clock, lateDials } = run;
  if (!process.isAlive || process.system.isStopped) return;
  const pausesMonotonic = stopsMonotonic && !run.leases; // a lease is measured by a clock that must not stop
  // A wall clock that is set just before or after the sleep could hide it from every process.
  if (pausesMonotonic) await clock.advance(DEFAULT_TIMINGS.probeMs);
  if (!process.isAlive || process.system.isStopped) return;
  lateDials.onSleep(process, ms);
  process.system.stop();
  await clock.advance(ms);
  if (pausesMonotonic) process.system.stopMonotonic(ms);
  process.resume("forwards");
  if (pausesMonotonic) await clock.advance(DEFAULT_TIMINGS.probeMs);
}

/** Ends the process gracefully, whatever state the storage is in. */
async function restart(run: Run, drainMs: number): Promise<void> {
  const { process, findings, storageFaults } = run;
  if (process.system.isStopped) return; // a stopped process does not receive the signal
  run.expectsErrors = true;
  const hasStopped = await process.stop(drainMs);
  if (process.isAlive) {
    const liveLegs = process.network.legs.filter((leg) => leg.live && leg.hangUps === 0);
    findings.expect("stop-hangs-up", liveLegs.length === 0, `the leg of ${liveLegs[0]?.callId} is still up`);
    // A supervisor kills a process whose database never responds.
    findings.expect(
      "stop-ends",
      hasStopped || storageFaults.mayHang || process.storage.cut === "silent",
      "stop() has not resolved",
    );
  }
  process.kill();
}
