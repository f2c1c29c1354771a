import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { run } from "./support/run.ts";

const SCRIPT = join(import.meta.dirname, "../../.ci/side-by-side.ts");
const cwd = temporaryFolder("side-by-side");
const sideBySide = (...commands: readonly string[]) => run([process.execPath, SCRIPT, ...commands], { cwd });

test("commands run at the same time, and the output of each is printed whole", async () => {
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
