import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run, THIS_RUNTIME } from "../../support/runtimes.ts";

test("the buffers of a call's session take less than 32 KiB", { timeout: 60_000 }, async () => {
  const program = fileURLToPath(new URL("sessions-memory.ts", import.meta.url));
  const { stdout } = await run(THIS_RUNTIME, program, { timeoutMs: 60_000 });
  expect(stdout).not.toBe("");
  // KiB; 16 to 18 on Node if no thread stalls. Bun does not count small buffers, and Deno none.
  expect(Number(stdout)).toBeLessThan(32);
});
