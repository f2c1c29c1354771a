// `npm run example -- bun-server`: starts an example from a clone, with the program in its first line. It
// imports the package by name, so the package is built first if its sources are newer.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { shebang } from "./shebang.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const [name = "", ...args] = process.argv.slice(2);
const script =
  name && [`examples/${name}.ts`, `examples/${name}/server.ts`].find((path) => existsSync(join(root, path)));
if (!script) {
  console.error(`"${name}" is no example that runs from here; available: ${names().join(", ")}`);
  process.exit(2);
}

if (latestChange("dist") < Math.max(latestChange("src"), latestChange("adapters"))) {
  console.error("Building the package …");
  const { status } = spawnSync("npm", ["run", "-s", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
}

const [program, ...flags] = shebang(join(root, script));
const child = spawn(program, [...flags, join(root, script), ...args], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.once("error", ({ message }) => {
  console.error(`${program} cannot be started (${message}); \`npm ci --prefix test/runtimes/${program}\` installs it`);
  process.exit(1);
});
child.once("exit", (code) => process.exit(code ?? 1));

/** Time of the latest change in a folder, ms; 0 if it is empty. */
function latestChange(folder: string): number {
  if (!existsSync(join(root, folder))) return 0;
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return Math.max(0, ...files.map((file) => statSync(join(root, folder, file)).mtimeMs));
}

function names(): string[] {
  const paths = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" });
  return paths
    .filter((path) => /^[\w-]+(\/server)?\.ts$/.test(path))
    .map((path) => path.replace(/(\/server)?\.ts$/, ""));
}
