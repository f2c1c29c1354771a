import { describe, expect, test } from "vitest";
import type {
  StreamAttachment,
  StreamClient,
  StreamReservation,
} from "../../../src/application/call-audio/streams/stream-client.ts";
import { NativeDialect } from "../../../src/http/stream/native-dialect.ts";
import { streamSocket } from "../../../src/http/stream/stream-socket.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import type { SocketHandlers } from "../../../src/ports/web.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { FakeSocket } from "./fake-socket.ts";

/** A stream reservation with more earlier events than a client may leave unread. */
function reservationWithHistory(detachments: boolean[]): StreamReservation {
  const attachment: StreamAttachment = {
    write() {},
    queuedMs: 0,
    room: () => undefined,
    ignored() {},
    messages: 0,
    took() {},
    mark() {},
    clear() {},
    dtmf() {},
    hangUp() {},
    detach: (isHangup) => void detachments.push(isHangup),
  };
  return {
    attach(client: StreamClient) {
      const name = "\u0001".repeat(256);
      for (let i = 0; i < 1_000; i++) client.event({ event: "mark", timestamp: i, data: { name } });
      return attachment;
    },
    release() {},
  };
}

function handlersOf(system: ManualSystem, reservation: StreamReservation): SocketHandlers {
  return streamSocket({
    reservation,
    dialect: (output) =>
      new NativeDialect(output, {
        encoding: undefined,
        sampleRate: 16_000,
        callee: false,
        mp3Stream: undefined,
        now: () => system.now(),
      }),
    watchToken: () => () => {},
    log: silentLogger,
    fields: { request_id: "r", call_id: "c" },
  });
}

test("a client that never reads the replay is disconnected", async () => {
  const system = new ManualSystem();
  const detachments: boolean[] = [];
  const handlers = handlersOf(system, reservationWithHistory(detachments));
  const socket = new FakeSocket();
  socket.isStuck = true;
  handlers.open?.(socket);
  expect(socket.closed?.code).toBe(4009);
  expect(detachments).toEqual([false]);
  handlers.close?.(socket, 1006, "");
  expect(detachments).toEqual([false]);
});

test("a hangup after queued audio takes effect even if the connection breaks", async () => {
  const system = new ManualSystem();
  const coreCalls: string[] = [];
  let makeRoom = (): void => {};
  let room: Promise<void> | undefined = new Promise((resolve) => {
    makeRoom = () => {
      room = undefined;
      resolve();
    };
  });
  const attachment: StreamAttachment = {
    write: () => void coreCalls.push("write"),
    queuedMs: 0,
    room: () => room,
    ignored() {},
    messages: 0,
    took() {},
    mark() {},
    clear() {},
    dtmf() {},
    hangUp: () => void coreCalls.push("hang up"),
    detach: () => void coreCalls.push("detach"),
  };
  const handlers = handlersOf(system, { attach: () => attachment, release() {} });
  const socket = new FakeSocket();
  handlers.open?.(socket);
  handlers.message(socket, new Uint8Array(640));
  handlers.message(socket, new Uint8Array(640));
  handlers.message(socket, '{"type":"hangup"}');
  handlers.close?.(socket, 1006, "");
  await new Promise((resolve) => setTimeout(resolve));
  expect(coreCalls).toEqual([]);
  makeRoom();
  await new Promise((resolve) => setTimeout(resolve));
  expect(coreCalls).toEqual(["write", "write", "hang up", "detach"]);
});

describe("a hostile client", () => {
  const stuckAttachment: StreamAttachment = {
    write() {},
    queuedMs: 60_000,
    room: () => new Promise(() => {}),
    ignored() {},
    messages: 0,
    took() {},
    mark() {},
    clear() {},
    dtmf() {},
    hangUp() {},
    detach() {},
  };

  test.each([
    ["audio", () => new Uint8Array(1 << 20)],
    ["marks", () => '{"type":"mark","name":"m"}'],
    ["texts", () => "{".repeat(60_000)],
  ])("that sends endless %s is paused, and closed with 4008", (_, message) => {
    const handlers = handlersOf(new ManualSystem(), { attach: () => stuckAttachment, release() {} });
    const socket = new FakeSocket();
    handlers.open?.(socket);
    handlers.message(socket, new Uint8Array(640));
    let bytes = 0;
    for (let i = 0; i < 100_000 && socket.closed === undefined; i++) {
      const data = message();
      handlers.message(socket, data);
      bytes += data.length;
    }
    expect(socket.closed).toEqual({ code: 4008, reason: "more than 60 s of audio are queued" });
    expect(bytes).toBeLessThanOrEqual(9 << 20);
  });

  test("that cannot be paused is still read up to 6 MiB", () => {
    const handlers = handlersOf(new ManualSystem(), { attach: () => stuckAttachment, release() {} });
    const socket = new FakeSocket();
    handlers.open?.(socket);
    for (let i = 0; i < 6; i++) handlers.message(socket, new Uint8Array(1 << 20));
    expect([socket.paused, socket.closed]).toEqual([false, undefined]);
    handlers.message(socket, new Uint8Array(1 << 20));
    expect([socket.paused, socket.closed]).toEqual([true, undefined]);
    handlers.message(socket, '{"type":"clear"}');
    expect([socket.paused, socket.closed]).toEqual([false, undefined]);
  });
});
