import type { PhoneCommand } from "../../../../telephony/simulator/phones/phone-message.ts";
import type { PhoneInput } from "./phone-state.ts";

/** Pause before the first reconnection attempt, and the longest pause, ms; it doubles in between. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Close codes of the server after which another attempt is useless. */
const TOO_MANY = 4029;
const REVOKED = 4001;
/** While more than this waits to be sent, new audio is dropped, bytes: half a second. */
const MAX_QUEUED_BYTES = 16_000;

/** Options of {@link PhoneConnection}. */
export interface PhoneConnectionOptions {
  /** Address of the WebSocket. */
  readonly url: string;
  readonly input: (input: PhoneInput) => void;
  /** Takes the next audio of the caller. */
  readonly audio: (samples: Int16Array<ArrayBuffer>) => void;
}

/** The connection of a phone to the server. It reconnects automatically until it is closed. */
export class PhoneConnection {
  readonly #options: PhoneConnectionOptions;
  #socket: WebSocket | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;

  constructor(options: PhoneConnectionOptions) {
    this.#options = options;
    addEventListener("online", this.#retryNow);
    this.#connect();
  }

  /** Sends a command, unless the connection is lost. */
  send(command: PhoneCommand): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  /** Sends audio of the microphone; drops it if the network is too slow. */
  sendAudio(samples: Int16Array<ArrayBuffer>): void {
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount <= MAX_QUEUED_BYTES) socket.send(samples);
  }

  /** Closes the connection permanently. Idempotent. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    removeEventListener("online", this.#retryNow);
    this.#socket?.close(1000);
  }

  #connect(): void {
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.#options.url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#closed) return;
      if (typeof data !== "string") {
        this.#options.audio(new Int16Array(data, 0, data.byteLength >> 1));
        return;
      }
      this.#retryMs = FIRST_RETRY_MS;
      this.#options.input({ type: "message", message: JSON.parse(data) });
    };
    socket.onclose = ({ code }) => {
      if (!this.#closed) this.#lost(code);
    };
  }

  #lost(code: number): void {
    if (code === TOO_MANY || code === REVOKED) {
      this.#options.input({ type: "refused", reason: code === TOO_MANY ? "too_many" : "signed_out" });
      return;
    }
    this.#options.input({ type: "closed" });
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, 2 * this.#retryMs);
  }

  readonly #retryNow = (): void => {
    if (this.#socket?.readyState === WebSocket.CLOSED && !this.#closed) this.#connect();
  };
}
