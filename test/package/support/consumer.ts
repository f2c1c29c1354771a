import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Runtime, type RuntimeName, runtimes } from "../../support/runtimes.ts";
import { readWav, type Sound } from "../../support/server-sound.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Packed } from "./pack.ts";
import { registryOf } from "./registry.ts";
import { mustRun } from "./run.ts";

export type Installer = "npm" | "bun" | "deno";

const PROGRAMS = fileURLToPath(new URL("../consumer/", import.meta.url));

/** Somebody's empty folder, outside of this repository, with the package and nothing else installed. */
export class Consumer {
  readonly folder: string;
  readonly #installer: Installer;

  constructor(installer: Installer) {
    this.#installer = installer;
    this.folder = temporaryFolder(`consumer-${installer}`);
    this.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }));
    cpSync(PROGRAMS, this.folder, { recursive: true });
  }

  /** Installs the package, the way of the installer. */
  async install(packed: Packed): Promise<void> {
    if (this.#installer !== "deno") return this.add(packed.tarball);
    await using registry = await registryOf(packed);
    this.write("deno.json", JSON.stringify({ nodeModulesDir: "auto" }));
    const { name, version } = JSON.parse(readFileSync(join(packed.folder, "package.json"), "utf8"));
    const own = { NPM_CONFIG_REGISTRY: registry.url, DENO_DIR: join(this.folder, ".deno") };
    this.write("package.json", JSON.stringify({ type: "module", dependencies: { [name]: version } }));
    await mustRun([program("deno"), "install"], { cwd: this.folder, env: own });
  }

  /** Installs one more package, or a tarball. */
  async add(...packages: readonly string[]): Promise<void> {
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
    const command = this.#installer === "npm" ? ["npm", "install", ...quiet] : [program("bun"), "add"];
    await mustRun([...command, ...packages], { cwd: this.folder });
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Runs one of the programs of test/package/consumer and answers what it printed, as JSON. */
  async run(runtime: RuntimeName, script: string, ...args: readonly string[]): Promise<unknown> {
    const env = { DENO_DIR: join(this.folder, ".deno") };
    return JSON.parse(await mustRun([...commandOf(runtime), script, ...args], { cwd: this.folder, env }));
  }

  /** What the callee of the last place-call.ts heard. */
  heard(): Sound {
    return readWav(readFileSync(join(this.folder, "heard.wav")));
  }
}

export function commandOf(name: RuntimeName): readonly string[] {
  return (runtimes.find((runtime) => runtime.name === name) as Runtime).command;
}

const program = (name: "bun" | "deno"): string => commandOf(name)[0] ?? name;
