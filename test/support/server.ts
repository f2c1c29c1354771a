import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { STORAGE_SETTINGS } from "../../adapters/cli/settings/all-settings.ts";
import { readSettings } from "../../adapters/cli/settings/read-settings.ts";
import { withStorage } from "../../adapters/cli/token/storage-work.ts";
import { issueToken } from "../../src/application/tokens/tokens.ts";
import { idSource } from "../../src/base/ids.ts";
import { realSystem } from "../../src/ports/system.ts";
import { atFileEnd } from "./file-end.ts";
import { findPostgres, type RunningPostgres } from "./postgres.ts";
import {
  type ProgramResult,
  type Runtime,
  type RuntimeName,
  run,
  runtimes,
  type ServerProcess,
  start,
} from "./runtimes.ts";
import { Client, expected, until } from "./server-client.ts";
import { type DatabaseLocation, type Rows, readRows } from "./server-database.ts";
import type { OpenApi } from "./server-document.ts";
import { type HttpResponse, send } from "./server-http.ts";

/** Short, because a server that replaces a killed one waits for its lease to expire. */
const LEASE = { RINGPORT_LEASE_MS: "5000", RINGPORT_LEASE_RENEW_MS: "800" };

/** Runtime and database of a server. */
export interface Target {
  /** For `describe`; followed by the reason if it is unavailable. */
  readonly title: string;
  readonly missing: string | undefined;
  readonly runtime: Runtime;
  readonly database: "SQLite" | "PostgreSQL";
}

/** The program: from source, or with `TEST_ENTRY=dist` from the build. */
export const MAIN: string = fileURLToPath(
  new URL(process.env.TEST_ENTRY === "dist" ? "../../dist/cli.js" : "../../adapters/cli/main.ts", import.meta.url),
);
const postgres = await findPostgres();
let runningPostgres: Promise<RunningPostgres> | undefined;

const OTHER_RUNTIMES = ["node22", "bun", "deno"] as const;
/** Node 26 on SQLite: the default target. */
export const ON_NODE: Target = target("node26", "SQLite");
/** Node 26 on PostgreSQL. */
export const ON_POSTGRES: Target = target("node26", "PostgreSQL");
/** The other runtimes, on SQLite. */
export const ON_OTHER_RUNTIMES: readonly Target[] = OTHER_RUNTIMES.map((name) => target(name, "SQLite"));
/** Every runtime, on PostgreSQL. */
export const ON_EVERY_POSTGRES: readonly Target[] = [
  ON_POSTGRES,
  ...OTHER_RUNTIMES.map((name) => target(name, "PostgreSQL")),
];
export const ALL_TARGETS: readonly Target[] = [ON_NODE, ...ON_OTHER_RUNTIMES, ...ON_EVERY_POSTGRES];

/** The targets of this run: `TEST_TARGETS` is a pattern of their names, such as `on PostgreSQL` or `^bun`. */
const TARGET_PATTERN = new RegExp(process.env.TEST_TARGETS ?? "", "i");

function target(name: RuntimeName, database: Target["database"]): Target {
  const runtime = runtimes.find((candidate) => candidate.name === name)!;
  const missing = runtime.missing ?? (database === "PostgreSQL" ? postgres.missing : undefined);
  const title = `${name} on ${database}`;
  return { title: missing ? `${title} (skipped: ${missing})` : title, missing, runtime, database };
}

/** Registers the same tests for each target of this run; without one they are skipped, and the title has the reason. */
export function describeEach(targets: readonly Target[], define: (target: Target) => void): void {
  for (const eachTarget of targets)
    if (TARGET_PATTERN.test(eachTarget.title))
      describe.skipIf(eachTarget.missing)(eachTarget.title, () => define(eachTarget));
}

export interface ServerOptions {
  /** Settings; test-only settings have defaults. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Data folder of the server. Default: a fresh one. */
  readonly data?: string;
  /** PostgreSQL database of the server. Default: a fresh one. */
  readonly databaseUrl?: string;
  /** Working directory of the server. Default: this process's own. */
  readonly cwd?: string;
  /** Additional permissions under Deno. */
  readonly permissions?: readonly string[];
}

/** Starts the PostgreSQL of the current test file. */
function startPostgres(): Promise<RunningPostgres> {
  const startPromise = postgres.start();
  atFileEnd(async () => {
    runningPostgres = undefined;
    await (await startPromise).stop();
  });
  return startPromise;
}

/** Creates an empty PostgreSQL database, for servers that share it. */
export async function createDatabase(): Promise<string> {
  runningPostgres ??= startPostgres();
  return (await runningPostgres).createDatabase();
}

/** A server that runs during the tests of the surrounding `describe`. */
export function useServer(target: Target, options: ServerOptions = {}): Server {
  const server = new Server(target, options);
  beforeAll(() => server.start());
  afterAll(() => server.dispose());
  return server;
}

/** A server process with its own data, and its command line. */
export class Server {
  readonly target: Target;
  #data: string | undefined;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #ownsData: boolean;
  readonly #cwd: string | undefined;
  readonly #permissions: readonly string[];
  readonly #clients = new Map<string, Promise<Client>>();
  /** True if it has not been started yet, and will create a first token. */
  #isFresh: boolean;
  #databaseUrl: string | undefined;
  #process: ServerProcess | undefined;
  #document: OpenApi | undefined;

  constructor(target: Target, { env = {}, data, databaseUrl, cwd, permissions = [] }: ServerOptions = {}) {
    this.target = target;
    this.#cwd = cwd;
    this.#permissions = permissions;
    this.#env = env;
    this.#ownsData = data === undefined;
    this.#isFresh = data === undefined;
    this.#data = data;
    this.#databaseUrl = databaseUrl;
  }

  /** Data folder of the server. */
  get data(): string {
    this.#data ??= mkdtempSync(join(tmpdir(), "ringport-server-"));
    return this.#data;
  }

  /** URL of the server, base path included, without a slash at the end. */
  get base(): string {
    return this.#runningProcess().url;
  }

  get pid(): number {
    return this.#runningProcess().pid;
  }

  /** OpenAPI document of the server, once read. */
  get document(): OpenApi | undefined {
    return this.#document;
  }

  /** Output so far. */
  get output(): string {
    return this.#runningProcess().output();
  }

  /** Starts the server on its existing data. @param env settings for this run only */
  async start(env: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
    if (this.target.database === "PostgreSQL") this.#databaseUrl ??= await createDatabase();
    const { runtime } = this.target;
    this.#process = await start(runtime, MAIN, {
      args: ["serve"],
      env: { ...this.#settings(), ...env },
      cwd: this.#cwd,
      flags: runtime.name === "deno" ? this.#permissions : [],
    });
    // The address is printed first; on a first start, the example request is last.
    await until(
      () => this.output,
      (output) => /^ {2}Stream /m.test(output) && (!this.#isFresh || /^ {2}curl /m.test(output)),
      10_000,
      "the welcome message",
    );
    this.#isFresh = false;
    this.#document ??= expected(200, await send("GET", `${this.base}/openapi.json`)).json<OpenApi>();
  }

  /** Resolves when the process has ended: with its exit code, or with null if a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#runningProcess().exited;
  }

  /** Stops the server. Returns its exit code, or null if a signal ended it. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const code = await this.#runningProcess().stop(signal);
    this.#process = undefined;
    return code;
  }

  /** Kills the server as a power cut does: no handler runs. */
  async kill9(): Promise<void> {
    await this.stop("SIGKILL");
  }

  /** Stops the server if it is running, and removes its data. */
  async dispose(): Promise<void> {
    await this.#process?.stop("SIGKILL");
    this.#process = undefined;
    if (this.#ownsData && this.#data) rmSync(this.#data, { recursive: true, force: true });
  }

  /** The token of its first start. */
  get firstToken(): string {
    return readFileSync(this.#tokenFile, "utf8").trim();
  }

  /** Issues a token while the server is running, as `ringport token create` does. */
  token(userName: string): Promise<string> {
    const line = { values: new Map(), operands: [] };
    const { options } = readSettings(STORAGE_SETTINGS, line, this.#settings());
    return withStorage(options, { mustExist: true }, async ({ accounts }) => {
      const ids = idSource(realSystem.now, realSystem.random);
      return (await issueToken(accounts, realSystem, ids, { userName, label: "test" })).token;
    });
  }

  /** A client with a token of this user; always the same one. */
  as(user: string): Promise<Client> {
    const existing = this.#clients.get(user);
    if (existing) return existing;
    const client = this.token(user).then((token) => this.client(token));
    this.#clients.set(user, client);
    return client;
  }

  /** A client with this token, or with none. */
  client(token?: string): Client {
    return new Client(this, token);
  }

  /** Runs the command line under the same runtime on the same data. */
  cli(...args: readonly string[]): Promise<ProgramResult> {
    return run(this.target.runtime, MAIN, { args, env: this.#settings() });
  }

  /** Sends a request without a token and without checking the document. */
  request(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
    return send(method, this.base + path, { headers });
  }

  /** Location of its rows. */
  get database(): DatabaseLocation {
    return this.#databaseUrl === undefined ? { file: join(this.data, "ringport.sqlite") } : { url: this.#databaseUrl };
  }

  /** All rows of its database. */
  rows(): Promise<Rows> {
    return readRows(this.database);
  }

  /** Peak memory of the process, bytes. Linux only. */
  peakMemory(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** Processor time of the process so far, ms. Unlike a clock, it excludes other programs. Linux only. */
  processorMs(): number {
    const [, numbers = ""] = readFileSync(`/proc/${this.pid}/stat`, "utf8").split(") ");
    const [user, system] = numbers.split(" ").slice(11, 13).map(Number);
    return 10 * (user! + system!); // in ticks of 10 ms
  }

  get #tokenFile(): string {
    return join(this.data, "token");
  }

  #runningProcess(): ServerProcess {
    if (!this.#process) throw new Error("the server is not running");
    return this.#process;
  }

  #settings(): Record<string, string | undefined> {
    return {
      PORT: "0",
      LOG_LEVEL: "warn",
      RINGPORT_DATA: this.data,
      RINGPORT_TOKEN_FILE: this.#tokenFile,
      DATABASE_URL: this.#databaseUrl,
      ...(this.#databaseUrl !== undefined && LEASE),
      // Speed-up of remote ends and code rotation; audio always runs in real time.
      RINGPORT_SIMULATOR_TIME_SCALE: "0.1",
      ...this.#env,
    };
  }
}
