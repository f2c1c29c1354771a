import { msToSamples } from "../../../../src/audio/samples/pcm.ts";
import type { Socket } from "../../../../src/ports/web.ts";
import {
  MAX_AUDIO_MS,
  MAX_CHARACTERS,
  type PhoneFault,
  type PhoneMessage,
  phoneFault,
  readPhoneCommand,
} from "./phone-message.ts";
import type { RingGroup } from "./ring-group.ts";

/** Close codes of a phone's WebSocket, in addition to those of RFC 6455. */
export const PHONE_CLOSE_CODES = {
  /** The server is stopping. */
  stopping: 1001,
  /** A message exceeds the size limit for phones. */
  tooLarge: 1009,
  /** The page's token or session has ended. */
  signedOut: 4001,
  /** The page does not read its messages, and too many are queued. */
  notReading: 4009,
  /** The user is at their limit of open phones. */
  tooMany: 4029,
} as const;

/** Maximum sample rate of a leg, Hz. */
const MAX_SAMPLE_RATE = 16_000;
const MAX_AUDIO_BYTES: number = 2 * msToSamples(MAX_AUDIO_MS, MAX_SAMPLE_RATE);
/** Maximum number of bytes queued for a page when another text message is due. */
const MAX_QUEUED_BYTES: number = 256 << 10;

/** Reason for the end of a phone's connection, by close code. The reason text that the page sends is never repeated. */
const CLOSE_REASONS: Readonly<Record<number, string>> = {
  1000: "the page of the phone was closed",
  1001: "the page of the phone was closed",
  1005: "the page of the phone was closed",
  [PHONE_CLOSE_CODES.tooLarge]: "a message from the phone was too large",
  [PHONE_CLOSE_CODES.signedOut]: "the token or the session of the phone has ended",
};

/** One page that is a phone, from the opening of its WebSocket until either side closes it. */
export class BrowserPhone {
  readonly socket: Socket;
  readonly #group: RingGroup;
  #isClosed = false;

  constructor(socket: Socket, group: RingGroup) {
    this.socket = socket;
    this.#group = group;
  }

  /** Sends a message, unless the connection is closed. */
  send(message: PhoneMessage): void {
    if (this.#isClosed) return;
    if (this.socket.bufferedAmount > MAX_QUEUED_BYTES)
      this.close(PHONE_CLOSE_CODES.notReading, "too many messages are queued for the page");
    else this.socket.send(JSON.stringify(message));
  }

  /** Handles a message from the page. Never throws. */
  receive(data: string | Uint8Array): void {
    if (this.#isClosed) return;
    const limit = typeof data === "string" ? MAX_CHARACTERS : MAX_AUDIO_BYTES;
    if (data.length > limit) {
      const unit = typeof data === "string" ? "characters" : "bytes";
      this.close(PHONE_CLOSE_CODES.tooLarge, `a message has ${data.length} ${unit}, at most ${limit} are allowed`);
      return;
    }
    const fault = typeof data === "string" ? this.#executeCommand(data) : this.#receiveAudio(data);
    if (fault) this.send(fault);
  }

  /** Closes the connection, and leaves the call immediately. Idempotent. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.socket.close(code, reason);
    this.#leave(`the phone was disconnected: ${reason}`);
  }

  /** Handles the closing of the connection, by the page or by a session check. */
  onClose(code: number): void {
    if (!this.#isClosed) this.#leave(CLOSE_REASONS[code] ?? "the connection to the phone was lost");
  }

  #leave(detail: string): void {
    this.#isClosed = true;
    this.#group.remove(this, `simulator: ${detail}`);
  }

  #executeCommand(text: string): PhoneFault | undefined {
    const command = readPhoneCommand(text);
    if (command.type === "error") return command;
    const { call } = this.#group;
    return call?.callId === command.call_id && call.isOn(this)
      ? call.execute(this, command)
      : phoneFault(
          "no_such_call",
          `there is no call ${JSON.stringify(command.call_id)} on this phone: it may have ended`,
        );
  }

  /** Passes audio to the call; audio that arrives after the end of its call is dropped. */
  #receiveAudio(bytes: Uint8Array): PhoneFault | undefined {
    const { call } = this.#group;
    const fault = call?.isOn(this) ? call.receiveAudio(bytes) : undefined;
    return fault === undefined ? undefined : phoneFault("invalid_audio", fault);
  }
}
