import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE } from "./compile-cache.ts";

export type RuntimeName = "node22" | "node26" | "bun" | "deno";

/** A JavaScript runtime for programs of tests, or the reason why there is none. */
export interface Runtime {
  readonly name: RuntimeName;
  /** For `describe`: the name, followed by the reason if the runtime is missing. */
  readonly title: string;
  /** Program and arguments before the script; empty when the runtime is missing. */
  readonly command: readonly string[];
  /** The reason why the runtime cannot be used, for `describe.skipIf`. */
  readonly missing: string | undefined;
}

/** Options of {@link start}. */
export interface StartOptions {
  /** Arguments after the script. */
  readonly args?: readonly string[];
  /** Arguments of the runtime itself, such as one more Deno permission. */
  readonly flags?: readonly string[];
  /** Additional environment; `undefined` removes a variable. `PORT` is 0 unless named here. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory. Default: this process's own. */
  readonly cwd?: string | undefined;
  /** Time limit for the URL, ms. Default: 20,000. */
  readonly readyTimeoutMs?: number;
  /** Signal that kills it. */
  readonly signal?: AbortSignal;
  /** True if it reads lines that the test types. Default: its input is empty. */
  readonly terminal?: boolean;
}

/** A server process that has printed its address. */
export interface ServerProcess {
  /** The first local URL that it printed, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  /** Output so far on both streams. */
  output(): string;
  /** Types a line at its terminal; only with `terminal`. */
  type(line: string): void;
  /** Resolves when the process has ended, for any reason: with its exit code, or with null if a signal ended it. */
  readonly exited: Promise<number | null>;
  /**
   * Sends a signal (default SIGTERM) and resolves once the process has ended: with its exit code, or with null if a
   * signal ended it. A process that is still running after 5 seconds is killed. Stopping twice is fine.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const KILL_AFTER_MS = 5_000;
const LOCAL_URL = /https?:\/\/(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:\/[\w\-./~%]*)?/;

/** Prints the reason why a test is skipped. Under CI no test may be skipped, so it throws the reason. */
export function missing(reason: string): string {
  if (process.env.CI === "true" || process.env.CI === "1")
    throw new Error(`no test may be skipped under CI: ${reason}`);
  return reason;
}

/** The flags of `npm start`: 8 MiB for short-lived objects instead of 16 shorten pauses, so that audio frames are on time. */
const NODE_FLAGS = ["--max-semi-space-size=8"];

/** Permissions of the server under Deno; the last one is for finding the address at which phones on the network reach it. */
const DENO_PERMISSIONS = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys=networkInterfaces",
] as const;

/** Every runtime of the suites, installed or not. */
export const runtimes: readonly Runtime[] = [
  find("node22", NODE_FLAGS),
  find("node26", NODE_FLAGS),
  find("bun", []),
  find("deno", ["run", "--no-prompt", ...DENO_PERMISSIONS]),
];

/** Starts a server script and waits for the first local URL that it prints. */
export async function start(runtime: Runtime, script: string, options: StartOptions = {}): Promise<ServerProcess> {
  const [program, ...runtimeArgs] = runtime.command;
  if (program === undefined) throw new Error(`${runtime.name} cannot be started: ${runtime.missing}`);
  const child = spawn(program, [...runtimeArgs, ...(options.flags ?? []), script, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: [options.terminal ? "pipe" : "ignore", "pipe", "pipe"],
    ...(options.signal && { signal: options.signal, killSignal: "SIGKILL" }),
  });
  endWithThisProcess(child);

  const lines: string[] = [];
  const exit = new Promise<number | null>((resolve) => {
    child.once("exit", resolve);
    child.once("error", () => resolve(null));
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> => {
    child.kill(signal);
    const killTimer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    return exit.finally(() => clearTimeout(killTimer));
  };

  const readyTimeoutMs = options.readyTimeoutMs ?? 20_000;
  let timer: NodeJS.Timeout | undefined;
  try {
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (reason: string) =>
        reject(new Error(`${runtime.name} ${script} ${reason}. It printed:\n${lines.join("\n")}`));
      timer = setTimeout(fail, readyTimeoutMs, `printed no local URL within ${readyTimeoutMs} ms`);
      child.once("error", (error) => fail(`did not start: ${error.message}`));
      child.once("close", (code, signal) => fail(`ended with ${signal ?? code}`));
      // Whole lines only: a URL cut by the end of a chunk would name another port.
      for (const input of [child.stdout, child.stderr])
        createInterface({ input: input! }).on("line", (line) => {
          lines.push(line);
          const localUrl = LOCAL_URL.exec(line)?.[0];
          if (localUrl) resolve(localUrl.replace(/\/$/, ""));
        });
    });
    const type = (line: string): void => void child.stdin?.write(`${line}\n`);
    return { url, pid: child.pid ?? 0, output: () => lines.join("\n"), type, exited: exit, stop };
  } catch (error) {
    await stop("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The runtime of this process. */
export const THIS_RUNTIME: Pick<Runtime, "command"> = {
  command: [process.execPath, ...("Deno" in globalThis ? ["run", "-A"] : [])],
};

/** Result of a program that ran to its end. */
export interface ProgramResult {
  /** Exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script to its end, by default at most 30 s long. `user` is a user id of the operating system, available to root. */
export function run(
  runtime: Pick<Runtime, "command">,
  script: string,
  {
    args = [],
    flags = [],
    env,
    cwd,
    user,
    timeoutMs = 30_000,
  }: Omit<StartOptions, "readyTimeoutMs" | "signal" | "terminal"> & {
    readonly user?: number;
    readonly timeoutMs?: number;
  } = {},
): Promise<ProgramResult> {
  const [program = "", ...runtimeArgs] = runtime.command;
  const child = spawn(program, [...runtimeArgs, ...flags, script, ...args], {
    cwd,
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  endWithThisProcess(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
}

/** Kills a child that is still running when this process exits, so that a failed run leaves no process behind. */
export function endWithThisProcess(child: ChildProcess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}

function find(name: RuntimeName, flags: readonly string[]): Runtime {
  const program = programOf(name);
  if (existsSync(program)) return { name, title: name, command: [program, ...flags], missing: undefined };
  const command = `npm ci --prefix test/runtimes/${name}`;
  const reason = missing(
    `${name} is not installed for ${process.platform} ${process.arch}; \`${command}\` installs it`,
  );
  return { name, title: `${name} (skipped: ${reason})`, command: [], missing: reason };
}

/** This process's own program if it is Node 26, or the place where `test/runtimes/link.mjs` puts a runtime. */
function programOf(name: RuntimeName): string {
  const isNode = !("bun" in process.versions || "deno" in process.versions);
  if (name === "node26" && isNode && process.version.startsWith("v26.")) return process.execPath;
  const file = name.startsWith("node") ? "node" : name;
  const folder = new URL(`../runtimes/${name}/node_modules/.program/`, import.meta.url);
  return fileURLToPath(new URL(process.platform === "win32" ? `${file}.exe` : file, folder));
}

/** This process's environment without the additions of the test runner. */
function environment(changes: StartOptions["env"] = {}): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST_|NODE_OPTIONS$|NODE_ENV$)/.test(name),
  );
  return {
    ...Object.fromEntries(variables),
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    PORT: "0",
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
    ...changes,
  };
}
