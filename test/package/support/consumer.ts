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

/** An empty folder outside this repository with only the package installed. */
export class Consumer {
  readonly folder: string;
  readonly #installer: Installer;
  #registry: string | undefined;

  constructor(installer: Installer) {
    this.#installer = installer;
    this.folder = temporaryFolder(`consumer-${installer}`);
    this.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }));
    cpSync(PROGRAMS, this.folder, { recursive: true });
  }

  /** Installs the package with the installer. */
  async install(packed: Packed): Promise<void> {
    if (this.#installer === "deno") {
      this.#registry = await registryOf(packed);
      this.write("deno.json", JSON.stringify({ nodeModulesDir: "auto" }));
      await this.add("ringport");
    } else await this.add(packed.tarball);
  }

  /** Installs one more package. */
  async add(name: string): Promise<void> {
    const command = {
      npm: ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", name],
      bun: [program("bun"), "add", name],
      deno: [program("deno"), "add", `npm:${name}`],
    }[this.#installer];
    const env = this.#registry ? { ...this.#env, NPM_CONFIG_REGISTRY: this.#registry } : this.#env;
    await mustRun(command, { cwd: this.folder, env });
  }

  /** Deno's download cache, separate so that each consumer starts empty. */
  get #env(): Record<string, string> {
    return { DENO_DIR: join(this.folder, ".deno") };
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Runs one of the programs of test/package/consumer and returns its output, parsed as JSON. */
  async run(runtime: RuntimeName, script: string, ...args: readonly string[]): Promise<unknown> {
    return JSON.parse(await mustRun([...commandOf(runtime), script, ...args], { cwd: this.folder, env: this.#env }));
  }

  /** Places a call with this message, and returns its outcome. @throws {Error} the message is the output of the program */
  async placeCall(runtime: RuntimeName, message: object, program = "place-call.ts"): Promise<unknown> {
    this.write("message.json", JSON.stringify(message));
    return this.run(runtime, program);
  }

  /** Audio that the last call's callee heard. */
  heard(): Sound {
    return readWav(readFileSync(join(this.folder, "heard.wav")));
  }
}

export function commandOf(name: RuntimeName): readonly string[] {
  return (runtimes.find((runtime) => runtime.name === name) as Runtime).command;
}

const program = (name: "bun" | "deno"): string => commandOf(name)[0] ?? name;
