import { readdirSync, readFileSync } from "node:fs";

/** Returns the time that the threads of a process have waited for a processor since this function was called, ms; its calls pause. Linux only. */
export function waitedSince(pid: number): () => number {
  const previousWaits = waitsOf(pid);
  return () => {
    let ms = 0;
    for (const [thread, waitedMs] of waitsOf(pid)) ms += waitedMs - (previousWaits.get(thread) ?? 0);
    return ms;
  };
}

/** Wait time of each thread, ms since it began. */
function waitsOf(pid: number): Map<string, number> {
  const threads = `/proc/${pid}/task`;
  const waits = new Map<string, number>();
  for (const thread of readdirSync(threads))
    try {
      const [, waitedNs] = readFileSync(`${threads}/${thread}/schedstat`, "utf8").split(" ");
      waits.set(thread, Number(waitedNs) / 1e6);
    } catch {} // it has just ended
  return waits;
}
