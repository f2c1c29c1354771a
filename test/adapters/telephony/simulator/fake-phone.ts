import type { Simulator } from "../../../../adapters/telephony/simulator/index.ts";
import type { PhoneMessage } from "../../../../adapters/telephony/simulator/phones/phone-message.ts";
import { concatPcm, pcmFromBytes, pcmToBytes } from "../../../../src/audio/samples/pcm.ts";
import type { Socket, SocketHandlers } from "../../../../src/ports/web.ts";

/** A phone page without a network connection. */
export class FakePhone {
  readonly messages: PhoneMessage[] = [];
  readonly frames: Int16Array[] = [];
  /** Code and reason with which the server closed the connection. */
  serverClose: { readonly code: number | undefined; readonly reason: string | undefined } | undefined;
  /** Number of bytes that the page has not yet read. */
  unreadBytes = 0;
  readonly #handlers: SocketHandlers;
  readonly #socket: Socket;

  constructor(simulator: Simulator, number: string, userId = "usr_1") {
    const phone = this;
    this.#handlers = simulator.pages.phone(userId, number);
    this.#socket = {
      send: (data) => {
        if (typeof data === "string") this.messages.push(JSON.parse(data) as PhoneMessage);
        else this.frames.push(pcmFromBytes(data));
      },
      get bufferedAmount() {
        return phone.unreadBytes;
      },
      drained: async () => {},
      close: (code, reason) => {
        this.serverClose = { code, reason };
      },
    };
    this.#handlers.open?.(this.#socket);
  }

  /** Types of the messages; `ended` and `error` with their cause or code. */
  get log(): string[] {
    return this.messages.map((message) => {
      if (message.type === "ended") return `ended ${message.cause}`;
      return message.type === "error" ? `error ${message.code}` : message.type;
    });
  }

  /** All audio played on the phone. */
  get heard(): Int16Array {
    return concatPcm(this.frames);
  }

  send(message: object | string): void {
    this.#handlers.message(this.#socket, typeof message === "string" ? message : JSON.stringify(message));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#handlers.message(this.#socket, bytes);
  }

  /** Sends a frame from the microphone. */
  speak(samples: Int16Array): void {
    this.sendBytes(pcmToBytes(samples));
  }

  /** Closes the page, or loses its connection (1006). */
  leave(code = 1001): void {
    this.#handlers.close?.(this.#socket, code, "");
  }
}
