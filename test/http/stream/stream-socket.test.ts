import { expect, test } from "vitest";
import type {
  StreamAttachment,
  StreamClient,
  StreamReservation,
} from "../../../src/application/call-audio/streams/stream-client.ts";
import { NativeDialect } from "../../../src/http/stream/native-dialect.ts";
import { streamSocket } from "../../../src/http/stream/stream-socket.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { FakeSocket } from "./fake-socket.ts";

/** A reservation of a stream with more earlier events than a client may leave unread. */
function reservationWithHistory(detached: boolean[]): StreamReservation {
  const attachment: StreamAttachment = {
    write() {},
    queuedMs: 0,
    messages: 0,
    took() {},
    mark() {},
    clear() {},
    dtmf() {},
    hangUp() {},
    detach: (isHangup) => void detached.push(isHangup),
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

test("a client that never reads the replay is disconnected", async () => {
  const system = new ManualSystem();
  const detached: boolean[] = [];
  const handlers = streamSocket({
    reservation: reservationWithHistory(detached),
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
  const socket = new FakeSocket();
  socket.stuck = true;
  handlers.open?.(socket);
  expect(socket.closed?.code).toBe(4009);
  expect(detached).toEqual([false]);
  handlers.close?.(socket, 1006, "");
  expect(detached).toEqual([false]);
});
