import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, keysOf, MISSING_IDS, TIMESTAMP } from "../../support/response-shapes.ts";
import type { Client } from "../../support/server-client.ts";
import { STREAMS, streamCall } from "../../support/stream-calls.ts";
import { connectStream, openStream, StreamRefused } from "../../support/stream-client.ts";

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
/** Only the documented headers. */
const DOCUMENTED_HEADERS = { connection: "Upgrade", upgrade: "websocket" };
const streamPath = (call: string, query = ""): string => `/v1/calls/${call}/stream${query}`;

const server = useLocalServer({ ...STREAMS, LOG_LEVEL: "debug", RINGPORT_STREAM_ATTACH_MS: "10000" });

describe("before the upgrade", () => {
  test("a request gets 401, 400, 404, 409 or 426, in this order", async () => {
    const { call, client, open } = await streamCall(server);
    const messageCall = await client.call((await client.createInstance()).id);
    for (const headers of [{}, DOCUMENTED_HEADERS, UPGRADE]) {
      expectProblem(await server.client().get(streamPath(call.id, "?encoding=x"), headers), 401, "unauthorized");
      expectProblem(await client.get(streamPath(MISSING_IDS.call, "?encoding=x"), headers), 400, "invalid_request");
      expectProblem(await client.get(streamPath(MISSING_IDS.call), headers), 404, "call_not_found");
      expectProblem(await client.get(streamPath("x%00"), headers), 404, "call_not_found");
      expectProblem(await (await server.as("eve")).get(streamPath(call.id), headers), 404, "call_not_found");
      expectProblem(await client.get(streamPath(messageCall.id), headers), 409, "not_a_stream_call");
    }
    const post = await server.client().send("POST", streamPath(call.id), { headers: DOCUMENTED_HEADERS });
    expectProblem(post, 401, "unauthorized");
    expectProblem(
      await client.send("POST", streamPath(call.id), { headers: DOCUMENTED_HEADERS }),
      405,
      "method_not_allowed",
    );
    const documentedResponse = await server.request("GET", streamPath(call.id), {
      ...DOCUMENTED_HEADERS,
      authorization: `Bearer ${client.token}`,
    });
    expect([documentedResponse.status, documentedResponse.headers["sec-websocket-version"]]).toEqual([426, "13, 8"]);
    const plainResponse = await client.get(streamPath(call.id));
    expectProblem(plainResponse, 426, "upgrade_required");
    expect(plainResponse.headers.upgrade).toBe("websocket");
    const stream = await open();
    for (const headers of [{}, UPGRADE])
      expectProblem(await client.get(streamPath(call.id), headers), 409, "stream_already_attached");
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await stream.closed()).toMatchObject({ code: 4010 });
    for (const headers of [{}, UPGRADE])
      expectProblem(await client.get(streamPath(call.id), headers), 409, "call_ended");
  });

  test.for<[query: string, parameters: string[]]>([
    ["?encoding=opus", ["encoding"]],
    ["?sample_rate=11025", ["sample_rate"]],
    ["?sample_rate=8000.0&audio=both", ["audio", "sample_rate"]],
    ["?encoding=mulaw&encoding=mulaw", ["encoding"]],
    ["?protocol=h323", ["protocol"]],
    ["?encoding=", ["encoding"]],
  ])("%s is refused with 400, which names every wrong parameter", async ([query, parameters]) => {
    const client = await server.as("ada");
    const { errors = [] } = expectProblem(
      await client.get(streamPath(MISSING_IDS.call, query), UPGRADE),
      400,
      "invalid_request",
    );
    expect(errors.map(({ parameter }) => parameter).sort()).toEqual(parameters);
  });

  test("a refused request releases its reservation", async () => {
    const { call, client, open } = await streamCall(server);
    for (let i = 0; i < 5; i++) expectProblem(await client.get(streamPath(call.id)), 426, "upgrade_required");
    // Faults of the handshake itself are reported below the interface.
    const handshake = { ...UPGRADE, authorization: `Bearer ${client.token}` };
    const keyResponse = await server.request("GET", streamPath(call.id), {
      ...handshake,
      "sec-websocket-key": "short",
    });
    expect([keyResponse.status, keyResponse.json().code]).toEqual([400, "bad_handshake"]);
    const versionResponse = await server.request("GET", streamPath(call.id), {
      ...handshake,
      "sec-websocket-version": "7",
    });
    expect([versionResponse.status, versionResponse.headers["sec-websocket-version"]]).toEqual([426, "13, 8"]);
    expect(await (await open()).close(1000)).toMatchObject({ code: 1000 });
  });

  test("a client that leaves during the handshake loses its reservation", async () => {
    const { open } = await streamCall(server);
    const attempts = await Promise.all(
      Array.from({ length: 20 }, () =>
        open().then(
          (stream) => stream.kill(),
          (error: unknown) => error,
        ),
      ),
    );
    expect(
      attempts.filter((result) => result instanceof StreamRefused && result.problem.code === "stream_already_attached")
        .length,
    ).toBeGreaterThan(0);
    const stream = await openWithin(open, 6_000);
    await stream.close(1000);
  });
});

describe("a ticket", () => {
  const ticketOf = (client: Client, callId: string) => client.post(`/v1/calls/${callId}/stream-ticket`, {});

  test("a ticket opens the stream of its call once, without a token", async () => {
    const { call, client } = await streamCall(server);
    const response = await ticketOf(client, call.id);
    expect(response.status).toBe(201);
    expect(response.headers["cache-control"]).toBe("no-store");
    const ticketView = response.json<{ ticket: string; expires_at: string; url: string }>();
    expect(keysOf(ticketView)).toEqual(["expires_at", "ticket", "url"]);
    expect(ticketView.ticket).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(ticketView.expires_at).toMatch(TIMESTAMP);
    expect(ticketView.url).toBe(
      `${server.base.replace("http", "ws")}${streamPath(call.id, `?ticket=${ticketView.ticket}`)}`,
    );
    const stream = await connectStream(`${ticketView.url}&audio=callee`);
    const secondRefusal = await refusal(connectStream(ticketView.url));
    expect([secondRefusal.status, secondRefusal.problem.code]).toEqual([401, "unauthorized"]);
    expect(secondRefusal.problem.detail).toContain("ticket");
    await stream.close(1000);
    expect(server.output).toContain("/stream-ticket");
    expect(server.output).not.toContain(ticketView.ticket);
  });

  test("a ticket is refused for another call and another URL", async () => {
    const [firstCall, otherCall] = [await streamCall(server), await streamCall(server)];
    const { ticket } = (await ticketOf(firstCall.client, firstCall.call.id)).json<{ ticket: string }>();
    const otherRefusal = await refusal(openStream(server.base, otherCall.call.id, { query: { ticket } }));
    expect(otherRefusal.status).toBe(401);
    expectProblem(await server.client().get(`/v1/calls/${firstCall.call.id}?ticket=${ticket}`), 401, "unauthorized");
    for (const wrongTicket of ["", "x", "a".repeat(43), "%00", "a".repeat(5000)])
      expect(
        (await refusal(openStream(server.base, firstCall.call.id, { query: { ticket: wrongTicket } }))).status,
      ).toBe(401);
    // The ticket still opens its own call's stream.
    await (await openStream(server.base, firstCall.call.id, { query: { ticket } })).close(1000);
  });

  test("a ticket is refused like the stream, except for an attached client", async () => {
    const { call, client, open } = await streamCall(server);
    const messageCall = await client.call((await client.createInstance()).id);
    expectProblem(await ticketOf(server.client(), call.id), 401, "unauthorized");
    expectProblem(await ticketOf(client, MISSING_IDS.call), 404, "call_not_found");
    expectProblem(await ticketOf(await server.as("eve"), call.id), 404, "call_not_found");
    expectProblem(await ticketOf(client, messageCall.id), 409, "not_a_stream_call");
    const stream = await open();
    expect((await ticketOf(client, call.id)).status).toBe(201);
    await stream.close(1000);
    await client.waitForCall(call.id);
    expectProblem(await ticketOf(client, call.id), 409, "call_ended");
  });
});
/** Refusal of a stream. */
async function refusal(opening: Promise<unknown>): Promise<StreamRefused> {
  const error = await opening.then(
    () => new Error("the stream was opened"),
    (cause: unknown) => cause,
  );
  if (error instanceof StreamRefused) return error;
  throw error;
}

/** Opens a stream as soon as its reservation is free. */
async function openWithin<T>(open: () => Promise<T>, ms: number): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StreamRefused) || performance.now() > deadline) throw error;
    }
  }
}
