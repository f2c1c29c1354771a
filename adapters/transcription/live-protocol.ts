import type { TranscriptionEvent } from "../../src/ports/transcription.ts";
import type { Secrets } from "../engine-http/fault-text.ts";
import type { Stretch } from "./unanswered-audio.ts";

/** How an engine is spoken to over a WebSocket: what is sent, and how its answers are read. It holds no connection. */
export interface LiveProtocol {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** What is said first on a new connection. */
  readonly opening: readonly string[];
  /** The next samples; `first` ones open a turn. */
  audio(samples: Int16Array, first: boolean): readonly (string | Uint8Array)[];
  /** That a turn is over; nothing for engines that find that out. */
  readonly commit: readonly string[];
  /** Sent when nothing else was for a few seconds. */
  readonly keepAlive: string | undefined;
  /** Asks for what is still to be said, after which the engine closes; nothing: once all turns are answered, we do. */
  readonly farewell: readonly string[];
  /** Reads the answers of one connection. */
  reader(listener: ConversationListener): ConversationReader;
}

/** Understands what comes on one connection. */
export interface ConversationReader {
  /** An answer, as it was parsed. Never throws, whatever it is. */
  read(message: Readonly<Record<string, unknown>>): void;
  /** A turn has been sent to its end. */
  committed?(turn: Stretch): void;
}

/** What a reader makes of the answers. */
export interface ConversationListener {
  /** When the first samples that were sent on this connection were heard, ms since the answer of the call. */
  readonly startMs: number;
  say(event: TranscriptionEvent): void;
  /** All that was heard in this stretch is answered. */
  answered(stretch: Stretch): void;
  /** The engine says what is wrong; lasting: it will be the same next time. */
  fault(sentence: string, lasting: boolean): void;
}

/** A text; anything else is an empty one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number that is one. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** An object's members; anything else has none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A list's items; anything else has none. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** How sure an engine is on average, 0 to 1, of what it is sure of to a degree; undefined where it does not say. */
export function sureness(confidences: readonly (number | undefined)[]): number | undefined {
  const each = confidences.filter((one) => one !== undefined);
  if (each.length === 0) return undefined;
  return Math.min(1, Math.max(0, each.reduce((a, b) => a + b, 0) / each.length));
}
