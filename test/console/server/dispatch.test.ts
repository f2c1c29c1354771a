import { describe, expect, test } from "vitest";
import { AUDITED_ACTS } from "../../../adapters/console/server/audited-acts.ts";
import type { CallUseCases } from "../../../src/application/use-cases.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { guardedHttpPorts } from "../../../src/http/dependencies.ts";
import { allRoutes } from "../../../src/http/routes/all-routes.ts";
import type { NetworkPages } from "../../../src/ports/network-pages.ts";
import type { RequestLike, Socket, SocketHandlers } from "../../../src/ports/web.ts";
import { CALL_ID, call, dependencies, event, eventPage, INSTANCE_ID } from "../../http/support/fakes.ts";
import { WEBHOOK_ID } from "../../http/support/webhook-fakes.ts";
import { consoleScene, FROM_PAGE } from "./console-scene.ts";

const rejectTokens = () => Promise.reject(new Error("a token was checked"));

describe("the HTTP interface under the console", () => {
  test("serves the signed-in user with that user's data", async () => {
    const callers: Principal[] = [];
    const list: CallUseCases["list"] = async (caller) => {
      callers.push(caller);
      return [call()];
    };
    const scene = consoleScene({ http: { calls: { list }, http: { authenticate: rejectTokens } } });
    const admin = await scene.admin();
    const member = await scene.member(admin);
    expect((await admin.request("GET", "/v1/calls?limit=5")).json).toHaveLength(1);
    await member.request("GET", "/v1/calls");
    expect(callers.map(({ userId }) => userId)).toEqual(["usr_acct_1", "usr_acct_6"]);
  });

  test("accepts no token, and no cookie elsewhere", async () => {
    const scene = consoleScene();
    const { cookie = "" } = await scene.admin();
    const token = { authorization: "Bearer rp_live_anna" };
    expect((await scene.send({ path: "/console/v1/calls", headers: { ...FROM_PAGE, ...token } })).status).toBe(401);
    expect((await scene.send({ path: "/v1/calls", headers: { ...FROM_PAGE, cookie } })).status).toBe(401);
    expect((await scene.send({ path: "/v1/calls", headers: { cookie, ...token } })).status).toBe(200);
  });

  test.each([
    "/console/../v1/calls",
    "/console/%2e%2e/v1/calls",
    "/v1/calls?x=/console/",
    "//console/v1/calls",
    "/Console/v1/calls",
  ])("is not under %s", async (path) => {
    const scene = consoleScene();
    const { cookie = "" } = await scene.admin();
    expect((await scene.send({ path, headers: { ...FROM_PAGE, cookie } })).status).not.toBe(200);
  });

  test("gets everything except cookies and tokens", async () => {
    const receivedRequests: RequestLike[] = [];
    const pages: NetworkPages = {
      prefix: "simulator",
      page: async (_path, request) => {
        receivedRequests.push(request);
        return { status: 200, headers: { "content-type": "text/plain" }, body: "a page" };
      },
    };
    const scene = consoleScene({ basePath: "/voice", http: { http: { pages: [pages] } } });
    const browser = await scene.admin();
    const headers = { authorization: "Bearer x", Accept: "text/x", "x-request-id": "mine" };
    const reply = await browser.request("GET", "/simulator/link/a?b=c", undefined, headers);
    expect([reply.status, reply.text, reply.headers["x-request-id"]]).toEqual([200, "a page", "mine"]);
    const [request] = receivedRequests;
    expect(["cookie", "Cookie", "authorization", "accept"].map((name) => request?.headers.get(name))).toEqual([
      ...[null, null, null],
      "text/x",
    ]);
    expect(request?.url).toBe("http://127.0.0.1:8080/voice/simulator/link/a?b=c");
  });

  test("does not log the code in a link page's path", async () => {
    const page = async () => ({ status: 200, headers: {}, body: "" });
    const scene = consoleScene({ http: { http: { pages: [{ prefix: "simulator", page }] } } });
    await scene.browser().request("GET", "/simulator/link/0123456789abcdef");
    expect(scene.logged.at(-1)).toMatchObject({
      message: "request",
      fields: { path: "/console/simulator/…", status: 401 },
    });
    await (await scene.admin()).request("GET", "/simulator/link/0123456789abcdef");
    expect(JSON.stringify(scene.logged)).not.toContain("0123456789abcdef");
  });

  test("lets no other origin read, whatever CORS allows", async () => {
    const browser = await consoleScene({ http: { http: { cors: true } } }).admin();
    const { headers, status } = await browser.request("GET", "/v1/calls", undefined, {
      origin: "https://app.example.com",
    });
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("is subject to the user's rate limit", async () => {
    const scene = consoleScene({ http: { http: { rateLimit: { limit: 2, windowMs: 60_000 } } } });
    const admin = await scene.admin();
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await admin.request("GET", "/v1/calls")).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await (await scene.member(admin)).request("GET", "/v1/calls")).status).toBe(200);
  });

  test("is logged once, with the user", async () => {
    const scene = consoleScene();
    const admin = await scene.admin();
    scene.logged.length = 0;
    await admin.request("GET", "/v1/calls");
    await admin.request("GET", "/api/tokens?x=1");
    expect(scene.logged.map(({ message, fields }) => [message, fields.path, fields.status, fields.user_id])).toEqual([
      ["request", "/v1/calls", 200, "usr_acct_1"],
      ["request", "/console/api/tokens", 200, "usr_acct_1"],
    ]);
  });
});

describe("the audit log", () => {
  test("has every change that needs the admin scope", () => {
    const shape = (path: string) => path.replace(/:\w+/g, ":");
    const changes = allRoutes(guardedHttpPorts(dependencies()))
      .filter(({ method, operation }) => method !== "GET" && operation.access === "admin")
      .map(({ method, path }) => `${method} ${shape(path)}`);
    expect(AUDITED_ACTS.map(({ method, path }) => `${method} ${shape(path)}`).sort()).toEqual(changes.sort());
  });

  test("records successes and their subjects", async () => {
    const scene = consoleScene({ http: { calls: { eraseRecording: async () => undefined } } });
    const admin = await scene.admin();
    const requests: readonly [string, string, unknown?][] = [
      ["POST", "/v1/instances", { name: "Front desk" }],
      ["PATCH", `/v1/instances/${INSTANCE_ID}`, { name: "Back desk" }],
      ["POST", `/v1/instances/${INSTANCE_ID}/unlink`],
      ["POST", "/v1/instances/inst_unknown/unlink"],
      ["DELETE", `/v1/calls/${CALL_ID}/recording`],
      ["POST", `/v1/webhooks/${WEBHOOK_ID}/test`],
      ["DELETE", `/v1/instances/${INSTANCE_ID.replace("_", "%5F")}`],
      ["DELETE", "/v1/instances/inst_unknown"],
      ["POST", "/v1/calls", {}],
      ["GET", `/v1/instances/${INSTANCE_ID}`],
    ];
    for (const [method, path, body] of requests) await admin.request(method, path, body);
    expect(scene.accounts.auditNotes.map(({ action, subject }) => [action, subject])).toEqual([
      ["instance.created", INSTANCE_ID],
      ["instance.changed", INSTANCE_ID],
      ["instance.unlinked", INSTANCE_ID],
      ["recording.deleted", CALL_ID],
      ["webhook.tested", WEBHOOK_ID],
      ["instance.deleted", INSTANCE_ID],
    ]);
    expect((await admin.request("GET", "/api/audit")).json[0]).toMatchObject({
      action: "instance.created",
      subject: INSTANCE_ID,
    });
  });

  test("does not undo an action that it cannot record", async () => {
    const scene = consoleScene();
    const admin = await scene.admin();
    scene.accounts.note = () => Promise.reject(new Error("the disk is full"));
    expect((await admin.request("DELETE", `/v1/instances/${INSTANCE_ID}`)).status).toBe(204);
    expect(scene.logged).toContainEqual(
      expect.objectContaining({ message: "the action could not be recorded in the audit log" }),
    );
  });
});

describe("an event stream", () => {
  const accept = { accept: "text/event-stream" };

  test("ends when the session has ended, with the next event or heartbeat", async () => {
    const nextEvents = async () => eventPage({ events: [event()] });
    const scene = consoleScene({ http: { queries: { nextEvents } } });
    const admin = await scene.admin();
    const { raw } = await admin.request("GET", "/v1/events", undefined, accept);
    const pieces = (raw.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    for (let i = 0; i < 3; i++) expect((await pieces.next()).done).toBe(false);
    await admin.request("POST", "/api/sign-out", {});
    expect((await pieces.next()).done).toBe(false); // checked at most once a second
    await scene.system.advance(1_000);
    expect((await pieces.next()).done).toBe(true);
  });

  test("continues while the session cannot be checked", async () => {
    const scene = consoleScene();
    const admin = await scene.admin();
    const { raw } = await admin.request("GET", "/v1/events", undefined, accept);
    const pieces = (raw.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    scene.accounts.session = () => Promise.reject(new Error("the storage is down"));
    await scene.system.advance(5_000);
    expect((await pieces.next()).done).toBe(false);
    await pieces.return?.();
  });
});

describe("a WebSocket", () => {
  const path = `/console/v1/calls/${CALL_ID}/stream`;
  const headers = { upgrade: "websocket", connection: "Upgrade", origin: "http://127.0.0.1:8080" };

  function streamScene() {
    const attachment = { detach() {}, write() {}, queuedMs: 0 };
    const attachedClients: { callee(frame: Int16Array): void }[] = [];
    const reservation = {
      release() {},
      attach(client: (typeof attachedClients)[number]) {
        attachedClients.push(client);
        return attachment;
      },
    };
    const stream = async () => reservation;
    const scene = consoleScene({
      http: { calls: { stream } as unknown as Partial<CallUseCases>, http: { streamPreview: true } },
    });
    return { scene, attachedClients };
  }

  test.each(["", "?for=listen"])("needs the session, not a ticket: stream-ticket%s", async (end) => {
    const get = async () => call();
    const calls = { streamable: get, get, listen: get } as unknown as Partial<CallUseCases>;
    const scene = consoleScene({ http: { calls, http: { streamPreview: true } } });
    const admin = await scene.admin();
    const { status, json } = await admin.request("POST", `/v1/calls/${CALL_ID}/stream-ticket${end}`);
    const kind = end === "?for=listen" ? "listen" : "stream";
    expect(status).toBe(201);
    expect(json).toMatchObject({ ticket: "session", expires_at: expect.any(String) });
    expect(json.url).toMatch(new RegExp(`^ws.*/console/v1/calls/${CALL_ID}/${kind}\\?ticket=session$`));
    const reply = await scene.upgrade({
      path: `/v1/calls/${CALL_ID}/${kind}?ticket=${json.ticket}`,
      headers: { upgrade: "websocket", connection: "Upgrade" },
    });
    expect(reply).toMatchObject({ status: 401 });
  });

  class FakeSocket implements Socket {
    readonly sentMessages: (string | Uint8Array)[] = [];
    closeCode: number | undefined;
    readonly bufferedAmount = 0;
    send(data: string | Uint8Array): void {
      this.sentMessages.push(data);
    }
    async drained(): Promise<void> {}
    close(code?: number): void {
      this.closeCode = code;
    }
  }

  test("opens for our own page, with its session", async () => {
    const { scene } = streamScene();
    const { cookie = "" } = await scene.admin();
    expect(await scene.upgrade({ path, headers: { ...headers, cookie } })).toHaveProperty("message");
  });

  test.each([
    ["without an origin", { origin: undefined }, "cross_site"],
    ["of another origin", { origin: "https://evil.example" }, "cross_site"],
    ["of another site", { "sec-fetch-site": "cross-site" }, "cross_site"],
    ["without a session", { cookie: "" }, "unauthorized"],
    ["with a token alone", { cookie: "", authorization: "Bearer rp_live_anna" }, "unauthorized"],
  ] as const)("is refused %s", async (_, overrides, code) => {
    const { scene, attachedClients } = streamScene();
    const { cookie = "" } = await scene.admin();
    const headerEntries = Object.entries({ ...headers, cookie, ...overrides }).filter(
      ([, value]) => value !== undefined,
    );
    const reply = await scene.upgrade({ path, headers: Object.fromEntries(headerEntries) as Record<string, string> });
    expect(reply).toMatchObject({
      headers: { "x-frame-options": "DENY" },
      body: expect.stringContaining(`"${code}"`),
    });
    expect(attachedClients).toEqual([]);
  });

  test("closes once the session has ended", async () => {
    const { scene, attachedClients } = streamScene();
    const admin = await scene.admin();
    const handlers = (await scene.upgrade({
      path,
      headers: { ...headers, cookie: admin.cookie ?? "" },
    })) as SocketHandlers;
    const socket = new FakeSocket();
    handlers.open?.(socket);
    await admin.request("POST", "/api/sign-out", {});
    await scene.system.advance(1_000);
    expect(socket.closeCode).toBeUndefined();
    handlers.message(socket, "{}");
    await Promise.resolve();
    await expect.poll(() => socket.closeCode).toBe(4001);
    expect(attachedClients).toHaveLength(1);
  });

  test("closes without any traffic, and leaves no timer", async () => {
    const { scene } = streamScene();
    const admin = await scene.admin();
    const handlers = (await scene.upgrade({
      path,
      headers: { ...headers, cookie: admin.cookie ?? "" },
    })) as SocketHandlers;
    const socket = new FakeSocket();
    const timersBefore = scene.system.waiting;
    handlers.open?.(socket);
    await scene.system.advance(60_000);
    expect(socket.closeCode).toBeUndefined();
    await admin.request("POST", "/api/sign-out", {});
    await scene.system.advance(10_000);
    await expect.poll(() => socket.closeCode).toBe(4001);
    handlers.close?.(socket, 4001, "");
    expect(scene.system.waiting).toBe(timersBefore);
  });

  test("elsewhere in the console is an ordinary request", async () => {
    const { scene } = streamScene();
    expect(await scene.upgrade({ path: "/console/api/session", headers })).toMatchObject({ status: 200 });
    expect(await scene.upgrade({ path: "/console/api/nothing", headers })).toMatchObject({ status: 404 });
  });
});
