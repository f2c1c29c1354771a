import type { CallEvent } from "../../../src/client/index.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import { shownValue } from "../terminal/shown-value.ts";
import { inOneCell } from "../terminal/table.ts";
import { paint, print, terminalColumns } from "../terminal/terminal.ts";
import { columnsOf, wrapped } from "../terminal/wrapped.ts";

/**
 * Maximum age of an event according to our clock, ms; an older event means that our clock differs from the server's.
 */
const MAX_EVENT_AGE_MS = 3_000;

/** Prints each event of a call and, on a terminal, the current activity below the last one. */
export class Timeline {
  #startedAt: number | undefined;
  #messageMs: number | undefined;
  #isAnswered = false;
  #activity: LiveLine | undefined;

  show(event: CallEvent): void {
    const at = Date.parse(event.timestamp);
    this.#startedAt ??= at;
    this.#activity?.clear();
    print(eventLine(event, this.#startedAt));
    if (event.type === "message_ready") this.#messageMs = Number(event.data.message_ms) || undefined;
    if (event.type === "answered") this.#isAnswered = true;
    const textAfter = this.#activityAfter(event.type);
    if (textAfter === undefined) return;
    this.#activity?.stop();
    const age = Date.now() - at;
    this.#activity = new LiveLine(textAfter, age > 0 && age < MAX_EVENT_AGE_MS ? age : 0);
  }

  /** Removes the line with the current activity. Idempotent. */
  stop(): void {
    this.#activity?.stop();
  }

  /** Activity that starts with this event; undefined if none does. */
  #activityAfter(type: CallEvent["type"]): ((ms: number) => string) | undefined {
    const messageMs = this.#messageMs;
    switch (type) {
      case "queued":
        return withSeconds("waiting for the line");
      case "ringing":
        return withSeconds("ringing");
      case "answered":
        return messageMs === undefined ? withSeconds("answered") : (ms) => progressBar(ms, messageMs);
      case "message_ready":
        return this.#isAnswered && messageMs !== undefined ? (ms) => progressBar(ms, messageMs) : undefined;
      default:
        return undefined;
    }
  }
}

function withSeconds(activity: string): (ms: number) => string {
  return (ms) => paint(2, `${activity} … ${Math.floor(ms / 1000)} s`);
}

/**
 * An event as one line, or as several on a narrow terminal. @param startedAt time of the first event, ms since
 * 1970-01-01 UTC
 */
export function eventLine({ type, timestamp, data }: CallEvent, startedAt: number): string {
  const time = `${((Date.parse(timestamp) - startedAt) / 1000).toFixed(2).padStart(6)} s`;
  const head = `  ${paint(2, time)}  ${type.padEnd(13)} `;
  const indent = columnsOf(head);
  const facts = wrapped(inOneCell(shownValue(data)), terminalColumns() - indent);
  return (head + facts.map((line) => paint(2, line)).join(`\n${" ".repeat(indent)}`)).trimEnd();
}
