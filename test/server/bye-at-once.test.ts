import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { run, runtimes } from "../support/runtimes.ts";

const PROGRAM = fileURLToPath(new URL("bye-at-once.ts", import.meta.url));

for (const runtime of runtimes)
  describe.skipIf(runtime.missing)(runtime.title, () => {
    test("a hang-up at the moment of the answer follows connected", async () => {
      const { code, stdout, stderr } = await run(runtime, PROGRAM);
      expect(stderr).toBe("");
      const expectedLine = "placed alerting answered connected ended: callee_hung_up";
      expect(stdout.split("\n").filter(Boolean)).toEqual(Array.from({ length: 10 }, () => expectedLine));
      expect(code).toBe(0);
    });
  });
