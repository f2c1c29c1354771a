import { describe, expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { until } from "../../support/server-client.ts";
import { toneShare } from "../../support/server-sound.ts";
import { ATTACH_MS, answeredStream, loudSound, STREAMS, streamCall } from "../../support/stream-calls.ts";
import { StreamRefused } from "../../support/stream-client.ts";

const UNANSWERED_NUMBER = "+12025550102";
const sound = (ms: number, hz = 1_000) => tone(hz, ms, 16_000, 8_000);
const COMPLETED = { status: "COMPLETED", outcome: { reason: "stream_closed" } };
const LOST_STREAM = { status: "FAILED", outcome: { reason: "stream_lost" } };

const server = useLocalServer({ ...STREAMS, RINGPORT_DRAIN_MS: "300" });

describe.concurrent("a client that closes the stream", () => {
  test.for<[how: string, code: number | undefined]>([
    ["with 1000", 1000],
    ["without a code", undefined],
  ])("closing %s ends the call after the last sample", async ([, code]) => {
    const { call, client, stream } = await answeredStream(server);
    await stream.write(sound(1200));
    await stream.close(code);
    expect(await client.waitForCall(call.id)).toMatchObject(COMPLETED);
    const heardSound = loudSound(await client.heard(call.id));
    expect(heardSound.ms).toBeGreaterThan(1190);
    expect(toneShare(heardSound, 1_000)).toBeGreaterThan(0.98);
  });

  test("closing before the answer ends the call immediately", async () => {
    const { call, client, open, dial } = await streamCall(server, { to: UNANSWERED_NUMBER });
    const stream = await open();
    await dial();
    await stream.event("ringing");
    await stream.write(sound(5_000));
    await stream.close(1000);
    expect(await client.waitForCall(call.id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "terminated" },
    });
  });

  test("closing while the call is queued ends the call immediately", async () => {
    const { call, client, open } = await streamCall(server);
    const stream = await open();
    await stream.close(1000);
    expect(await client.waitForCall(call.id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "terminated" },
    });
  });
});

describe.concurrent("a connection that breaks", () => {
  test("a break during the call ends the call after the attach time", async () => {
    const { call, client, stream } = await answeredStream(server);
    await stream.write(sound(300));
    stream.kill();
    const endedCall = await client.waitForCall(call.id);
    expect(endedCall).toMatchObject(LOST_STREAM);
    expect(endedCall.outcome!.duration_ms).toBeGreaterThanOrEqual(ATTACH_MS);
    expect(loudSound(await client.heard(call.id)).ms).toBeGreaterThan(290);
  });

  test("a break while ringing ends the call only after the answer", async () => {
    const { call, client, open, dial } = await streamCall(server, { to: "+12025550110" });
    const stream = await open();
    await dial();
    await stream.event("ringing");
    stream.kill();
    expect(await client.waitForCall(call.id)).toMatchObject(LOST_STREAM);
    expect((await client.timeline(call.id)).map(({ type }) => type)).toContain("answered");
  });

  test("a break while queued does not end the call", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open();
    stream.kill();
    await dial();
    expect(await client.waitForCall(call.id)).toMatchObject(LOST_STREAM);
  });

  test("the latest events are replayed to the next client", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const firstStream = await open();
    await dial();
    await firstStream.write(sound(300));
    firstStream.sendMessage({ type: "mark", name: "first" });
    await firstStream.event("mark");
    const firstEvents = firstStream.events;
    firstStream.kill();
    const result = await until(
      () => open().catch((error: unknown) => error),
      (value) => !(value instanceof StreamRefused),
      ATTACH_MS,
      "the stream to be released",
    );
    if (result instanceof Error) throw result;
    const stream = result as typeof firstStream;
    await stream.write(sound(300));
    stream.sendMessage({ type: "mark", name: "second" });
    await stream.message(({ name }) => name === "second");
    expect(stream.events.slice(0, firstEvents.length)).toEqual(firstEvents);
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    expect(await client.readCall(call.id)).toMatchObject(COMPLETED);
  });
});

describe.concurrent("the end of the call", () => {
  test("a DELETE closes the stream with 4010", async () => {
    const { call, client, stream } = await answeredStream(server);
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await stream.closed()).toEqual({ code: 4010, reason: "the call failed" });
    expect(stream.events.at(-1)).toMatchObject({ event: "failed", reason: "terminated" });
  });

  test("the callee's hang-up closes the stream with 1000", async () => {
    const { call, client, open, dial } = await streamCall(server, { to: "+12025550104" });
    const stream = await open();
    await dial();
    expect(await stream.closed()).toEqual({ code: 1000, reason: "the call has ended" });
    expect(stream.events.at(-1)).toMatchObject({ event: "completed", reason: "callee_hung_up" });
    expect((await client.readCall(call.id)).status).toBe("COMPLETED");
  });

  test("an end before the answer closes the stream with 4010", async () => {
    const { open, dial } = await streamCall(server, { to: "+12025550103" });
    const stream = await open();
    await dial();
    expect(await stream.closed()).toMatchObject({ code: 4010 });
    expect(stream.events.at(-1)).toMatchObject({ event: "failed", reason: "declined" });
  });
});

test("a revoked token ends its streams within a second, tickets included", async () => {
  const [token, otherToken] = [await server.token("grace"), await server.token("grace")];
  const [ownClient, otherClient] = [server.client(token), server.client(otherToken)];
  const calls = await Promise.all([0, 1, 2].map(() => streamCall(server, { client: otherClient })));
  const [stream, ticketStream, otherStream] = await Promise.all([
    calls[0]!.open({ headers: { authorization: `Bearer ${token}` } }),
    ownClient
      .post(`/v1/calls/${calls[1]!.call.id}/stream-ticket`, {})
      .then((response) => response.json<{ ticket: string }>())
      .then(({ ticket }) => calls[1]!.open({ query: { ticket } })),
    calls[2]!.open(),
  ]);
  await calls[0]!.dial();
  await stream.event("answered");
  const ends = [stream, ticketStream].map(async (client) => [await client.closed(8_000), performance.now()] as const);
  await server.revoke(token);
  const revokedAt = performance.now();
  const expectedEnd = { code: 4001, reason: "the token was revoked or has expired" };
  for (const [end, endedAt] of await Promise.all(ends)) {
    expect(end).toEqual(expectedEnd);
    expect(endedAt - revokedAt).toBeLessThan(1_000);
  }
  expect(await otherClient.waitForCall(calls[0]!.call.id)).toMatchObject(LOST_STREAM);
  expect(otherStream.ws.readyState).toBe(otherStream.ws.OPEN);
  await otherStream.close(1000);
});
