import type { ListenEnded, ListenGap, ListenStarted, ListenWaiting } from "../../http/response-types.ts";
import type { RequestOptions } from "../http-transport.ts";
import type { WebSocketConstructor } from "./stream-connection.ts";

/** Options of {@link CallListening}. */
export interface ListenOptions extends RequestOptions {
  /** Opens the connection. Default: the global `WebSocket`. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/** Item for a listener: the messages from the server, and the audio between them. */
export type ListenItem =
  | ListenWaiting
  | ListenStarted
  | ListenGap
  | ListenEnded
  /** The next samples, interleaved: the callee on the left, the outbound audio on the right. */
  | { readonly type: "audio"; readonly samples: Int16Array<ArrayBuffer> };

/**
 * Both sides of a live call. The loop ends after `call_ended`, and throws a `RingportError` if the connection is lost.
 * Up to 60 s of audio is kept for a loop that is too slow. Use a single loop; leaving the loop stops listening.
 */
export interface CallListening extends AsyncIterable<ListenItem> {
  readonly callId: string;
  /** Stops listening; the loop ends. Idempotent. */
  close(): void;
}
