import type { StreamAttachment, StreamEvent } from "../../application/call-audio/streams/stream-client.ts";
import { IncomingAudio, NotAudio } from "../../audio/incoming-audio.ts";
import { encodeMulaw } from "../../audio/samples/g711-companding.ts";
import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { toHex } from "../../base/hex.ts";
import { CLOSE_CODES, type Dialect, type DialectOutput } from "./dialect.ts";

/** The identity of a stream; Twilio calls every id a SID. */
export interface TwilioStream {
  /** Id of this connection: `MZ` and 32 hexadecimal digits, see {@link twilioStreamSid}. */
  readonly streamSid: string;
  readonly callSid: string;
  readonly accountSid: string;
  /** See {@link twilioParameters}. */
  readonly customParameters?: Readonly<Record<string, string>> | undefined;
  /** Receives the first fault in a message from the bot, as Twilio's own debugger does. */
  readonly warn?: ((detail: string) => void) | undefined;
}

const PARAMETER = "parameter.";
const SAMPLE_RATE = 8_000;
const FRAME_MS = 20;
const MAX_MARK_CHARACTERS = 1_024;
/** Maximum length of a clear message that overtakes audio, characters. */
const MAX_CLEAR_CHARACTERS = 1_000;

/** A new id for a stream, in Twilio's form. */
export function twilioStreamSid(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  return `MZ${toHex(bytes)}`;
}

/** Twilio's `<Parameter>` values, from a query with `parameter.<name>=<value>`. */
export function twilioParameters(search: string): Record<string, string> {
  const parameters = [...new URLSearchParams(search)].filter(([name]) => name.startsWith(PARAMETER));
  return Object.fromEntries(parameters.map(([name, value]) => [name.slice(PARAMETER.length), value]));
}

/**
 * The messages of Twilio's bidirectional Media Streams (twilio.com/docs/voice/media-streams/websocket-messages), for
 * bots that were written for them. The stream starts at pickup; a bot that reconnects gets a new stream. As with
 * Twilio, other messages are ignored, with one warning.
 */
export class TwilioDialect implements Dialect {
  readonly calleeRate: number = SAMPLE_RATE;
  readonly #output: DialectOutput;
  readonly #stream: TwilioStream;
  readonly #sid: string;
  readonly #codes = new Uint8Array((SAMPLE_RATE * FRAME_MS) / 1000);
  #attachment: StreamAttachment | undefined;
  #isAnswered = false;
  #isStarted = false;
  #hasWarned = false;
  #sequence = 0;
  #chunk = 0;
  /** Names of marks that were neither reached nor cleared, oldest first. */
  readonly #marks: string[] = [];
  readonly #incomingAudio: IncomingAudio = new IncomingAudio({
    encoding: "mulaw",
    sampleRate: SAMPLE_RATE,
    mp3: undefined,
    isHeldBack: false,
    accepts: "mu-law at 8 kHz in media messages",
    waitForRoom: (ms) => this.#attachment?.room(ms),
    onDecoded: (samples, rate) => this.#attachment?.write(samples, rate),
  });

  constructor(output: DialectOutput, stream: TwilioStream) {
    this.#output = output;
    this.#stream = stream;
    this.#sid = JSON.stringify(stream.streamSid);
  }

  onAttached(attachment: StreamAttachment): void {
    this.#attachment = attachment;
    if (this.#isAnswered) this.#start();
  }

  receive(data: string | Uint8Array): void | Promise<void> {
    const result = this.#handle(data);
    if (typeof result !== "string") return result;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#stream.warn?.(result);
  }

  dropsAudio(data: string | Uint8Array): boolean {
    if (typeof data !== "string" || data.length > MAX_CLEAR_CHARACTERS || !data.includes("clear")) return false;
    const message = asRecord(parseJson(data));
    return message?.event === "clear" && this.#isOfStream(message);
  }

  skip(data: string | Uint8Array): void {
    const message = typeof data === "string" && data.includes("mark") ? asRecord(parseJson(data)) : undefined;
    const name = message?.event === "mark" && this.#isOfStream(message) ? asRecord(message.mark)?.name : undefined;
    if (isMarkName(name)) this.#marks.push(name);
  }

  endsCall(): boolean {
    return false;
  }

  end(): void {
    for (const part of this.#incomingAudio.end()) this.#attachment?.ignored(part);
  }

  onClosed(): void {
    this.#incomingAudio.close();
  }

  event({ event, data }: StreamEvent): void {
    if (event === "answered") {
      this.#isAnswered = true;
      if (this.#attachment !== undefined) this.#start();
    } else if (this.#isStarted && event === "dtmf") {
      const dtmf = { track: "inbound_track", digit: data.digit };
      this.#output.text({ event, streamSid: this.#stream.streamSid, sequenceNumber: this.#nextSequence(), dtmf });
    } else if (event === "mark") {
      // A mark of an earlier connection is not in the list.
      const at = this.#marks.indexOf(String(data.name));
      if (at >= 0) this.#sendMark(this.#marks.splice(at, 1)[0] ?? "");
    }
  }

  transcript(): void {}

  callee(frame: Int16Array): void {
    if (!this.#isStarted) return;
    const payload = encodeBase64(encodeMulaw(frame, this.#codes));
    const timestampMs = this.#chunk * FRAME_MS;
    this.#chunk++;
    this.#output.audio(
      `{"event":"media","sequenceNumber":"${this.#nextSequence()}","media":{"track":"inbound","chunk":"${this.#chunk}",` +
        `"timestamp":"${timestampMs}","payload":"${payload}"},"streamSid":${this.#sid}}`,
    );
  }

  over(): void {
    if (!this.#isStarted) return;
    const { streamSid, accountSid, callSid } = this.#stream;
    this.#output.text({
      event: "stop",
      sequenceNumber: this.#nextSequence(),
      stop: { accountSid, callSid },
      streamSid,
    });
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { streamSid, accountSid, callSid, customParameters = {} } = this.#stream;
    const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: SAMPLE_RATE, channels: 1 };
    const start = { accountSid, streamSid, callSid, tracks: ["inbound"], mediaFormat, customParameters };
    this.#output.text({ event: "connected", protocol: "Call", version: "1.0.0" });
    this.#output.text({ event: "start", sequenceNumber: this.#nextSequence(), start, streamSid });
  }

  /** Handles a message; returns its fault if it cannot be used. */
  #handle(data: string | Uint8Array): string | undefined | Promise<undefined> {
    if (typeof data !== "string") return "binary message: send audio as Base64 in media messages";
    const message = asRecord(parseJson(data));
    if (message === undefined) return "a message is not a JSON object";
    if (!this.#isOfStream(message)) return "a message lacks the streamSid of this stream";
    if (message.event === "media") return this.#media(asRecord(message.media)?.payload);
    if (message.event === "mark") return this.#mark(asRecord(message.mark)?.name);
    if (message.event !== "clear") return "the event of a message is not media, mark or clear";
    this.#clear();
    return undefined;
  }

  #isOfStream(message: Readonly<Record<string, unknown>>): boolean {
    return this.#isStarted && message.streamSid === this.#stream.streamSid;
  }

  #media(payload: unknown): string | undefined | Promise<undefined> {
    const codes = typeof payload === "string" ? decodeBase64(payload) : undefined;
    if (codes === undefined) return "the payload of a media message is not Base64";
    try {
      return this.#incomingAudio.push(codes)?.then(
        () => undefined,
        (error: unknown) => this.#fail(error),
      );
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): undefined {
    if (!(error instanceof NotAudio)) throw error;
    this.#output.close(CLOSE_CODES.notAudio, error.message);
  }

  #mark(name: unknown): string | undefined {
    if (!isMarkName(name)) return `a mark message needs a name of at most ${MAX_MARK_CHARACTERS} characters`;
    this.#marks.push(name); // it may be reached at once
    try {
      this.#attachment?.mark(name);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#marks.pop();
      return `a mark message was ignored: ${error.message}`;
    }
    return undefined;
  }

  /** Clears the queue, and reports its marks too, as Twilio does: no audio remains before them. */
  #clear(): void {
    this.#incomingAudio.reset();
    this.#attachment?.clear();
    for (const name of this.#marks.splice(0)) this.#sendMark(name);
  }

  #sendMark(name: string): void {
    const { streamSid } = this.#stream;
    this.#output.text({ event: "mark", sequenceNumber: this.#nextSequence(), streamSid, mark: { name } });
  }

  /** The next sequence number; Twilio sends numbers as strings. */
  #nextSequence(): string {
    return String(++this.#sequence);
  }
}

function isMarkName(name: unknown): name is string {
  return typeof name === "string" && name.length <= MAX_MARK_CHARACTERS;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}
