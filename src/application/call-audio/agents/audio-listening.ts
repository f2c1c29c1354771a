import type { CallOf } from "../../../domain/calls/call.ts";
import type { AudioAgentEvent, AudioFormat } from "../../../ports/audio-conversation.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import {
  CallTranscripts,
  type CallTranscriptsContext,
  type TranscriptReader,
} from "../transcripts/call-transcripts.ts";
import { BargeIn } from "./barge-in.ts";
import { ConversationAudio } from "./conversation-audio.ts";
import type { SpokenLine } from "./spoken-queue.ts";
import type { TurnMeter } from "./turn-meter.ts";

/** Dependencies of {@link AudioListening}. */
export type AudioListeningContext = CallTranscriptsContext;

/** Callbacks of an {@link AudioListening}. */
export interface AudioListeningReports {
  /** Called when the callee may be interrupting. */
  onBargeIn(): void;
  /** Called when the sound was not an interruption. */
  onFalseStart(): void;
}

/** Passes the callee's audio to an audio agent, detects interruptions, and records the words of both sides. */
export class AudioListening implements TranscriptReader {
  readonly #media: LiveCallMedia;
  readonly #meter: TurnMeter;
  readonly #transcripts: CallTranscripts;
  readonly #audio: ConversationAudio;
  readonly #bargeIn: BargeIn;

  /** @param transcribes true if the agent reports the callee's words itself */
  constructor(
    context: AudioListeningContext,
    call: CallOf<"DYNAMIC_AGENT">,
    transcribes: boolean,
    media: LiveCallMedia,
    meter: TurnMeter,
    reports: AudioListeningReports,
  ) {
    const { sampleRate } = media.leg;
    this.#media = media;
    this.#meter = meter;
    this.#transcripts = new CallTranscripts(context, call, this, sampleRate, transcribes ? [] : ["callee"]);
    this.#audio = new ConversationAudio(media);
    this.#bargeIn = new BargeIn(sampleRate, {
      onSound: () => {},
      onBargeIn: () => reports.onBargeIn(),
      onFalseAlarm: () => reports.onFalseStart(),
    });
  }

  /** Passes the callee's audio on, from the answer. */
  begin(format: AudioFormat, hear: (bytes: Uint8Array) => void): void {
    this.#audio.begin(format, hear);
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#transcripts.inbound(frame, received);
    const { isSpeech, isVoiced, hangOverMs } = this.#media.callee;
    this.#meter.addCalleeFrame(isSpeech, hangOverMs);
    if (!this.#audio.write(received)) return;
    this.#bargeIn.push(received, isSpeech, isVoiced);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    this.#transcripts.outbound(samples, from, length);
  }

  /** Handles the agent's own report that the callee speaks. */
  confirmSpeech(): void {
    this.#bargeIn.confirmSpeech();
  }

  /** Adds a line of the agent to the transcript. */
  add(line: SpokenLine): void {
    this.#transcripts.add("caller", line);
  }

  /** Adds the callee's words that the agent reports. */
  addWords(event: Extract<AudioAgentEvent, { type: "callee_words" }>): void {
    const line = this.#audio.lineOf(event);
    if (line === undefined) return;
    this.#media.words(line.text);
    this.#transcripts.add("callee", line);
  }

  transcript(): void {} // the agent gets the audio itself

  emit(): void {} // a call continues without transcripts

  /** Stops passing audio to the agent. */
  stop(): void {
    this.#audio.stop();
  }

  async flush(): Promise<void> {
    await this.#transcripts.flush();
  }
}
