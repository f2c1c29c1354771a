import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { run, runtimes } from "../../support/runtimes.ts";

const PROGRAM = fileURLToPath(new URL("calls-then-close.ts", import.meta.url));

for (const runtime of runtimes)
  describe.skipIf(runtime.missing)(runtime.title, () => {
    test.concurrent("ends when its trunks are closed, whatever the state of the calls", async () => {
      const startedAt = performance.now();
      const { code, stdout, stderr } = await run(runtime, PROGRAM);
      expect(stderr).toBe("");
      expect(stdout.split("\n").filter(Boolean).sort()).toEqual([
        "calls left: 0",
        expect.stringMatching(/^closed within [1-6] s$/),
        "good +12025550101 released",
        "good +12025550102 busy",
        "good +12025550103 released",
        "good +12025550104 media_failed",
        "nowhere +12025550101 unreachable",
        "refused +12025550101 unreachable",
        "registered for 0 s at the end",
      ]);
      expect(code).toBe(0);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });
  });
