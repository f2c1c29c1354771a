import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { answeredStream, STREAMS, streamCall } from "../support/stream-calls.ts";

const MIB = 2 ** 20;
const LOST_STREAM = { status: "FAILED", outcome: { reason: "stream_lost" } };

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target, { env: { ...STREAMS, RINGPORT_DRAIN_MS: "300" } });
  /** Deno cannot stop reading a WebSocket. */
  const canPause = target.runtime.name !== "deno";

  describe.concurrent("the sizes of messages", () => {
    test("a message over 1 MiB closes the stream with 1009", async () => {
      const { call, client, stream } = await answeredStream(server);
      stream.write(new Uint8Array(MIB + 1)).catch(() => {});
      // Bun breaks the connection without a close frame.
      expect([1009, 1006]).toContain((await stream.closed()).code);
      expect(await client.waitForCall(call.id)).toMatchObject(LOST_STREAM);
    });

    test("100 MB at once are delayed or close the stream, and use little memory", async () => {
      const { call, client, stream } = await answeredStream(server);
      const memoryBefore = server.peakMemory();
      const piece = new Uint8Array(MIB);
      for (let i = 0; i < 100; i++) stream.write(piece).catch(() => {});
      if (canPause) await stream.event("buffer_high");
      else expect([4008, 1006]).toContain((await stream.closed()).code);
      expect((await client.get("/v1/instances")).status).toBe(200);
      if (!canPause) return expect(await client.waitForCall(call.id)).toMatchObject(LOST_STREAM);
      expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
      expect([4010, 1006]).toContain((await stream.closed()).code);
      expect((await client.readCall(call.id)).outcome).toMatchObject({ reason: "terminated" });
      expect(server.peakMemory() - memoryBefore).toBeLessThan(150 * MIB);
    });
  });

  test("a client that never reads is closed with 4009 at 1 MiB", async () => {
    const { call, client, stream } = await answeredStream(server);
    const memoryBefore = server.peakMemory();
    stream.stopReading();
    let hasEnded = false;
    const endedCall = client.waitForCall(call.id).finally(() => {
      hasEnded = true;
    });
    // Every response is longer than its request. The operating system's buffers fill before the server's.
    while (!hasEnded) {
      if (stream.ws.bufferedAmount < MIB) for (let i = 0; i < 2_000; i++) stream.sendMessage('{"type":"unknown"}');
      await setImmediate();
    }
    expect(await endedCall).toMatchObject(LOST_STREAM);
    expect(server.peakMemory() - memoryBefore).toBeLessThan(150 * MIB);
    stream.resumeReading();
    // Deno stops reading from a dropped client, so this one cannot finish sending. Bun soon breaks the connection
    // of a client that does not read the close frame.
    if (canPause) expect(target.runtime.name === "bun" ? [4009, 1006] : [4009]).toContain((await stream.closed()).code);
    stream.kill();
  });

  test("an upgrade is refused before the handshake", async () => {
    const { call, client, open } = await streamCall(server);
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const path = `/v1/calls/${call.id}/stream`;
    expectProblem(await server.client().get(path, upgrade), 401, "unauthorized");
    expectProblem(await (await server.as("eve")).get(path, upgrade), 404, "call_not_found");
    expectProblem(await client.get(path), 426, "upgrade_required");
    const stream = await open();
    expectProblem(await client.get(path, upgrade), 409, "stream_already_attached");
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await stream.closed()).toMatchObject({ code: 4010 });
    expectProblem(await client.get(path, upgrade), 409, "call_ended");
  });

  test("stopping closes live streams with 4010 and queued ones with 1001", async () => {
    const [liveCall, waitingCall] = [await streamCall(server), await streamCall(server)];
    const [stream, queuedStream] = [await liveCall.open(), await waitingCall.open()];
    await liveCall.dial();
    await stream.event("answered");
    const stopPromise = server.stop();
    expect(await stream.closed()).toMatchObject({ code: 4010 });
    expect(stream.events.at(-1)).toMatchObject({ event: "failed", reason: "interrupted" });
    expect(await queuedStream.closed()).toMatchObject({ code: 1001 });
    await stopPromise;
    await server.start();
    const { client } = liveCall;
    expect(await client.readCall(liveCall.call.id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "interrupted" },
    });
    expect((await client.readCall(waitingCall.call.id)).status).toBe("QUEUED");
    const newStream = await waitingCall.open();
    await newStream.close(1000);
    expect((await client.waitForCall(waitingCall.call.id)).outcome).toMatchObject({ reason: "terminated" });
  });
});
