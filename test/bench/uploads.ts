import type { Benchmark } from "./benchmark.ts";
import { heldUploads } from "./held-uploads.ts";
import { measureUnder } from "./under-runtime.ts";

/** Effect of large uploads on live calls and on the memory of the process. */
export const UPLOADS: Benchmark = {
  title: "Uploads of 10 MiB beside 100 talking calls, and 350 held ones",
  method: `Two parts on each runtime.

- beside calls: 100 simulated calls talk while WAV files of 10 MiB (14 MiB of JSON, with an Idempotency-Key) come in over HTTP from another process, at
  100 Mbit/s, one after the other. Each becomes a call that is dialled, played, and hung up, so that the file is parsed, decoded, hashed, checked, stored, read
  and deleted. Lateness as in \`sim\`; the window without uploads is as long, in the same run
- held: 350 connections of one token send 16 MiB each but for the last byte, to a server of its own. Memory is \`VmHWM\` of the server's
  process, beside the same before; while they are held, another user uploads 10 MiB`,
  options: {
    calls: { meaning: "calls that talk", value: 100 },
    uploads: { meaning: "uploads", value: 20, quick: 5 },
    held: { meaning: "uploads that are held", value: 350, quick: 50 },
  },
  async run({ held = 0, ...options }) {
    const beside = await measureUnder(
      ["node26", "bun", "deno"],
      new URL("./uploads-beside-calls.ts", import.meta.url).href,
      options,
    );
    return [...beside, ...(await heldUploads(held))];
  },
};
