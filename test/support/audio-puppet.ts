import { encodeAlaw, encodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { Queue } from "../../src/base/queue.ts";
import {
  type AudioAgent,
  type AudioAgentEvent,
  type AudioConversation,
  type AudioFormat,
  FORMAT_RATES,
  type HeardItem,
} from "../../src/ports/audio-conversation.ts";
import type { AgentBrief } from "../../src/ports/conversation.ts";

/** A conversation controlled by the test, which records the core's reports. */
export class Puppet implements AudioConversation {
  readonly events = new Queue<AudioAgentEvent>();
  readonly reports: unknown[] = [];
  readonly heard: Uint8Array[] = [];
  format: AudioFormat | undefined;
  readonly brief: AgentBrief;
  readonly signal: AbortSignal;

  constructor(brief: AgentBrief, signal: AbortSignal) {
    this.brief = brief;
    this.signal = signal;
  }

  /** Returns results in order; after the last one, no result ever arrives. */
  readonly results: unknown[] = [];
  readonly faults: (string | undefined)[] = [];

  async report({ fault }: { readonly fault?: string | undefined }): Promise<unknown> {
    this.faults.push(fault);
    const result = this.results.length > 0 ? await this.results.shift() : new Promise<never>(() => {});
    return result;
  }
  answered(format: AudioFormat): void {
    this.format = format;
    this.reports.push(`answered ${format}`);
  }
  hear(audio: Uint8Array): void {
    this.heard.push(audio.slice());
  }
  key(digit: string): void {
    this.reports.push(`key ${digit}`);
  }
  silence(): void {
    this.reports.push("silence");
  }
  transferFailed(detail: string): void {
    this.reports.push(`not transferred: ${detail}`);
  }
  voicemail(): void {
    this.reports.push("voicemail");
  }
  ending(): void {
    this.reports.push("ending");
  }
  interrupted(items: readonly HeardItem[]): void {
    this.reports.push(items);
  }

  emit(...events: AudioAgentEvent[]): void {
    for (const event of events) this.events.push(event);
  }

  /** Plays a tone with words at once, in pieces of odd sizes. */
  speak(item: string, ms: number, text = "", hz = 440): void {
    const format = this.format ?? "pcm";
    const samples = tone(hz, ms, FORMAT_RATES[format], 8_000);
    const bytes =
      format === "pcm" ? pcmToBytes(samples) : format === "pcmu" ? encodeMulaw(samples) : encodeAlaw(samples);
    this.emit({ type: "words", item, text });
    for (let at = 0; at < bytes.length; at += 4_801)
      this.emit({ type: "audio", item, bytes: bytes.subarray(at, at + 4_801) });
    this.emit({ type: "item_end", item });
  }
}

/** An agent whose conversations are puppets. */
export function puppets(options: Partial<AudioAgent> = {}): { agent: AudioAgent; conversations: Puppet[] } {
  const conversations: Puppet[] = [];
  const agent: AudioAgent = {
    kind: "audio",
    name: "puppet",
    transcribes: true,
    check() {},
    async open(brief, signal) {
      const puppet = new Puppet(brief, signal);
      conversations.push(puppet);
      return puppet;
    },
    async close() {},
    ...options,
  };
  return { agent, conversations };
}
