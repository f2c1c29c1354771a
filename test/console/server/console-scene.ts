import { withConsole } from "../../../adapters/console/index.ts";
import type { ConsoleOptions } from "../../../adapters/console/server/console-options.ts";
import type { CallStatistics, OpenNetwork } from "../../../src/application/use-cases.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Reply, SocketHandlers } from "../../../src/ports/web.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { type DecodedReply, decodedReply, requestOf } from "../../http/support/ask.ts";
import { type Parts, serve } from "../../http/support/fakes.ts";
import { FakeAccounts, FIRST_CODE, PASSWORD } from "./fake-accounts.ts";

/** Headers that a browser sends with requests from a page to its own server. */
export const FROM_PAGE = { "sec-fetch-site": "same-origin" } as const;

/** A request that a test sends. */
export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** A console over fake use cases. */
export interface Scene {
  readonly app: Ringport;
  readonly accounts: FakeAccounts;
  readonly system: ManualSystem;
  /** Every logged line. */
  readonly logged: { level: string; fields: Readonly<Record<string, unknown>>; message: string }[];
  /** Sends a request with exactly these headers. */
  send(request: TestRequest): Promise<DecodedReply>;
  upgrade(request: TestRequest): Promise<Reply | SocketHandlers>;
  /** A browser, which keeps its cookie. */
  browser(): Browser;
  /** A browser in which the first person has registered: an administrator. */
  admin(): Promise<Browser>;
  /** A browser in which a user has registered with an invitation. */
  member(admin: Browser): Promise<Browser>;
}

export interface Browser {
  /** The cookie of its session. */
  cookie: string | undefined;
  /** Cookie that marks it as a browser that has signed in. */
  device: string | undefined;
  /** Sends a request from a page of the console. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<DecodedReply>;
}

export interface SceneOptions extends ConsoleOptions {
  readonly http?: Parts;
  readonly basePath?: string;
  readonly publicUrl?: string;
  readonly streamPreview?: boolean;
}

export function consoleScene({
  http = {},
  basePath = "",
  publicUrl,
  streamPreview = false,
  ...options
}: SceneOptions = {}): Scene {
  const system = new ManualSystem();
  const accounts = new FakeAccounts(system);
  const { app: core, logLines: logged } = serve({ ...http, http: { basePath, ...http.http } });
  const log = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void logged.push({ level, fields, message });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const callSummary = async ({ userId }: Principal): Promise<CallStatistics> => ({
    days: [{ day: "2026-11-27", completed: 1, failed: 2 }],
    failures: [{ reason: "busy", calls: userId === "usr_anna" ? 2 : 1 }],
  });
  const networks = async (): Promise<OpenNetwork[]> => [
    { name: "simulator", linking: "code", receivesAudio: true, callerIds: "*" },
  ];
  const ringport = {
    ...core,
    accounts,
    absence: () => undefined,
    acceptsOwnTokens: true,
    basePath,
    publicUrl,
    streamPreview,
    callSummary,
    networks,
  } as unknown as Ringport;
  const app = withConsole(ringport, { system, log: logger, assets: [], ...options });

  const request = ({ headers, body, ...requestOptions }: TestRequest) =>
    requestOf({
      ...requestOptions,
      token: null,
      ...(body !== undefined && { body }),
      headers: { host: "127.0.0.1:8080", ...headers },
    });
  const send = async (testRequest: TestRequest): Promise<DecodedReply> =>
    decodedReply(await app.handle(request(testRequest)));

  function browser(): Browser {
    const self: Browser = {
      cookie: undefined,
      device: undefined,
      async request(method, path, body, headers = {}) {
        const reply = await send({
          method,
          path: `${basePath}/console${path}`,
          body,
          headers: {
            ...FROM_PAGE,
            ...((self.cookie ?? self.device) && {
              cookie: [self.cookie, self.device].filter((cookie) => cookie !== undefined).join("; "),
            }),
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
        });
        const [pair = ""] = (reply.headers["set-cookie"] ?? "").split(";");
        if (/^(?:__Secure-)?ringport_device/.test(pair)) self.device = pair;
        else if (pair !== "") self.cookie = pair.endsWith("=") ? undefined : pair;
        return reply;
      },
    };
    return self;
  }

  async function registerBrowser(email: string, code: string): Promise<Browser> {
    const newBrowser = browser();
    const reply = await newBrowser.request("POST", "/api/register", { email, password: PASSWORD, code });
    if (reply.status !== 200) throw new Error(reply.text);
    return newBrowser;
  }

  return {
    app,
    accounts,
    system,
    logged,
    send,
    upgrade: (testRequest) => app.upgrade(request(testRequest)),
    browser,
    admin: () => registerBrowser("ada@example.com", FIRST_CODE),
    async member(admin) {
      const { url } = (await admin.request("POST", "/api/invitations")).json;
      return registerBrowser("ben@example.com", new URL(url).hash.slice("#code=".length));
    },
  };
}
