import type { PhoneCommand } from "../../../../telephony/simulator/phones/phone-message.ts";
import type { PhoneInput } from "./phone-state.ts";

/** First and maximum pause before a reconnection attempt, ms; the pause doubles in between. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Close codes after which the phone does not reconnect. */
const TOO_MANY = 4029;
const REVOKED = 4001;
/** Maximum send queue, bytes (half a second); new audio beyond it is dropped. */
const MAX_QUEUED_BYTES = 16_000;

/** Options of {@link PhoneConnection}. */
export interface PhoneConnectionOptions {
  /** Address of the WebSocket. */
  readonly url: string;
  readonly onInput: (input: PhoneInput) => void;
  /** Receives the caller's next audio. */
  readonly onAudio: (samples: Int16Array<ArrayBuffer>) => void;
}

/** A phone's connection to the server. It reconnects automatically until closed. */
export class PhoneConnection {
  readonly #options: PhoneConnectionOptions;
  #socket: WebSocket | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosed = false;

  constructor(options: PhoneConnectionOptions) {
    this.#options = options;
    addEventListener("online", this.#retryNow);
    this.#connect();
  }

  /** Sends a command, unless the connection is lost. */
  send(command: PhoneCommand): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  /** Sends audio from the microphone; drops it if the network is too slow. */
  sendAudio(samples: Int16Array<ArrayBuffer>): void {
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount <= MAX_QUEUED_BYTES) socket.send(samples);
  }

  /** Closes the connection permanently. Idempotent. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    removeEventListener("online", this.#retryNow);
    this.#socket?.close(1000);
  }

  #connect(): void {
    clearTimeout(this.#retryTimer);
    const socket = new WebSocket(this.#options.url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#isClosed) return;
      if (typeof data !== "string") {
        this.#options.onAudio(new Int16Array(data, 0, data.byteLength >> 1));
        return;
      }
      this.#retryMs = FIRST_RETRY_MS;
      this.#options.onInput({ type: "message", message: JSON.parse(data) });
    };
    socket.onclose = ({ code }) => {
      if (!this.#isClosed) this.#handleClose(code);
    };
  }

  #handleClose(code: number): void {
    if (code === TOO_MANY || code === REVOKED) {
      this.#options.onInput({ type: "refused", reason: code === TOO_MANY ? "too_many" : "signed_out" });
      return;
    }
    this.#options.onInput({ type: "closed" });
    this.#retryTimer = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, 2 * this.#retryMs);
  }

  readonly #retryNow = (): void => {
    if (this.#socket?.readyState === WebSocket.CLOSED && !this.#isClosed) this.#connect();
  };
}
