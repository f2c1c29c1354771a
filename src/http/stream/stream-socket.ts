import type { StreamAttachment, StreamEnd, StreamSeat } from "../../application/streams/stream-client.ts";
import type { Socket, SocketHandlers } from "../../ports/web.ts";
import { CLOSE_CODES, type Dialect, type DialectOutput } from "./dialect.ts";

const REASONS: Readonly<Record<StreamEnd, string>> = {
  completed: "the call is over",
  failed: "the call failed",
  overflow: "more than 60 s of audio are waiting",
  stopping: "the server is stopping",
};

/** A WebSocket that carries the audio of a call. */
export function streamSocket(seat: StreamSeat, dialectOf: (output: DialectOutput) => Dialect): SocketHandlers {
  let socket: Socket | undefined;
  const output: DialectOutput = {
    text: (message) => socket?.send(JSON.stringify(message)),
    audio: (data) => socket?.send(data),
    close: (code, reason) => socket?.close(code, reason),
  };
  const dialect = dialectOf(output);
  let attachment: StreamAttachment | undefined;
  return {
    open(opened) {
      socket = opened;
      attachment = seat.attach({
        calleeRate: dialect.calleeRate,
        event: (event) => dialect.event(event),
        transcript: (transcript) => dialect.transcript(transcript),
        callee: (frame) => dialect.callee(frame),
        over(end) {
          dialect.over(end);
          opened.close(CLOSE_CODES[end], REASONS[end]);
        },
      });
      dialect.attached(attachment);
    },
    message: (_, data) => void dialect.receive(data),
    close(_, code) {
      seat.release();
      attachment?.detach(code === 1000 || code === 1005);
      dialect.gone();
    },
  };
}
