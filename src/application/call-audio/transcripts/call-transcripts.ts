import { pause } from "../../../base/timers.ts";
import type { Call } from "../../../domain/calls/call.ts";
import type { Speaker, TranscriptLine } from "../../../domain/calls/transcript.ts";
import { type Event, isFinalEvent } from "../../../domain/events.ts";
import type { TranscriptionEvent } from "../../../ports/transcription.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { StreamEventData, Transcript } from "../streams/stream-client.ts";
import { TranscriptWriter, type TranscriptWriterContext } from "./transcript-writer.ts";
import { TranscriptionFeed } from "./transcription-feed.ts";

/** Dependencies of {@link CallTranscripts}. */
export type CallTranscriptsContext = Pick<
  Context,
  "events" | "log" | "system" | "transcriptSpeakers" | "transcription" | "voiceActivity"
> &
  TranscriptWriterContext;

/** Maximum time that the end of a call waits for its last transcripts, ms. */
const FLUSH_MS = 1_000;

/** Receives the transcripts of a call as they become known. */
export interface TranscriptReader {
  /** @param isTurnEnd true if the engine expects the turn to end with this text */
  transcript(transcript: Transcript, isTurnEnd: boolean): void;
  /** Silence after this text that ends the callee's turn, ms. Default: the usual time. */
  endOfTurnMs?(text: string): number;
  /** Called after enough silence: the engine now transcribes the callee's speech. */
  onTurnEnded?(): void;
  /** Called when speech turned out to have no words. */
  onFalseStart?(): void;
  /** Called when a part of the call was not transcribed, or the rest of it will not be. */
  onTranscriptionFailed?(error: Error, recoverable: boolean): void;
  /** Emits the event for a part of the call, or the rest of it, that is not transcribed. */
  emit(event: "transcripts_unavailable", data: StreamEventData): void;
}

/**
 * Transcribes one call: from the answer on, each speaker has a session of the engine. The reader gets every transcript,
 * the storage only final ones. A failure of the engine never ends the call.
 */
export class CallTranscripts implements CallTap {
  readonly #context: CallTranscriptsContext;
  readonly #call: Pick<Call, "id">;
  readonly #reader: TranscriptReader;
  readonly #feeds = new Map<Speaker, TranscriptionFeed>();
  readonly #writer: TranscriptWriter;
  readonly #unsubscribe: () => void;
  /** Time of the answer, ms since 1970-01-01 UTC. */
  #answeredAt: number | undefined;
  /** Number of samples played since the answer and before the first frame from the callee. */
  #leadSamples = 0;
  #isReceiving = false;
  #finishPromise: Promise<void> | undefined;
  /** The worst fault reported to the client. */
  #reportedFault: "none" | "recoverable" | "permanent" = "none";

  /** @param speakers whose speech the engine transcribes */
  constructor(
    context: CallTranscriptsContext,
    call: Pick<Call, "id">,
    reader: TranscriptReader,
    legRate: number,
    speakers: readonly Speaker[] = context.transcriptSpeakers,
  ) {
    this.#context = context;
    this.#call = call;
    this.#reader = reader;
    this.#writer = new TranscriptWriter(context, call.id);
    const { transcription, voiceActivity } = context;
    if (transcription)
      for (const speaker of speakers) {
        const options = { callId: call.id, speaker };
        this.#feeds.set(
          speaker,
          new TranscriptionFeed(transcription, options, legRate, voiceActivity, {
            onTranscript: (event) => this.#onTranscription(speaker, event),
            onTurnEnd: () => {
              if (speaker === "callee") this.#reader.onTurnEnded?.();
            },
          }),
        );
      }
    this.#unsubscribe = context.events.subscribeToLiveCall(call.id, {
      onEvent: (event) => this.#onEvent(event),
      onClose: () => void this.#finish(),
    });
  }

  /** Resolves when the last transcripts have been delivered, or {@link FLUSH_MS} have passed. */
  async flush(): Promise<void> {
    const timeout = new AbortController();
    await Promise.race([this.#finish(), pause(this.#context.system, FLUSH_MS, timeout.signal)]);
    timeout.abort();
  }

  /** Stores words that need no engine, because they were spoken from a text. Times are ms since the answer. */
  add(speaker: Speaker, { text, startMs, endMs }: Pick<TranscriptLine, "text" | "startMs" | "endMs">): void {
    const timestamp = (this.#answeredAt ?? this.#context.system.now()) + startMs;
    this.#writer.add({ speaker, text, timestamp, startMs, endMs, confidence: null });
  }

  #onEvent(event: Event): void {
    if (event.type === "answered") this.#start(event.timestamp);
    else if (isFinalEvent(event.type)) void this.#finish();
  }

  #start(answeredAt: number): void {
    this.#answeredAt = answeredAt;
    if (this.#feeds.size === 0) this.#reader.emit("transcripts_unavailable", { reason: "no_engine" });
    for (const feed of this.#feeds.values()) feed.start();
  }

  /** Passes silence to the engine for missing audio: concealed audio could turn into words. */
  inbound(_frame: Int16Array, received: Int16Array): void {
    if (this.#answeredAt === undefined || this.#finishPromise) return;
    const feed = this.#feeds.get("callee");
    if (!this.#isReceiving) {
      this.#isReceiving = true;
      // Audio played in the same tick has the same age as this frame.
      feed?.push(undefined, 0, Math.max(0, this.#leadSamples - received.length));
    }
    feed?.push(received, 0, received.length);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    if (this.#answeredAt === undefined || this.#finishPromise) return;
    if (!this.#isReceiving) this.#leadSamples += length;
    this.#feeds.get("caller")?.push(samples, from, length);
  }

  #finish(): Promise<void> {
    this.#finishPromise ??= (async () => {
      this.#unsubscribe();
      await Promise.all([...this.#feeds.values()].map((feed) => feed.finish()));
      await this.#writer.finish();
    })();
    return this.#finishPromise;
  }

  #onTranscription(speaker: Speaker, event: TranscriptionEvent): void {
    if (event.type === "error") {
      this.#reportFailure(speaker, event);
      return;
    }
    const text = event.text.trim();
    const answeredAt = this.#answeredAt ?? this.#context.system.now();
    if (text === "") {
      if (speaker === "callee" && event.type === "final") this.#reader.onFalseStart?.();
      return;
    }
    if (speaker === "callee" && event.type === "partial") this.#waitForRest(text, event.startMs);
    const nowMs = this.#feeds.get(speaker)?.clockMs ?? 0;
    const startMs = Math.round(event.startMs ?? nowMs);
    const timestamp = answeredAt + startMs;
    const final = event.type === "final";
    this.#reader.transcript({ text, timestamp, final, speaker }, final || event.ended === true);
    if (!final) return;
    const endMs = Math.max(startMs, Math.round(event.endMs ?? nowMs));
    this.#writer.add({ speaker, text, timestamp, startMs, endMs, confidence: event.confidence ?? null });
  }

  #waitForRest(text: string, startMs: number | undefined): void {
    const silenceMs = this.#reader.endOfTurnMs?.(text);
    if (silenceMs !== undefined) this.#feeds.get("callee")?.endTurnAfter(silenceMs, startMs);
  }

  /** Logs each fault; notifies the client once that a part is missing, and once that the transcript ends. */
  #reportFailure(speaker: Speaker, { error, recoverable }: Extract<TranscriptionEvent, { type: "error" }>): void {
    const { log, transcription } = this.#context;
    const fields = { call_id: this.#call.id, speaker, engine: transcription?.name, err: error };
    this.#reader.onTranscriptionFailed?.(error, recoverable);
    log.warn(
      fields,
      recoverable ? "a part of the call was not transcribed" : "the rest of the call is not transcribed",
    );
    if (this.#reportedFault === "permanent" || (recoverable && this.#reportedFault === "recoverable")) return;
    this.#reportedFault = recoverable ? "recoverable" : "permanent";
    this.#reader.emit("transcripts_unavailable", { reason: "engine_failed", recoverable });
  }
}
