import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import config from "../../vitest.config.ts";

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const CONFIG = fileURLToPath(new URL("unhandled/vitest.config.ts", import.meta.url));

/** Runs one file of the folder `unhandled`, whose test passes, with the options of all tests. */
function run(file: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [VITEST, "run", "--config", CONFIG, file], {
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe("an error without a handler fails the run, although its test passes", () => {
  test.for(["rejection.ts", "exception.ts"])("%s", (file) => {
    const { status, output } = run(file);
    expect(output).toMatch(/1 passed/);
    expect(output).toContain("an error without a handler");
    expect(status).toBe(1);
  });

  test("and only such an error does", () => {
    const { status, output } = run("none.ts");
    expect(output).toMatch(/1 passed/);
    expect(status).toBe(0);
  });

  test("in every project", () => {
    const options = [config.test, ...(config.test?.projects ?? []).map((project) => (project as typeof config).test)];
    for (const testOptions of options) {
      expect(testOptions?.dangerouslyIgnoreUnhandledErrors ?? false).toBe(false);
      expect(testOptions?.onUnhandledError).toBeUndefined();
    }
  });
});
