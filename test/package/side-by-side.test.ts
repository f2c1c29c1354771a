import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { run } from "./support/run.ts";

const SCRIPT = join(import.meta.dirname, "../../.ci/side-by-side.ts");
const cwd = temporaryFolder("side-by-side");
const sideBySide = (...commands: readonly string[]) => run([process.execPath, SCRIPT, ...commands], { cwd });

test("commands run concurrently, and their outputs are not mixed", async () => {
  // A named pipe opens only when both ends are open.
  const { code, stdout } = await sideBySide(
    "mkfifo pipe && echo first && echo written > pipe",
    "until [ -p pipe ]; do sleep 0.01; done; cat pipe; echo last >&2",
  );
  expect(code).toBe(0);
  expect(stdout).toContain("echo written > pipe\nfirst\n");
  expect(stdout).toContain("cat pipe; echo last >&2\nwritten\nlast\n");
});

test("one failed command fails the run; it is printed last, and the others finish", async () => {
  const { code, stdout } = await sideBySide("echo wrong; exit 3", "sleep 0.2; echo right");
  expect(code).toBe(1);
  expect(stdout).toBe("> sleep 0.2; echo right\nright\n> echo wrong; exit 3\nwrong\n");
});

test("the live command is printed as it runs, before the others", async () => {
  const { code, stdout } = await sideBySide("echo other", "--live", "echo live; sleep 0.2; echo more");
  expect(code).toBe(0);
  expect(stdout).toBe("live\nmore\n> echo other\nother\n");
});

test("a failed live command fails the run, and the end of the output names it", async () => {
  const { code, stdout } = await sideBySide("echo other", "--live", "echo wrong; exit 3");
  expect(code).toBe(1);
  expect(stdout).toBe("wrong\n> echo other\nother\n> echo wrong; exit 3\nfailed: see above\n");
});
