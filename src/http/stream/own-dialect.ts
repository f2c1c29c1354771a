import type { StreamAttachment, StreamEvent, Transcript } from "../../application/streams/stream-client.ts";
import { IncomingAudio } from "../../audio/incoming-audio.ts";
import { pcmToBytes } from "../../audio/pcm.ts";
import { timestamp } from "../views.ts";
import type { Dialect, DialectOutput } from "./dialect.ts";

/** The messages of the interface: binary audio, `transcript` and `call_event` as JSON. */
export class OwnDialect implements Dialect {
  readonly calleeRate: number | undefined;
  readonly #output: DialectOutput;
  readonly #incoming: IncomingAudio;
  #attachment: StreamAttachment | undefined;

  constructor(output: DialectOutput, calleeRate: number | undefined) {
    this.#output = output;
    this.calleeRate = calleeRate;
    this.#incoming = new IncomingAudio({
      encoding: undefined,
      sampleRate: 16_000,
      mp3: undefined,
      decoded: (samples, sampleRate) => this.#attachment?.write(samples, sampleRate),
    });
  }

  attached(attachment: StreamAttachment): void {
    this.#attachment = attachment;
  }

  receive(data: string | Uint8Array): void | Promise<void> {
    if (typeof data !== "string") return this.#incoming.push(data);
    const message = JSON.parse(data) as { type: string; name?: string; digits?: string };
    if (message.type === "mark") this.#attachment?.mark(message.name ?? "");
    if (message.type === "clear") this.#attachment?.clear();
    if (message.type === "hangup") this.#attachment?.hangUp();
    if (message.type === "dtmf") this.#attachment?.dtmf(message.digits ?? "");
  }

  gone(): void {
    this.#incoming.close();
  }

  event({ event, timestamp: at, data }: StreamEvent): void {
    this.#output.text({ type: "call_event", event, timestamp: timestamp(at), ...data });
  }

  transcript({ text, timestamp: at, final, speaker }: Transcript): void {
    this.#output.text({ type: "transcript", text, timestamp: timestamp(at), final, speaker });
  }

  callee(frame: Int16Array): void {
    this.#output.audio(pcmToBytes(frame));
  }

  over(): void {}
}
