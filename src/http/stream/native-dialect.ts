import type { StreamAttachment, StreamEvent, Transcript } from "../../application/call-audio/streams/stream-client.ts";
import { IncomingAudio, NotAudio } from "../../audio/incoming-audio.ts";
import { sampleCoding } from "../../audio/samples/stream-format.ts";
import type { Mp3Stream } from "../../ports/audio-decoder.ts";
import type { StreamProgress } from "../response-types.ts";
import { timestamp } from "../timestamp.ts";
import { readClientMessage } from "./client-message.ts";
import { CLOSE_CODES, type Dialect, type DialectOutput } from "./dialect.ts";
import type { StreamFormat } from "./stream-query.ts";

/** Options of a {@link NativeDialect}. */
export interface NativeDialectOptions extends StreamFormat {
  readonly mp3Stream: (() => Promise<Mp3Stream>) | undefined;
  /** Wall clock, ms since 1970-01-01 UTC. */
  readonly now: () => number;
}

/** Ringport's own protocol: binary audio, `transcript` and `call_event` as JSON. */
export class NativeDialect implements Dialect {
  readonly calleeRate: number | undefined;
  readonly #output: DialectOutput;
  readonly #encode: (frame: Int16Array) => Uint8Array;
  readonly #incomingAudio: IncomingAudio;
  readonly #now: () => number;
  #attachment: StreamAttachment | undefined;
  /** True once the client has ended its audio: further audio is ignored. */
  #hasEnded = false;
  #isLateReported = false;

  constructor(output: DialectOutput, { encoding, sampleRate, callee, mp3Stream, now }: NativeDialectOptions) {
    this.#output = output;
    this.#now = now;
    this.calleeRate = callee ? sampleRate : undefined;
    this.#encode = sampleCoding(encoding).encode;
    this.#incomingAudio = new IncomingAudio({
      encoding,
      sampleRate,
      mp3: mp3Stream,
      waitForRoom: (ms) => this.#attachment?.room(ms),
      onDecoded: (samples, rate) => this.#attachment?.write(samples, rate),
    });
  }

  onAttached(attachment: StreamAttachment): void {
    this.#attachment = attachment;
  }

  receive(data: string | Uint8Array): void | Promise<void> {
    if (typeof data === "string") {
      this.#handle(data);
      return;
    }
    if (this.#hasEnded) {
      this.#refuseLate();
      return;
    }
    try {
      const promise = this.#incomingAudio.push(data);
      if (!promise) this.#attachment?.took();
      return promise?.then(
        () => this.#attachment?.took(),
        (error: unknown) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  dropsAudio(data: string | Uint8Array): boolean {
    return isOfType(data, "clear");
  }

  endsCall(data: string | Uint8Array): boolean {
    return isOfType(data, "hangup");
  }

  skip(data: string | Uint8Array): void {
    if (typeof data === "string" && !isOfType(data, "mark")) this.#handle(data);
    else this.#attachment?.took();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const part of this.#incomingAudio.end()) this.#attachment?.ignored(part);
  }

  onClosed(): void {
    this.#incomingAudio.close();
  }

  event({ event, timestamp: at, data }: StreamEvent): void {
    this.#output.text({ type: "call_event", event, timestamp: timestamp(at), ...data });
  }

  transcript({ text, timestamp: at, final, speaker }: Transcript): void {
    this.#output.text({ type: "transcript", text, timestamp: timestamp(at), final, speaker });
  }

  callee(frame: Int16Array): void {
    this.#output.audio(this.#encode(frame));
  }

  droppedMessage(ms: number): object {
    return { type: "call_event", event: "audio_dropped", timestamp: timestamp(this.#now()), dropped_ms: ms };
  }

  over(): void {}

  #handle(text: string): void {
    const message = readClientMessage(text);
    if (message.type !== "progress") this.#attachment?.took();
    try {
      this.#perform(message);
    } catch (error) {
      // Too many marks or keys are pending.
      if (!(error instanceof RangeError)) throw error;
      this.#output.text({ type: "error", code: "invalid_message", detail: error.message });
    }
  }

  #perform(message: ReturnType<typeof readClientMessage>): void {
    switch (message.type) {
      case "progress":
        this.#output.text(this.#progress());
        break;
      case "mark":
        this.#attachment?.mark(message.name);
        break;
      case "clear":
        this.#incomingAudio.reset();
        this.#attachment?.clear();
        break;
      case "hangup":
        this.end();
        this.#attachment?.hangUp();
        break;
      case "dtmf":
        this.#attachment?.dtmf(message.digits);
        break;
      case "error":
        this.#output.text(message);
    }
  }

  #refuseLate(): void {
    this.#attachment?.took();
    if (this.#isLateReported) return;
    this.#isLateReported = true;
    const detail = "audio after hangup is not played: send it before the hangup, or send no hangup";
    this.#output.text({ type: "error", code: "invalid_message", detail });
  }

  #progress(): StreamProgress {
    const { messages = 0, queuedMs = 0 } = this.#attachment ?? {};
    return { type: "progress", messages, queued_ms: Math.round(queuedMs) };
  }

  #fail(error: unknown): void {
    if (!(error instanceof NotAudio)) throw error;
    this.#output.close(CLOSE_CODES.notAudio, error.message);
  }
}

/** Maximum recognised length of a message without fields, characters. */
const MAX_SHORT_CHARACTERS = 1_000;

/** True for a valid text message of this type. */
function isOfType(data: string | Uint8Array, type: "clear" | "hangup" | "mark"): boolean {
  if (typeof data !== "string" || data.length > MAX_SHORT_CHARACTERS || !data.includes(type)) return false;
  return readClientMessage(data).type === type;
}
