import process from "node:process";
import { fileURLToPath } from "node:url";
import { run, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { type Answer, type Sending, send } from "../support/server-http.ts";
import type { Journal } from "./journal.ts";
import type { Place } from "./place.ts";

/** The built program, which starts in a third of the time of the sources; `PROGRAM` names another one. */
const PROGRAM = process.env.PROGRAM ?? fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const RUNTIME = runtimes.find(({ name }) => name === "node26")!;
/** Time for a server to stop before it is killed, ms. */
const STOP_MS = 2_000;
const ANSWER_MS = 20_000;
/** Time within which a second server takes over on a busy machine, ms. */
const TAKEN_WITHIN_MS = 30_000;
const MAX_LOGGED = 100;
/** Number of lines, and of characters in each, of a server's last output. */
const MAX_SHOWN = 8;
const MAX_CHARACTERS = 300;
/** The server's message for requests after its end. */
const AFTER_STOP = "a request came, but Ringport is not running";
/** Allowed responses to valid requests. */
const FORESEEN: ReadonlySet<number> = new Set([200, 201, 204, 404, 409, 410, 429, 503]);

/** The server under test, restarted repeatedly on the same records. */
export class RoundServer {
  readonly #place: Place;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #journal: Journal;
  #process: ServerProcess | undefined;
  /** Servers that were sent a signal, or have lost the database. */
  readonly #ending = new WeakSet<ServerProcess>();
  #token: string | undefined;
  /** The standby server, behind a supervisor. */
  #second: Promise<ServerProcess> | undefined;
  /** Every other process of the round. */
  readonly #others: ServerProcess[] = [];
  #over = new AbortController();

  constructor(place: Place, settings: Readonly<Record<string, string>>, journal: Journal) {
    this.#place = place;
    this.#settings = settings;
    this.#journal = journal;
  }

  /** Applies even while another server is about to take over. */
  get alive(): boolean {
    return this.#process !== undefined || this.#second !== undefined;
  }

  async start(): Promise<void> {
    this.#over = new AbortController();
    this.#serves(await this.#run(this.#place.env));
    this.#journal.note("the server has started");
    this.#token ??= await newToken(this.#env(this.#place.env));
  }

  /** Starts a second server, retrying until the database is free. */
  standBy(): void {
    this.#second = this.#supervised({ ...this.#place.env, ...this.#place.secondEnv });
    this.#second.catch(() => {}); // thrown where it is awaited
  }

  /** Sends no more requests to the server, which may stay alive. */
  giveUp(): ServerProcess {
    const first = this.#process!;
    this.#ending.add(first);
    this.#others.push(first);
    this.#process = undefined;
    return first;
  }

  /** Resolves when the second server works. */
  async takenOver(): Promise<void> {
    const second = await this.#second!;
    this.#second = undefined;
    this.#serves(second);
    this.#journal.note("the second server has taken over");
  }

  /** Restarts the first server, which now waits for the database. */
  startAgain(): void {
    void this.#supervised(this.#place.env).then(
      (started) => {
        this.#others.push(started);
        if (!this.#over.signal.aborted)
          this.#journal.violated(
            "a database has one server",
            `process ${started.pid}`,
            "it has started beside another",
          );
      },
      () => {},
    );
  }

  /** Kills it, and every other one, as a power cut does. */
  async kill(): Promise<void> {
    this.#journal.note("kill -9");
    const ended = this.#end("SIGKILL");
    this.#over.abort();
    await ended;
    await Promise.all(this.#others.splice(0).map((one) => one.stop("SIGKILL")));
  }

  /** Stops it gracefully, or kills it when that takes too long. */
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

  /** Sends a request; undefined if there was no response because the server died. */
  async ask(
    method: string,
    path: string,
    sending: Sending & { readonly json?: unknown } = {},
  ): Promise<Answer | undefined> {
    const server = this.#process;
    if (!server) return undefined;
    const { json, headers, ...rest } = sending;
    try {
      const answer = await send(method, path.startsWith("http") ? path : server.url + path, {
        timeoutMs: ANSWER_MS,
        ...rest,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      });
      if (!FORESEEN.has(answer.status))
        this.#journal.violated(
          "only foreseen answers",
          `${method} ${path}`,
          `${answer.status}: ${answer.text.slice(0, 300)}`,
        );
      return answer;
    } catch (error) {
      if (this.#process === server && /got no response within/.test(String(error)))
        this.#journal.violated("every request is answered", `${method} ${path}`, String(error));
      return undefined;
    }
  }

  #run(place: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ServerProcess> {
    return start(RUNTIME, PROGRAM, { args: ["serve"], env: this.#env(place), ...(signal && { signal }) });
  }

  #env(place: Readonly<Record<string, string>>): Record<string, string> {
    return { LOG_LEVEL: "warn", ...this.#settings, ...place };
  }

  /** Restarts it, as a supervisor does, until it serves. @throws {Error} it never does */
  async #supervised(place: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const { signal } = this.#over;
    for (const begun = performance.now(); ; )
      try {
        return await this.#run(place, signal);
      } catch (error) {
        if (signal.aborted || performance.now() - begun > TAKEN_WITHIN_MS) throw error;
      }
  }

  #serves(server: ServerProcess): void {
    this.#process = server;
    void server.gone.then((code) => this.#died(server, code));
  }

  /** The signal is sent before this returns. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process;
    if (!server) return; // it has died unprompted
    this.#ending.add(server);
    const exit = server.stop(signal);
    if (signal === "SIGKILL") this.#process = undefined; // it gets no more requests
    const code = await exit;
    this.#process = undefined;
    this.#journal.note(`the server is gone (${code})${printed(server)}`);
  }

  #died(server: ServerProcess, code: number | null): void {
    if (this.#ending.has(server)) return;
    this.#process = undefined;
    const lines = server
      .output()
      .split("\n")
      .filter((line) => !line.includes(AFTER_STOP));
    const last = lines
      .slice(-MAX_SHOWN)
      .map((line) => line.slice(0, MAX_CHARACTERS))
      .join("\n");
    this.#journal.violated(
      "the server lives",
      `process ${this.#journal.epoch}`,
      `it ended by itself (${code}):\n${last}`,
    );
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process) process.kill(this.#process.pid, signal);
  }
}

/** A token of the first user, who may call over trunks. */
async function newToken(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await run(RUNTIME, PROGRAM, { args: ["token", "create", "--user", "admin"], env });
  if (code !== 0) throw new Error(`token create ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** Its output after the welcome. */
function printed(server: ServerProcess): string {
  const lines = server
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const some = lines.filter((line) => !line.includes(AFTER_STOP)).slice(0, MAX_LOGGED);
  return some.length === 0 ? "" : `, it logged:\n${some.join("\n")}`;
}
