import type { StreamAttachment, StreamEvent } from "../../application/call-audio/streams/stream-client.ts";
import { decodeMulaw, encodeMulaw } from "../../audio/g711.ts";
import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import type { Dialect, DialectOutput } from "./dialect.ts";

/** What a bot is told about its stream; Twilio calls every id a SID. */
export interface TwilioStream {
  /** Of this connection; `MZ` and 32 hexadecimal digits, see {@link twilioStreamSid}. */
  readonly streamSid: string;
  readonly callSid: string;
  readonly accountSid: string;
  /** See {@link twilioParameters}. */
  readonly customParameters?: Readonly<Record<string, string>> | undefined;
  /** Is told the first time that a message of the bot cannot be used, as Twilio's own debugger is. */
  readonly warn?: ((detail: string) => void) | undefined;
}

const PARAMETER = "parameter.";
const SAMPLE_RATE = 8_000;
const FRAME_MS = 20;
const MOST_MARK_CHARACTERS = 1_024;

/** A new id for a stream, in Twilio's form. */
export function twilioStreamSid(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  return `MZ${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What `<Parameter>` says at Twilio, from a query with `parameter.<name>=<value>`. */
export function twilioParameters(search: string): Record<string, string> {
  const given = [...new URLSearchParams(search)].filter(([name]) => name.startsWith(PARAMETER));
  return Object.fromEntries(given.map(([name, value]) => [name.slice(PARAMETER.length), value]));
}

/**
 * The messages of Twilio's bidirectional Media Streams (twilio.com/docs/voice/media-streams/websocket-messages), for bots
 * that were written for those. The stream starts when the call is answered; a bot that attaches itself again gets a
 * stream that starts anew. What is none of Twilio's messages is ignored, with one warning, as there.
 */
export class TwilioDialect implements Dialect {
  readonly calleeRate: number = SAMPLE_RATE;
  readonly #output: DialectOutput;
  readonly #stream: TwilioStream;
  readonly #sid: string;
  readonly #codes = new Uint8Array((SAMPLE_RATE * FRAME_MS) / 1000);
  #attachment: StreamAttachment | undefined;
  #answered = false;
  #started = false;
  #warned = false;
  #sequence = 0;
  #chunk = 0;
  /** Names of marks that were neither reached nor cleared, the oldest first. */
  readonly #marks: string[] = [];

  constructor(output: DialectOutput, stream: TwilioStream) {
    this.#output = output;
    this.#stream = stream;
    this.#sid = JSON.stringify(stream.streamSid);
  }

  attached(attachment: StreamAttachment): void {
    this.#attachment = attachment;
    if (this.#answered) this.#start();
  }

  receive(data: string | Uint8Array): void {
    const fault = this.#take(data);
    if (fault === undefined || this.#warned) return;
    this.#warned = true;
    this.#stream.warn?.(fault);
  }

  gone(): void {}

  event({ event, data }: StreamEvent): void {
    if (event === "answered") {
      this.#answered = true;
      if (this.#attachment !== undefined) this.#start();
    } else if (this.#started && event === "dtmf") {
      const dtmf = { track: "inbound_track", digit: data.digit };
      this.#output.text({ event, streamSid: this.#stream.streamSid, sequenceNumber: this.#next(), dtmf });
    } else if (event === "mark") {
      // One of an earlier connection is not among ours.
      const at = this.#marks.indexOf(String(data.name));
      if (at >= 0) this.#tellMark(this.#marks.splice(at, 1)[0] ?? "");
    }
  }

  transcript(): void {}

  callee(frame: Int16Array): void {
    if (!this.#started) return;
    const payload = encodeBase64(encodeMulaw(frame, this.#codes));
    const at = this.#chunk * FRAME_MS;
    this.#chunk++;
    this.#output.audio(
      `{"event":"media","sequenceNumber":"${this.#next()}","media":{"track":"inbound","chunk":"${this.#chunk}",` +
        `"timestamp":"${at}","payload":"${payload}"},"streamSid":${this.#sid}}`,
    );
  }

  over(): void {
    if (!this.#started) return;
    const { streamSid, accountSid, callSid } = this.#stream;
    this.#output.text({ event: "stop", sequenceNumber: this.#next(), stop: { accountSid, callSid }, streamSid });
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const { streamSid, accountSid, callSid, customParameters = {} } = this.#stream;
    const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: SAMPLE_RATE, channels: 1 };
    const start = { accountSid, streamSid, callSid, tracks: ["inbound"], mediaFormat, customParameters };
    this.#output.text({ event: "connected", protocol: "Call", version: "1.0.0" });
    this.#output.text({ event: "start", sequenceNumber: this.#next(), start, streamSid });
  }

  /** Does what a message asks for; answers what is wrong with one that cannot be used. */
  #take(data: string | Uint8Array): string | undefined {
    if (typeof data !== "string") return "a binary message came: audio goes into media messages, as Base64";
    const message = record(parsed(data));
    if (message === undefined) return "a message came that is no JSON object";
    if (!this.#started || message.streamSid !== this.#stream.streamSid)
      return "a message came without the streamSid of this stream";
    if (message.event === "media") return this.#media(record(message.media)?.payload);
    if (message.event === "mark") return this.#mark(record(message.mark)?.name);
    if (message.event !== "clear") return "a message came whose event is not media, mark or clear";
    this.#clear();
    return undefined;
  }

  #media(payload: unknown): string | undefined {
    const codes = typeof payload === "string" ? decodeBase64(payload) : undefined;
    if (codes === undefined) return "a media message came whose payload is not Base64";
    if (codes.length > 0) this.#attachment?.write(decodeMulaw(codes), SAMPLE_RATE);
    return undefined;
  }

  #mark(name: unknown): string | undefined {
    if (typeof name !== "string" || name.length > MOST_MARK_CHARACTERS)
      return `a mark message came without a name of at most ${MOST_MARK_CHARACTERS} characters`;
    this.#marks.push(name); // it may be reached at once
    try {
      this.#attachment?.mark(name);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#marks.pop();
      return `a mark message came too much: ${error.message}`;
    }
    return undefined;
  }

  /** What was not reached is told as well: nothing will be played in front of it. */
  #clear(): void {
    this.#attachment?.clear();
    for (const name of this.#marks.splice(0)) this.#tellMark(name);
  }

  #tellMark(name: string): void {
    const { streamSid } = this.#stream;
    this.#output.text({ event: "mark", sequenceNumber: this.#next(), streamSid, mark: { name } });
  }

  /** Numbers are text at Twilio. */
  #next(): string {
    return String(++this.#sequence);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}
