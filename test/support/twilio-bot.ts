// A bot for Twilio Media Streams. Written only from Twilio's public documentation, independently of Ringport:
// https://www.twilio.com/docs/voice/media-streams/websocket-messages
import type { WebSocket } from "ws";

/** Options of {@link TwilioBot}. */
export interface TwilioBotOptions {
  /** Audio to play as soon as the stream starts. */
  readonly greeting?: { readonly hz: number; readonly ms: number };
  /** Audio to play after the last key, before it hangs up. */
  readonly goodbye?: { readonly hz: number; readonly ms: number; readonly after: string };
  /** Name of the mark on whose return it hangs up. */
  readonly hangUpAt?: string;
}

/** The part of a Twilio message that bots read. */
export interface TwilioMessage {
  readonly event: string;
  readonly sequenceNumber?: string;
  readonly streamSid?: string;
  readonly protocol?: string;
  readonly version?: string;
  readonly start?: {
    readonly streamSid: string;
    readonly accountSid: string;
    readonly callSid: string;
    readonly tracks: readonly string[];
    readonly mediaFormat: { readonly encoding: string; readonly sampleRate: number; readonly channels: number };
    readonly customParameters: Readonly<Record<string, string>>;
  };
  readonly media?: {
    readonly track: string;
    readonly chunk: string;
    readonly timestamp: string;
    readonly payload: string;
  };
  readonly dtmf?: { readonly track: string; readonly digit: string };
  readonly mark?: { readonly name: string };
  readonly stop?: { readonly accountSid: string; readonly callSid: string };
}

const LOUD = 500;
/** Number of packets of 20 ms without a voice that end an utterance. */
const PAUSE_PACKETS = 15;

/**
 * Repeats what it receives, an utterance at a time, each followed by a mark; a key silences it immediately.
 */
export class TwilioBot {
  /** Every message received. */
  readonly messages: TwilioMessage[] = [];
  /** Repeated utterances, mu-law. */
  readonly utterances: Buffer[] = [];
  /** End of the connection; undefined before that. */
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #ws: WebSocket;
  readonly #options: TwilioBotOptions;
  #streamSid = "";
  #utterance: Buffer[] = [];
  #quietFrames = 0;
  #isListening = true;

  constructor(ws: WebSocket, options: TwilioBotOptions = {}) {
    this.#ws = ws;
    this.#options = options;
    ws.on("message", (data: Buffer) => this.#receive(JSON.parse(data.toString())));
    ws.on("close", (code: number, reason: Buffer) => {
      this.closed = { code, reason: reason.toString() };
    });
    ws.on("error", () => {}); // `close` follows
  }

  /** The messages of one kind. */
  messagesOf(event: string): TwilioMessage[] {
    return this.messages.filter((message) => message.event === event);
  }

  /** The names of the returned marks, in order. */
  get marks(): string[] {
    return this.messagesOf("mark").map(({ mark }) => mark?.name ?? "");
  }

  /** Sends any message, as a faulty bot would. */
  send(message: object | string | Buffer): void {
    this.#ws.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  hangUp(): void {
    this.#ws.close();
  }

  #receive(message: TwilioMessage): void {
    this.messages.push(message);
    const { greeting, goodbye, hangUpAt } = this.#options;
    switch (message.event) {
      case "start":
        this.#streamSid = message.start?.streamSid ?? "";
        if (greeting) this.#play(tone(greeting.hz, greeting.ms), "greeting");
        break;
      case "media":
        this.#listen(Buffer.from(message.media?.payload ?? "", "base64"));
        break;
      case "dtmf":
        this.send({ event: "clear", streamSid: this.#streamSid });
        if (goodbye && goodbye.after === message.dtmf?.digit) this.#sayGoodbye(tone(goodbye.hz, goodbye.ms));
        break;
      case "mark":
        if (message.mark?.name === hangUpAt) this.hangUp();
        break;
      default:
    }
  }

  #sayGoodbye(audio: Buffer): void {
    this.#isListening = false;
    this.#play(audio, "goodbye");
  }

  #listen(packet: Buffer): void {
    if (!this.#isListening) return;
    const isLoud = packet.some((code) => Math.abs(levelOf(code)) > LOUD);
    if (!isLoud && this.#utterance.length === 0) return;
    this.#utterance.push(packet);
    this.#quietFrames = isLoud ? 0 : this.#quietFrames + 1;
    if (this.#quietFrames < PAUSE_PACKETS) return;
    const utterance = Buffer.concat(this.#utterance);
    this.#utterance = [];
    this.#quietFrames = 0;
    this.utterances.push(utterance);
    this.#play(utterance, `utterance ${this.utterances.length}`);
  }

  /** Sends audio in messages of half a second, followed by a mark. */
  #play(audio: Buffer, name: string): void {
    const streamSid = this.#streamSid;
    for (let at = 0; at < audio.length; at += 4000) {
      const payload = audio.subarray(at, at + 4000).toString("base64");
      this.send({ event: "media", streamSid, media: { payload } });
    }
    this.send({ event: "mark", streamSid, mark: { name } });
  }
}

/** Level of a mu-law code, -32124 to 32124 (ITU-T G.711). */
export function levelOf(code: number): number {
  const invertedCode = ~code & 0xff;
  const level = (((invertedCode & 0x0f) * 2 + 33) * 2 ** ((invertedCode >> 4) & 7) - 33) * 4;
  return invertedCode & 0x80 ? -level : level;
}

const CODES: readonly number[] = Array.from({ length: 256 }, (_, code) => code);
const codesByLevel = new Map<number, number>();

/** Code with the nearest level. */
function codeOf(level: number): number {
  const distance = (code: number): number => Math.abs(levelOf(code) - level);
  const code =
    codesByLevel.get(level) ??
    CODES.reduce((best, candidate) => (distance(candidate) < distance(best) ? candidate : best));
  codesByLevel.set(level, code);
  return code;
}

/** A tone in mu-law at 8 kHz. */
function tone(hz: number, ms: number): Buffer {
  const level = (i: number): number => Math.round(8_000 * Math.sin((2 * Math.PI * ((hz * i) % 8_000)) / 8_000));
  return Buffer.from(Array.from({ length: 8 * ms }, (_, i) => codeOf(level(i))));
}
