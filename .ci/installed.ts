// `node .ci/installed.ts bun`: checks that a runtime is installed, in this folder or on the machine; otherwise prints one sentence and exits with 1.
import { spawnSync } from "node:child_process";
import process from "node:process";

const [program = ""] = process.argv.slice(2);
if (spawnSync(program, ["--version"], { stdio: "ignore" }).status !== 0) {
  console.error(`${program} is not installed; \`npm ci --prefix test/runtimes/${program}\` installs it`);
  process.exitCode = 1;
}
