import { join } from "node:path";
import { createRingport, type Ringport, type RingportOptions } from "ringport";
import { afterAll, beforeAll } from "vitest";
import { createLog } from "../../adapters/cli/serve/log.ts";
import { serverAdapter } from "../../adapters/cli/serve/server-adapter.ts";
import { SETTINGS } from "../../adapters/cli/settings/all-settings.ts";
import { readSettings } from "../../adapters/cli/settings/read-settings.ts";
import type { Listening } from "../../adapters/server/listening.ts";
import { Client, expected, type TestServer } from "./server-client.ts";
import { type Rows, readRows } from "./server-database.ts";
import type { OpenApi } from "./server-document.ts";
import { type HttpResponse, send } from "./server-http.ts";
import { temporaryFolder } from "./temporary-folder.ts";

type Settings = Readonly<Record<string, string | undefined>>;

/** A token and its scopes. */
interface TokenLimits {
  readonly demoInstanceId?: string;
  readonly allowedPrefixes?: readonly string[];
  readonly maxCallsPerDay?: number;
}

/**
 * A Ringport on SQLite that listens in this process, for tests of the HTTP contract. `Server` of `server.ts` is the same in a separate process, for tests that need one.
 */
export class LocalServer implements TestServer {
  readonly #env: Settings;
  readonly #options: RingportOptions;
  readonly #data = temporaryFolder("local-server");
  readonly #lines: string[] = [];
  readonly #clients = new Map<string, Promise<Client>>();
  readonly #tokenIds = new Map<string, string>();
  #ringport: Ringport | undefined;
  #listening: Listening | undefined;
  #base = "";
  #document: OpenApi | undefined;

  /**
   * @param env settings, as `ringport serve` reads them
   * @param options the programmatic options
   */
  constructor(env: Settings = {}, options: RingportOptions = {}) {
    this.#options = options;
    this.#env = { PORT: "0", LOG_LEVEL: "warn", RINGPORT_SIMULATOR_TIME_SCALE: "0.1", ...env };
  }

  /** URL of the server, base path included, without a slash at the end. */
  get base(): string {
    return this.#base;
  }

  get document(): OpenApi | undefined {
    return this.#document;
  }

  /** All log messages so far. */
  get output(): string {
    return this.#lines.join("\n");
  }

  /** Starts the server on its existing data. */
  async start(): Promise<void> {
    const env = { ...this.#env, RINGPORT_DATA: this.#data };
    const settings = readSettings(SETTINGS, { values: new Map(), operands: [] }, env);
    const { options, port, hostname, logLevel } = settings;
    const log = createLog({ level: logLevel ?? "warn", pretty: false, write: (text) => void this.#lines.push(text) });
    const ringport = createRingport({ ...options, ...this.#options, log });
    const { serve } = await serverAdapter();
    const listeningAt = (url: string): void => {
      this.#base = url + (options.basePath ?? "");
      ringport.listeningAt(url);
    };
    this.#listening = await serve({ ...ringport, listeningAt }, { port, hostname });
    this.#ringport = ringport;
    await ringport.start();
    this.#document = expected(200, await send("GET", `${this.base}/openapi.json`)).json<OpenApi>();
  }

  async stop(): Promise<void> {
    await this.#ringport?.stop();
    await this.#listening?.close();
    this.#ringport = this.#listening = undefined;
  }

  /** Issues a token, as `ringport token create` does. */
  async token(userName: string, limits: TokenLimits = {}): Promise<string> {
    if (!this.#ringport) throw new Error("the server is not running");
    const { id, token } = await this.#ringport.tokens.issue({ userName, label: "test", ...limits });
    this.#tokenIds.set(token, id);
    return token;
  }

  /** Revokes a token that `token()` has issued. */
  async revoke(token: string): Promise<void> {
    await this.#ringport?.tokens.revoke(this.#tokenIds.get(token) ?? "");
  }

  /** A client with a token of this user; always the same one. */
  as(user: string): Promise<Client> {
    const client = this.#clients.get(user) ?? this.token(user).then((token) => this.client(token));
    this.#clients.set(user, client);
    return client;
  }

  /** A client with this token, or with none. */
  client(token?: string): Client {
    return new Client(this, token);
  }

  /** Sends a request without a token and without checking the document. */
  request(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
    return send(method, this.base + path, { headers });
  }

  /** All rows of its database. */
  rows(): Promise<Rows> {
    return readRows({ file: join(this.#data, "ringport.sqlite") });
  }
}

/** A server that runs during the tests of the surrounding `describe`, or of the file. */
export function useLocalServer(env: Settings = {}, options: RingportOptions = {}): LocalServer {
  const server = new LocalServer(env, options);
  beforeAll(() => server.start());
  afterAll(() => server.stop());
  return server;
}
