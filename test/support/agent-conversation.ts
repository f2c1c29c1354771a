import { expect, vi } from "vitest";
import { encodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import type { AudioAgentEvent, AudioConversation } from "../../src/ports/audio-conversation.ts";

/** A conversation as the core sees it. */
export class AgentConversation {
  readonly conversation: AudioConversation;
  readonly events: AudioAgentEvent[] = [];
  /** Resolves when the agent has hung up or failed. */
  readonly whenEnded: Promise<void>;
  /** Called for each event as it arrives. */
  onEvent: (event: AudioAgentEvent) => void = () => {};

  constructor(conversation: AudioConversation) {
    this.conversation = conversation;
    this.whenEnded = (async () => {
      for await (const event of conversation.events) {
        this.events.push(event);
        this.onEvent(event);
        if (event.type === "hang_up" || event.type === "fail") return;
      }
    })();
  }

  /** Events in short form: audio as its length in ms, at 8 kHz. */
  get summary(): string[] {
    const lines: string[] = [];
    const lengths = new Map<string, number>();
    for (const event of this.events) {
      if (event.type === "audio") lengths.set(event.item, (lengths.get(event.item) ?? 0) + event.bytes.length / 8);
      else if (event.type === "item_end") lines.push(`said ${lengths.get(event.item) ?? 0} ms`);
      else if (event.type === "reply") lines.push(`reply to ${event.to}`);
      else if (event.type === "say") lines.push(`say ${event.text}`);
      else if (event.type === "press") lines.push(`press ${event.keys}`);
      else if (event.type === "fail" || event.type === "fault") lines.push(`${event.type}: ${event.detail}`);
      else if (event.type !== "words") lines.push(event.type);
    }
    return lines;
  }

  count(type: AudioAgentEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** The next event of this type, as soon as it arrives. */
  next<Type extends AudioAgentEvent["type"]>(type: Type): Promise<Extract<AudioAgentEvent, { type: Type }>> {
    return new Promise((resolve) => {
      this.onEvent = (event) => {
        if (event.type === type) resolve(event as Extract<AudioAgentEvent, { type: Type }>);
      };
    });
  }

  /** Sends silence, a tone and silence as the callee's audio, all at once. */
  speak(hz: number, ms = 600): void {
    const silence = new Int16Array(8_000);
    const voice = tone(hz, ms, 8_000, 6_000);
    for (const samples of [silence, voice, silence])
      for (let at = 0; at < samples.length; at += 160)
        this.conversation.hear(encodeMulaw(samples.subarray(at, at + 160)));
  }

  until(condition: (conversation: AgentConversation) => boolean, times = 1): Promise<void> {
    return vi.waitFor(() => expect(condition(this), this.summary.join("\n")).toBe(true), { timeout: 10_000 * times });
  }
}
