import { describe, expect, test } from "vitest";
import type { CallUseCases } from "../../src/application/use-cases.ts";
import type { Principal } from "../../src/domain/access/principal.ts";
import type { Reply, RequestLike, SocketHandlers } from "../../src/ports/web.ts";
import { decodedReply, requestOf } from "./support/ask.ts";
import { CALL_ID, call, NOW, serve } from "./support/fakes.ts";

const ANNA: Principal = { userId: "usr_anna" };
const refuseTokenCheck = () => Promise.reject(new Error("a token was checked"));

/** A request whose Authorization header must not be read. */
function unsignedRequest(path: string, method = "GET"): RequestLike {
  const { headers, ...request } = requestOf({ path, method, token: null });
  const get = (name: string): string | null => {
    if (name.toLowerCase() === "authorization") throw new Error("the Authorization header was read");
    return headers.get(name);
  };
  return { ...request, headers: { get } };
}

/** Serves calls with reservable streams, and records the caller of each reservation. */
function withStreams() {
  const callers: Principal[] = [];
  const reservation = { release: () => {}, attach: () => Promise.reject(new Error("no client attaches")) };
  const calls = {
    streamable: async () => call(),
    stream: async (caller: Principal) => {
      callers.push(caller);
      return reservation;
    },
  } as unknown as Partial<CallUseCases>;
  return { ...serve({ calls, http: { streamPreview: true, authenticate: refuseTokenCheck } }), callers };
}

describe("a caller authenticated by the program", () => {
  test("is passed to the use cases, and no token is read", async () => {
    const callers: Principal[] = [];
    const list = async (caller: Principal) => {
      callers.push(caller);
      return [call()];
    };
    const { app } = serve({ calls: { list }, http: { authenticate: refuseTokenCheck } });
    expect((await app.handle(unsignedRequest("/v1/calls"), ANNA)).status).toBe(200);
    expect(callers).toEqual([ANNA]);
  });

  test("is limited to its scopes", async () => {
    const { app } = serve({ http: { authenticate: refuseTokenCheck } });
    const reader: Principal = { ...ANNA, scopes: ["read"] };
    expect((await app.handle(unsignedRequest("/v1/calls"), reader)).status).toBe(200);
    const refusal = decodedReply(await app.handle(unsignedRequest(`/v1/calls/${CALL_ID}`, "DELETE"), reader));
    expect([refusal.status, refusal.json.code]).toEqual([403, "insufficient_scope"]);
  });

  test("is rate-limited on every route", async () => {
    const artefact = async (): Promise<Reply> => ({ status: 200, headers: {}, body: "RIFF" });
    const page = async () => undefined;
    const { app } = serve({
      http: {
        rateLimit: { limit: 2, windowMs: 60_000 },
        authenticate: refuseTokenCheck,
        pages: [{ prefix: "simulator", page, artefact }],
        system: { now: () => NOW, monotonic: () => 0, random: () => {}, after: () => () => {} },
      },
    });
    const recordingPath = `/simulator/calls/${CALL_ID}/heard.wav`;
    expect((await app.handle(unsignedRequest("/v1/calls"), ANNA)).headers.ratelimit).toMatch(/r=1;/);
    expect((await app.handle(unsignedRequest(recordingPath), ANNA)).headers.ratelimit).toMatch(/r=0;/);
    expect((await app.handle(unsignedRequest(recordingPath), ANNA)).status).toBe(429);
    expect((await app.handle(unsignedRequest("/v1/calls"), { userId: "usr_ben" })).status).toBe(200);
  });

  test("follows events", async () => {
    const { app } = serve({ http: { authenticate: refuseTokenCheck } });
    const request = unsignedRequest("/v1/events");
    const get = (name: string) => (name === "accept" ? "text/event-stream" : request.headers.get(name));
    const response = await app.handle({ ...request, headers: { get } }, ANNA);
    expect([response.status, response.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    const pieces = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    expect(new TextDecoder().decode((await pieces.next()).value)).toContain("data: {");
    await pieces.return?.();
  });

  test("opens a stream", async () => {
    const { app, callers } = withStreams();
    const handlers = (await app.upgrade(unsignedRequest(`/v1/calls/${CALL_ID}/stream`), ANNA)) as SocketHandlers;
    expect(handlers.message).toBeTypeOf("function");
    expect(callers).toEqual([ANNA]);
  });

  test("gets a ticket that opens the stream as the same caller, once", async () => {
    const { app, callers } = withStreams();
    const scopedCaller: Principal = { ...ANNA, scopes: ["call"] };
    const ticketResponse = decodedReply(
      await app.handle(unsignedRequest(`/v1/calls/${CALL_ID}/stream-ticket`, "POST"), scopedCaller),
    );
    expect(ticketResponse.status).toBe(201);
    const path = `/v1/calls/${CALL_ID}/stream?ticket=${ticketResponse.json.ticket}`;
    expect(await app.upgrade(unsignedRequest(path))).toHaveProperty("message");
    expect(callers).toEqual([scopedCaller]);
    expect(await app.upgrade(unsignedRequest(path))).toMatchObject({ status: 401 });
  });

  test("is not taken from the request", async () => {
    const { app } = serve();
    const request = { ...requestOf({ path: "/v1/calls", token: null }), principal: ANNA };
    expect((await app.handle(request)).status).toBe(401);
    expect(await app.upgrade(request)).toMatchObject({ status: 401 });
  });
});
