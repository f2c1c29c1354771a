import process from "node:process";
import { fileURLToPath } from "node:url";
import { run, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { type HttpResponse, type RequestOptions, send } from "../support/server-http.ts";
import type { FaultyDatabase } from "./faulty-database.ts";
import type { Journal } from "./journal.ts";

/** The built program, which starts three times as fast as the sources; `PROGRAM` names another one. */
const PROGRAM = process.env.PROGRAM ?? fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const WITHOUT_SPEECH = fileURLToPath(new URL("./without-speech.ts", import.meta.url));
const RUNTIME = runtimes.find(({ name }) => name === "node26")!;
/** Time for a server to stop before it is killed, ms. */
const STOP_MS = 2_000;
const RESPONSE_TIMEOUT_MS = 20_000;
/** Time within which a second server takes over on a busy machine, ms. */
const TAKEOVER_TIMEOUT_MS = 30_000;
const MAX_LOGGED = 100;
/** Number of lines kept from a server's last output, and of characters in each. */
const MAX_SHOWN = 8;
const MAX_CHARACTERS = 300;
/** The server's message for requests after its end. */
const AFTER_STOP = "received a request, but Ringport is not running";
/** Allowed responses to valid requests. */
const ALLOWED_STATUSES: ReadonlySet<number> = new Set([200, 201, 204, 404, 409, 410, 429, 503]);

/** The server under test, restarted repeatedly on the same records. */
export class RoundServer {
  readonly #database: FaultyDatabase;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #journal: Journal;
  #process: ServerProcess | undefined;
  /** Servers that were sent a signal, or have lost the database. */
  readonly #endingServers = new WeakSet<ServerProcess>();
  #token: string | undefined;
  /** The standby server, behind a supervisor. */
  #secondServer: Promise<ServerProcess> | undefined;
  /** Every other process in the round. */
  readonly #standbys: ServerProcess[] = [];
  #shutdown = new AbortController();

  constructor(database: FaultyDatabase, settings: Readonly<Record<string, string>>, journal: Journal) {
    this.#database = database;
    this.#settings = settings;
    this.#journal = journal;
  }

  /** True even while another server is about to take over. */
  get isAlive(): boolean {
    return this.#process !== undefined || this.#secondServer !== undefined;
  }

  async start(): Promise<void> {
    this.#shutdown = new AbortController();
    this.#setProcess(await this.#run(this.#database.env));
    this.#journal.note("the server has started");
    this.#token ??= await newToken(this.#env(this.#database.env));
  }

  /** Starts a second server, retrying until the database is free. */
  startStandby(): void {
    this.#secondServer = this.#runUntilReady({ ...this.#database.env, ...this.#database.secondEnv });
    this.#secondServer.catch(() => {}); // thrown where it is awaited
  }

  /** Sends no more requests to the server, which may stay alive. */
  abandon(): ServerProcess {
    const first = this.#process!;
    this.#endingServers.add(first);
    this.#standbys.push(first);
    this.#process = undefined;
    return first;
  }

  /** Resolves when the second server works. */
  async waitForTakeover(): Promise<void> {
    const second = await this.#secondServer!;
    this.#secondServer = undefined;
    this.#setProcess(second);
    this.#journal.note("the second server has taken over");
  }

  /** Restarts the first server, which now waits for the database. */
  restart(): void {
    void this.#runUntilReady(this.#database.env).then(
      (server) => {
        this.#standbys.push(server);
        if (!this.#shutdown.signal.aborted)
          this.#journal.reportViolation(
            "a database has one server",
            `process ${server.pid}`,
            "it started while another was running",
          );
      },
      () => {},
    );
  }

  /** Kills the server and all standbys, as a power cut does. */
  async kill(): Promise<void> {
    this.#journal.note("kill -9");
    const exit = this.#end("SIGKILL");
    this.#shutdown.abort();
    await exit;
    await Promise.all(this.#standbys.splice(0).map((server) => server.stop("SIGKILL")));
  }

  /** Stops the server gracefully, or kills it if that takes too long. */
  async stop(): Promise<void> {
    this.#journal.note("SIGTERM");
    const killTimer = setTimeout(() => this.#signal("SIGKILL"), STOP_MS);
    await this.#end("SIGTERM");
    clearTimeout(killTimer);
  }

  pause(): void {
    this.#journal.note("SIGSTOP");
    this.#signal("SIGSTOP");
  }

  resume(): void {
    this.#journal.note("SIGCONT");
    this.#signal("SIGCONT");
  }

  /** Sends a request; returns undefined if there was no response because the server died. */
  async request(
    method: string,
    path: string,
    options: RequestOptions & { readonly json?: unknown } = {},
  ): Promise<HttpResponse | undefined> {
    const server = this.#process;
    if (!server) return undefined;
    const { json, headers, ...otherOptions } = options;
    try {
      const response = await send(method, path.startsWith("http") ? path : server.url + path, {
        timeoutMs: RESPONSE_TIMEOUT_MS,
        ...otherOptions,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      });
      if (!ALLOWED_STATUSES.has(response.status))
        this.#journal.reportViolation(
          "only expected responses",
          `${method} ${path}`,
          `${response.status}: ${response.text.slice(0, 300)}`,
        );
      return response;
    } catch (error) {
      if (this.#process === server && /got no response within/.test(String(error)))
        this.#journal.reportViolation("every request gets a response", `${method} ${path}`, String(error));
      return undefined;
    }
  }

  #run(env: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ServerProcess> {
    const flags = ["--import", WITHOUT_SPEECH];
    return start(RUNTIME, PROGRAM, { args: ["serve"], flags, env: this.#env(env), ...(signal && { signal }) });
  }

  #env(env: Readonly<Record<string, string>>): Record<string, string> {
    return { LOG_LEVEL: "warn", ...this.#settings, ...env };
  }

  /** Restarts the server, as a supervisor does, until it is ready. @throws {Error} it never is */
  async #runUntilReady(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const { signal } = this.#shutdown;
    for (const startedAt = performance.now(); ; )
      try {
        return await this.#run(env, signal);
      } catch (error) {
        if (signal.aborted || performance.now() - startedAt > TAKEOVER_TIMEOUT_MS) throw error;
      }
  }

  #setProcess(server: ServerProcess): void {
    this.#process = server;
    void server.exited.then((code) => this.#onExit(server, code));
  }

  /** Ends the process; the signal is sent before this returns. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process;
    if (!server) return; // it died unexpectedly
    this.#endingServers.add(server);
    const exit = server.stop(signal);
    if (signal === "SIGKILL") this.#process = undefined; // it gets no more requests
    const code = await exit;
    this.#process = undefined;
    this.#journal.note(`the server has ended (${code})${outputOf(server)}`);
  }

  #onExit(server: ServerProcess, code: number | null): void {
    if (this.#endingServers.has(server)) return;
    this.#process = undefined;
    const lines = server
      .output()
      .split("\n")
      .filter((line) => !line.includes(AFTER_STOP));
    const lastLines = lines
      .slice(-MAX_SHOWN)
      .map((line) => line.slice(0, MAX_CHARACTERS))
      .join("\n");
    this.#journal.reportViolation(
      "the server stays up",
      `process ${this.#journal.epoch}`,
      `it ended unexpectedly (${code}):\n${lastLines}`,
    );
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process) process.kill(this.#process.pid, signal);
  }
}

/** A token of the first user; that user may call over trunks. */
async function newToken(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await run(RUNTIME, PROGRAM, { args: ["token", "create", "--user", "admin"], env });
  if (code !== 0) throw new Error(`token create ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** A server's log output, without the welcome message. */
function outputOf(server: ServerProcess): string {
  const lines = server
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const loggedLines = lines.filter((line) => !line.includes(AFTER_STOP)).slice(0, MAX_LOGGED);
  return loggedLines.length === 0 ? "" : `, it logged:\n${loggedLines.join("\n")}`;
}
