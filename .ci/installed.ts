// `node .ci/installed.ts bun`: checks that a runtime is installed, here or on the machine; ends with 1 and one sentence otherwise.
import { spawnSync } from "node:child_process";
import process from "node:process";

const [program = ""] = process.argv.slice(2);
if (spawnSync(program, ["--version"], { stdio: "ignore" }).status !== 0) {
  console.error(`${program} is not installed; \`npm ci --prefix test/runtimes/${program}\` installs it`);
  process.exitCode = 1;
}
