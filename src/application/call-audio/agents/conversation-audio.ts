import type { AudioAgentEvent, AudioFormat } from "../../../ports/audio-conversation.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import { AudioWriter } from "./leg-audio-format.ts";
import type { SpokenLine } from "./spoken-queue.ts";

/** Writes the callee's audio for an agent, and converts the times of words that the agent recognised to call times. */
export class ConversationAudio {
  readonly #media: LiveCallMedia;
  #writer: AudioWriter | undefined;
  /** Time at which the first audio was passed to the agent, ms since the answer; undefined before. */
  #fromMs: number | undefined;

  constructor(media: LiveCallMedia) {
    this.#media = media;
  }

  /** Starts passing audio to the agent. */
  begin(format: AudioFormat, hear: (bytes: Uint8Array) => void): void {
    this.#writer = new AudioWriter(format, this.#media.leg.sampleRate, hear);
  }

  /** Passes on a frame; returns true if the agent gets audio now. */
  write(frame: Int16Array): boolean {
    if (this.#writer === undefined) return false;
    // The leg has already pulled its frame for the same time.
    this.#fromMs ??= Math.max(0, this.#media.playout.clockMs - this.#media.leg.frameMs);
    this.#writer.write(frame);
    return true;
  }

  /** The words as a line of the transcript; undefined if there are none. */
  lineOf({ text, startMs, endMs }: Extract<AudioAgentEvent, { type: "callee_words" }>): SpokenLine | undefined {
    const words = text.trim();
    if (words === "") return undefined;
    const offsetMs = this.#fromMs ?? 0;
    const now = this.#media.playout.clockMs;
    const lineStartMs = startMs === undefined ? now : Math.round(startMs + offsetMs);
    const lineEndMs = endMs === undefined ? now : Math.round(endMs + offsetMs);
    return { text: words, startMs: lineStartMs, endMs: Math.max(lineStartMs, lineEndMs) };
  }

  /** Stops passing audio on. */
  stop(): void {
    this.#writer = undefined;
  }
}
