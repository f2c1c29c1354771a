import { endOfTurnMs, isBackchannel } from "../../../domain/agents/end-of-turn.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import type { Speaker, TranscriptLine } from "../../../domain/calls/transcript.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import type { Transcript } from "../streams/stream-client.ts";
import {
  CallTranscripts,
  type CallTranscriptsContext,
  type TranscriptReader,
} from "../transcripts/call-transcripts.ts";
import { BargeIn } from "./barge-in.ts";
import { CalleeTurn } from "./callee-turn.ts";
import { TranscriptionWatch } from "./transcription-watch.ts";
import type { TurnMeter } from "./turn-meter.ts";

/** Dependencies of {@link CalleeTurns}. */
export type ListeningContext = Pick<Context, "transcription"> & CallTranscriptsContext;

/** Reports and requests of an agent's {@link CalleeTurns}. Mostly called on the leg's clock. */
export interface ListeningReports {
  /** Called when the callee makes a sound, perhaps the first of a word. */
  onSound(): void;
  /** Called when the callee has been speaking long enough to interrupt. */
  onBargeIn(): void;
  /** Called when the sound was not speech, or only a backchannel such as "mm-hm". */
  onFalseStart(): void;
  /** True if the agent is speaking, or about to. */
  hasTurn(): boolean;
  /**
   * Called at the end of the callee's turn.
   * @param continued true if the text starts with the previous turn, to which no reply was heard
   */
  onWords(text: string, continued: boolean): void;
  /** Called when the callee's turn has probably ended. */
  onProbableWords(text: string, continued: boolean): void;
  /** Called when the words of a turn are lost. */
  onLostWords(detail: string): void;
  /** Called when no further words will arrive. */
  onTranscriptionFailure(detail: string): void;
}

/** Listens to the callee for an agent: combines words into turns, detects interruptions, and reports faults. */
export class CalleeTurns implements CallTap, TranscriptReader {
  readonly #media: LiveCallMedia;
  readonly #meter: TurnMeter;
  readonly #reports: ListeningReports;
  readonly #transcripts: CallTranscripts;
  /** True if words arrive; without them, only keys interrupt the agent. */
  #hearsWords: boolean;
  readonly #bargeIn: BargeIn;
  readonly #turn: CalleeTurn;
  readonly #watch: TranscriptionWatch;

  constructor(
    context: ListeningContext,
    call: CallOf<"DYNAMIC_AGENT">,
    media: LiveCallMedia,
    meter: TurnMeter,
    reports: ListeningReports,
  ) {
    const { sampleRate } = media.leg;
    this.#media = media;
    this.#meter = meter;
    this.#reports = reports;
    this.#hearsWords = context.transcription !== undefined;
    this.#transcripts = new CallTranscripts(context, call, this, sampleRate, ["callee"]);
    this.#watch = new TranscriptionWatch(sampleRate, (detail) => {
      this.#bargeIn.confirmSpeech();
      reports.onLostWords(detail);
    });
    this.#turn = new CalleeTurn(sampleRate, media.callee.hangOverMs, {
      onTurnEnd: (text, continued) => {
        this.#meter.recordWholeTurn();
        reports.onWords(text, continued);
      },
      onProbableTurnEnd: (text, continued) => reports.onProbableWords(text, continued),
    });
    this.#bargeIn = new BargeIn(sampleRate, {
      onSound: () => reports.onSound(),
      onBargeIn: () => {
        this.#watch.recordSpeech();
        reports.onBargeIn();
      },
      onFalseAlarm: () => reports.onFalseStart(),
    });
  }

  /** BCP 47 tag of the spoken language. */
  set language(tag: string) {
    this.#turn.language = tag;
  }

  /** True if the callee speaks, or their words are still being transcribed. */
  get isBusy(): boolean {
    return this.#hearsWords && (this.#media.callee.isSpeech || this.#turn.isWaiting || this.#watch.isWaiting);
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#transcripts.inbound(frame, received);
    const { isSpeech, isVoiced, hangOverMs } = this.#media.callee;
    this.#meter.addCalleeFrame(isSpeech, hangOverMs);
    if (!this.#hearsWords) return;
    this.#bargeIn.push(received, isSpeech, isVoiced);
    this.#turn.push(isSpeech, received.length);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    this.#transcripts.outbound(samples, from, length);
    if (this.#hearsWords) this.#watch.push(length);
  }

  async flush(): Promise<void> {
    await this.#transcripts.flush();
  }

  /** Closes the turn: the callee hears the agent's reply, or gets none. */
  closeTurn(): void {
    this.#turn.closeTurn();
  }

  /** Adds a line to the transcript. */
  add(speaker: Speaker, line: Pick<TranscriptLine, "text" | "startMs" | "endMs">): void {
    this.#transcripts.add(speaker, line);
  }

  transcript({ text, final }: Transcript, isTurnEnd = false): void {
    this.#media.words(text);
    if (!final) {
      this.#turn.setPartialText(text, isTurnEnd);
      return;
    }
    this.#meter.recordWords();
    this.#bargeIn.confirmSpeech();
    this.#watch.recordWords();
    if (this.#reports.hasTurn() && isBackchannel(text)) this.#reports.onFalseStart();
    else this.#turn.addFinalText(text);
  }

  endOfTurnMs(text: string): number {
    return endOfTurnMs(text, this.#turn.language);
  }

  onTurnEnded(): void {
    if (this.#hearsWords) this.#watch.recordTurnEnd();
    this.#meter.recordTurnEnd();
  }

  onFalseStart(): void {
    this.#watch.recordWords();
    this.#bargeIn.confirmSpeech();
    this.#reports.onFalseStart();
  }

  onTranscriptionFailed(error: Error, recoverable: boolean): void {
    if (recoverable) {
      this.#watch.recordFailure(error);
      return;
    }
    this.#hearsWords = false;
    this.#reports.onFalseStart();
    this.#reports.onTranscriptionFailure(error.message);
  }

  emit(): void {} // faults arrive through onTranscriptionFailed, and keys work without transcripts
}
