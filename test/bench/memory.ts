import type { Benchmark } from "./benchmark.ts";
import { measureUnder } from "./under-runtime.ts";

/** Memory that each live call takes. */
export const MEMORY: Benchmark = {
  title: "Memory per live simulated call",
  method: `What the process holds after a full garbage collection (heap and buffers outside of it), with 100 calls talking and
with many more talking, divided by the calls that came on top. All hear the same text, so its speech is in memory once
and counted before; the text itself, 4,000 characters, and the instance with its line are part of what is measured. The far
end's recording is on the disk; what waits to be written is not.`,
  options: { calls: { meaning: "calls that come on top", value: 1000, quick: 100 } },
  run: (options) => measureUnder(["node26", "bun"], new URL("./live-call-memory.ts", import.meta.url).href, options),
};
