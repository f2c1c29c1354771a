import type { System } from "../../ports/system.ts";

/** Runs a function every `everyMs`, the first time after one interval, without drift; missed runs are skipped. */
export function startTicker(system: System, everyMs: number, run: () => void): () => void {
  let dueAt = system.monotonic() + everyMs;
  let cancel = system.after(everyMs, tick);
  function tick(): void {
    dueAt = Math.max(dueAt, system.monotonic() - everyMs) + everyMs;
    cancel = system.after(dueAt - system.monotonic(), tick);
    run();
  }
  return () => cancel();
}
