import type { TranscriptionEvent } from "../../src/ports/transcription.ts";
import type { Secrets } from "../provider-http/fault-text.ts";
import type { TimeSpan } from "./unprocessed-audio.ts";

/** An engine's WebSocket protocol: its messages, and a reader for its responses. It has no connection. */
export interface LiveProtocol {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** The first messages on a new connection. */
  readonly opening: readonly string[];
  /** Messages with the next samples. @param isFirst true if they open a turn */
  audio(samples: Int16Array, isFirst: boolean): readonly (string | Uint8Array)[];
  /** Messages that end a turn; empty for engines that detect the end. */
  readonly commit: readonly string[];
  /** Sent after a few seconds without another message. */
  readonly keepAlive: string | undefined;
  /**
   * Messages that request the remaining responses, after which the engine closes the connection; if there are none, we
   * close it.
   */
  readonly finish: readonly string[];
  /** Reads the responses on one connection. */
  reader(listener: ResponseListener): ResponseReader;
}

/** Reads the responses on one connection. */
export interface ResponseReader {
  /** Reads one parsed response. Never throws. */
  read(message: Readonly<Record<string, unknown>>): void;
  /** Called when a turn has been sent completely. */
  committed?(turn: TimeSpan): void;
}

/** Receives the contents of responses. */
export interface ResponseListener {
  /** The time of the first samples on this connection, ms since the callee answered. */
  readonly startMs: number;
  emit(event: TranscriptionEvent): void;
  /** Called when the engine has processed all audio of a span. */
  processed(span: TimeSpan): void;
  /**
   * Called when the engine reports an error.
   * @param problem completes the sentence "the transcription server …"
   * @param isPermanent true if the next connection would fail in the same way
   */
  fault(problem: string, isPermanent: boolean): void;
}

/** The mean of the known confidences, 0 to 1; undefined if none is known. */
export function meanConfidence(confidences: readonly (number | undefined)[]): number | undefined {
  const values = confidences.filter((confidence) => confidence !== undefined);
  if (values.length === 0) return undefined;
  return Math.min(1, Math.max(0, values.reduce((a, b) => a + b, 0) / values.length));
}
