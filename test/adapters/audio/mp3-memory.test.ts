import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run, THIS_RUNTIME } from "../../support/runtimes.ts";

test("three hundred successive MP3 streams leave no memory behind", { timeout: 60_000 }, async () => {
  const program = fileURLToPath(new URL("mp3-streams-memory.ts", import.meta.url));
  const { stdout } = await run(THIS_RUNTIME, program, { timeoutMs: 60_000 });
  expect(stdout).not.toBe("");
  expect(Number(stdout)).toBeLessThan(50); // MiB; about 100 if they are kept
});
