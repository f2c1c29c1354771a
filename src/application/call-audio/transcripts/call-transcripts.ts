import type { PlayoutTap } from "../../../audio/playout.ts";
import type { Call } from "../../../domain/call.ts";
import { type Event, isFinalEvent } from "../../../domain/events.ts";
import type { Speaker } from "../../../domain/transcript.ts";
import type { FrameSink } from "../../../ports/media.ts";
import type { TranscriptionEvent } from "../../../ports/transcription.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../programs/program.ts";
import type { LiveStream } from "../streams/live-stream.ts";
import { TranscriptWriter } from "./transcript-writer.ts";
import { TranscriptionFeed } from "./transcription-feed.ts";

/** The end of a call waits this long for what was said last, ms. */
export const LAST_WORDS_MS = 1_000;

/**
 * Has what is said on one call written down: an engine listens to each speaker from the answer on; what it understands
 * goes to the stream's client, and what it is sure of is kept. Whatever becomes of the engine, the call goes on.
 */
export class CallTranscripts implements CallTap {
  readonly callee: FrameSink = { write: (frame) => this.#hearCallee(frame) };
  readonly sent: PlayoutTap = { played: (samples, from, length) => this.#hearCaller(samples, from, length) };
  readonly #context: Context;
  readonly #call: Pick<Call, "id">;
  readonly #stream: LiveStream;
  readonly #ears = new Map<Speaker, TranscriptionFeed>();
  readonly #kept: TranscriptWriter;
  readonly #unlisten: () => void;
  /** Of the answer; ms since 1970-01-01 UTC. */
  #answeredAt: number | undefined;
  /** Samples that were sent since the answer and before the first that came back. */
  #sentBefore = 0;
  #inboundSince = false;
  #finishing: Promise<void> | undefined;
  /** Faults that the client was told of. */
  #told: "nothing" | "passing" | "lasting" = "nothing";

  constructor(context: Context, call: Pick<Call, "id">, stream: LiveStream, legRate: number) {
    this.#context = context;
    this.#call = call;
    this.#stream = stream;
    this.#kept = new TranscriptWriter(context, call.id);
    const { transcription, transcriptSpeakers, voiceActivity } = context;
    if (transcription)
      for (const speaker of transcriptSpeakers) {
        const options = { callId: call.id, speaker };
        const told = (event: TranscriptionEvent): void => this.#understood(speaker, event);
        this.#ears.set(speaker, new TranscriptionFeed(transcription, options, legRate, voiceActivity, told));
      }
    this.#unlisten = context.events.listenLive(call.id, {
      event: (event) => this.#happened(event),
      over: () => void this.#finish(),
    });
  }

  /** The call ends: resolves when its last words have been told, or cannot be waited for any longer. */
  async lastWords(): Promise<void> {
    if (this.#ears.size === 0) return;
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#context.system.after(LAST_WORDS_MS, resolve);
    });
    await Promise.race([this.#finish(), late]);
    cancel();
  }

  #happened(event: Event): void {
    if (event.type === "answered") this.#start(event.timestamp);
    else if (isFinalEvent(event.type)) void this.#finish();
  }

  #start(answeredAt: number): void {
    this.#answeredAt = answeredAt;
    if (this.#ears.size === 0) this.#stream.tell("transcripts_unavailable", { reason: "no_engine" });
    for (const ear of this.#ears.values()) ear.start();
  }

  #hearCallee(frame: Int16Array): void {
    if (this.#answeredAt === undefined || this.#finishing) return;
    const ear = this.#ears.get("callee");
    if (!this.#inboundSince) {
      this.#inboundSince = true;
      // What was sent in the same tick is as old as this frame.
      ear?.hear(undefined, 0, Math.max(0, this.#sentBefore - frame.length));
    }
    ear?.hear(frame, 0, frame.length);
  }

  #hearCaller(samples: Int16Array | undefined, from: number, length: number): void {
    if (this.#answeredAt === undefined || this.#finishing) return;
    if (!this.#inboundSince) this.#sentBefore += length;
    this.#ears.get("caller")?.hear(samples, from, length);
  }

  #finish(): Promise<void> {
    this.#finishing ??= (async () => {
      this.#unlisten();
      await Promise.all([...this.#ears.values()].map((ear) => ear.finish()));
      await this.#kept.finish();
    })();
    return this.#finishing;
  }

  #understood(speaker: Speaker, event: TranscriptionEvent): void {
    if (event.type === "error") {
      this.#failed(speaker, event);
      return;
    }
    const text = event.text.trim();
    const answeredAt = this.#answeredAt ?? this.#context.system.now();
    if (text === "") return;
    const nowMs = this.#ears.get(speaker)?.clockMs ?? 0;
    const startMs = Math.round(event.startMs ?? nowMs);
    const timestamp = answeredAt + startMs;
    const final = event.type === "final";
    this.#stream.said({ text, timestamp, final, speaker });
    if (!final) return;
    const endMs = Math.max(startMs, Math.round(event.endMs ?? nowMs));
    this.#kept.keep({ speaker, text, timestamp, startMs, endMs, confidence: event.confidence ?? null });
  }

  /** Logged each time; the client is told once that a part is missing, and once that nothing more will come. */
  #failed(speaker: Speaker, { error, recoverable }: Extract<TranscriptionEvent, { type: "error" }>): void {
    const { log, transcription } = this.#context;
    const fields = { call_id: this.#call.id, speaker, engine: transcription?.name, err: error };
    log.warn(fields, recoverable ? "a part of what was said was not transcribed" : "the transcript of the call ends");
    if (this.#told === "lasting" || (recoverable && this.#told === "passing")) return;
    this.#told = recoverable ? "passing" : "lasting";
    this.#stream.tell("transcripts_unavailable", { reason: "engine_failed", recoverable });
  }
}
