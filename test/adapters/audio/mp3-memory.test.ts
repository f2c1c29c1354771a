import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("three hundred successive MP3 streams leave no memory behind", { timeout: 60_000 }, async () => {
  const program = fileURLToPath(new URL("mp3-streams-memory.ts", import.meta.url));
  const args = "Deno" in globalThis ? ["run", "-A", program] : [program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(Number(stdout)).toBeLessThan(50); // MiB; about 100 if they are kept
});
