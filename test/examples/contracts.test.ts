import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mustRun, run } from "../package/support/run.ts";
import { folder, runtimeNamed } from "./example.ts";

const bun = runtimeNamed("bun");
const node = runtimeNamed("node26");

/** Time for all tests of a storage in PGlite on a busy machine, ms. */
const STORAGE_MS = 240_000;

test.skipIf(bun.missing).each([
  ["your-own-storage", 200],
  ["your-own-telephony", 15],
])(
  `%s passes the published contract on ${bun.title}`,
  async (name, minTests) => {
    const { code, stderr } = await run([...bun.command, "test", "--timeout=60000", name], { cwd: folder() });
    expect(Number(/^ *(\d+) pass$/m.exec(stderr)?.[1])).toBeGreaterThanOrEqual(minTests);
    expect(stderr).toMatch(/^ *0 fail$/m);
    expect(code).toBe(0);
  },
  STORAGE_MS,
);

describe("a storage's contract runs", () => {
  const title = `under node:test with the package \`expect\`, on ${node.title}`;
  test.skipIf(node.missing)(title, { timeout: STORAGE_MS }, async () => {
    await mustRun(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--no-save", "expect@30.5.2"], {
      cwd: folder(),
    });
    const suite = readFileSync(join(folder(), "your-own-storage/contract.test.ts"), "utf8");
    const imports = 'import { describe, test } from "node:test";\nimport { expect } from "expect";';
    const script = join(folder(), "your-own-storage/node.test.ts");
    writeFileSync(script, suite.replace(/^import .* from "bun:test";$/m, imports));
    const output = await mustRun([...node.command, "--test", "--test-reporter=tap", script], { cwd: folder() });
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(200);
    expect(output).toMatch(/^# fail 0$/m);
    expect(output).toMatch(/^# skipped 0$/m);
  });
});
