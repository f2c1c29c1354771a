import type { Speaker } from "../../domain/calls/transcript.ts";
import type { Transcription, TranscriptionEvent, TranscriptionSession } from "../../ports/transcription.ts";
import { settledWithin } from "../waiting.ts";

/** Maximum time for ending a session, which should take "a few seconds" at most, ms. */
const CLOSE_MS = 10_000;

/** Options of a session that matter here. */
export interface ListeningOptions {
  /** Sample rate, Hz. Default: the engine's best. */
  readonly sampleRate?: number | undefined;
  /** Default: the callee. */
  readonly speaker?: Speaker | undefined;
  /** Ends the session at once. */
  readonly abort?: AbortController | undefined;
}

/** One session of an engine, with all its events. */
export class ScriptedListening {
  readonly session: TranscriptionSession;
  readonly events: TranscriptionEvent[] = [];
  /** Texts that are final. */
  readonly texts: string[] = [];
  /** Resolves when the events end. */
  readonly whenEnded: Promise<void>;
  /** Ends the session at once. */
  readonly abort: AbortController;

  constructor(session: TranscriptionSession, abort: AbortController) {
    this.session = session;
    this.abort = abort;
    this.whenEnded = this.#read();
  }

  get finals(): Extract<TranscriptionEvent, { type: "final" }>[] {
    return this.events.filter((event) => event.type === "final");
  }

  get errors(): Extract<TranscriptionEvent, { type: "error" }>[] {
    return this.events.filter((event) => event.type === "error");
  }

  /** Closes the session and waits for its last event; throws an Error if that takes too long. */
  async close(): Promise<void> {
    await settledWithin(CLOSE_MS, "The session is closed", this.session.close());
    await settledWithin(CLOSE_MS, "Its events end", this.whenEnded);
  }

  async #read(): Promise<void> {
    for await (const event of this.session.events) {
      this.events.push(event);
      if (event.type === "final") this.texts.push(event.text);
    }
  }
}

/** Opens a session and reads it to its end. */
export async function listen(engine: Transcription, options: ListeningOptions = {}): Promise<ScriptedListening> {
  const { sampleRate = bestRate(engine), speaker = "callee", abort = new AbortController() } = options;
  return new ScriptedListening(await engine.open({ callId: "call_1", speaker, sampleRate }, abort.signal), abort);
}

/** The first of an engine's rates, Hz. */
export function bestRate({ capabilities }: Transcription): number {
  const [rate] = capabilities.sampleRates;
  if (rate === undefined) throw new Error("the engine supports no sample rate");
  return rate;
}
