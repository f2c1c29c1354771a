import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { mustRun } from "../package/support/run.ts";
import { oncePerFile } from "../support/file-end.ts";
import { freePort } from "../support/free-port.ts";
import { type Runtime, type RuntimeName, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { Client, until } from "../support/server-client.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shebang } from "./shebang.ts";

/** Options for starting an example. */
export interface ExampleOptions {
  /** Runtime; by default the one in its first line. */
  readonly runtime?: RuntimeName | undefined;
  /** True if it prints a token, because the command line cannot open its database. */
  readonly printsToken?: boolean | undefined;
  /** Path at which the interface is mounted in the example's app. */
  readonly mountPath?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Arguments after the script. */
  readonly args?: readonly string[] | undefined;
  /** True if it reads lines that the test types. */
  readonly terminal?: boolean | undefined;
  /** True if it starts on the data of the previous one. */
  readonly keepsData?: boolean | undefined;
}

/** A running example. */
export interface RunningExample {
  /** URL of the interface. */
  readonly base: string;
  /** A client with a token from the command line, or from the output of the example. */
  readonly client: Client;
  /** Output so far. */
  output(): string;
  /** Types a line at its terminal. */
  type(line: string): void;
  /** Ends the example as Ctrl-C does; returns the exit code, or null when the signal ended it. */
  interrupt(): Promise<number | null>;
  /** Kills the example. */
  kill(): Promise<number | null>;
}

/** Maximum time until an example is ready, ms: the first start with a database takes seconds. */
const READY_MS = 45_000;

/** A folder for this test file with all examples and the installed package. */
export const folder: () => string = oncePerFile(() => {
  const copy = temporaryFolder("examples");
  cpSync(inject("installed"), copy, { recursive: true, verbatimSymlinks: true });
  return copy;
});

/** The runtime of an example. */
export function runtimeOf(script: string, name?: RuntimeName): Runtime {
  const [program] = shebang(join(folder(), script));
  return runtimeNamed(name ?? (program === "bun" || program === "deno" ? program : "node26"));
}

export function runtimeNamed(name: RuntimeName): Runtime {
  return runtimes.find((runtime) => runtime.name === name)!;
}

/** Starts an example by its first line, with its own data, until the test ends. */
export async function startExample(script: string, options: ExampleOptions = {}): Promise<RunningExample> {
  if (!options.keepsData) rmSync(join(folder(), "data"), { recursive: true, force: true });
  const runtime = runtimeOf(script, options.runtime);
  const [, ...flags] = shebang(join(folder(), script));
  // The first line lists a Deno program's permissions: it gets only these.
  const command = runtime.name === "deno" ? [runtime.command[0]!, ...flags, "--no-prompt"] : runtime.command;
  // An app that mounts Ringport chooses its own port.
  const PORT = options.mountPath === undefined ? "0" : String(await freePort());
  const { args = [], terminal = false } = options;
  const env = { PORT, ...options.env };
  const startOptions = { cwd: folder(), args, terminal, env, readyTimeoutMs: READY_MS };
  const server = await start({ ...runtime, command }, script, startOptions);
  const kill = () => server.stop("SIGKILL");
  onTestFinished(async () => void (await kill()));

  const base = server.url + (options.mountPath ?? "");
  const token = options.printsToken ? await printedToken(server.output) : await tokenOfCommandLine(folder());
  const { output, type } = server;
  return { base, client: clientOf(server, base, token), output, type, interrupt: () => server.stop("SIGINT"), kill };
}

/** A client of a server process, whose errors show the output of that process. */
export function clientOf({ output }: Pick<ServerProcess, "output">, base: string, token: string): Client {
  const server = {
    base,
    document: undefined,
    get output() {
      return output();
    },
  };
  return new Client(server, token);
}

export async function printedToken(output: () => string): Promise<string> {
  const token = (): string | undefined => /rp_live_\w+/.exec(output())?.[0];
  return (await until(token, (value) => value !== undefined, 10_000, "a printed token"))!;
}

/** A token as printed by `npx ringport token create --user me` while the example runs. */
export async function tokenOfCommandLine(cwd: string): Promise<string> {
  const cli = join("node_modules", "ringport", "dist", "cli.js");
  const command = [...runtimeNamed("node26").command, cli, "token", "create", "--user", "me"];
  return (await mustRun(command, { cwd })).trim();
}
