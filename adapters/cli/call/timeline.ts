import type { CallEvent } from "../../../src/client/index.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import { shownValue } from "../terminal/shown-value.ts";
import { inOneCell } from "../terminal/table.ts";
import { paint, print, terminalColumns } from "../terminal/terminal.ts";
import { columnsOf, wrapped } from "../terminal/wrapped.ts";

/** Maximum age of an event by our clock, ms; beyond it the clock is taken to differ from the server's. */
const LATEST_NEWS_MS = 3_000;

/** Prints each event of a call, and on a terminal, below the last one, what is happening now. */
export class Timeline {
  #began: number | undefined;
  #messageMs: number | undefined;
  #answered = false;
  #now: LiveLine | undefined;

  show(event: CallEvent): void {
    const at = Date.parse(event.timestamp);
    this.#began ??= at;
    this.#now?.clear();
    print(eventLine(event, this.#began));
    if (event.type === "message_ready") this.#messageMs = Number(event.data.message_ms) || undefined;
    if (event.type === "answered") this.#answered = true;
    const textAfter = this.#going(event.type);
    if (textAfter === undefined) return;
    this.#now?.stop();
    const age = Date.now() - at;
    this.#now = new LiveLine(textAfter, age > 0 && age < LATEST_NEWS_MS ? age : 0);
  }

  /** Removes the last line. Idempotent. */
  stop(): void {
    this.#now?.stop();
  }

  /** Activity that starts with this event; undefined if it has no effect. */
  #going(type: CallEvent["type"]): ((ms: number) => string) | undefined {
    const messageMs = this.#messageMs;
    switch (type) {
      case "queued":
        return counting("waiting for the line");
      case "ringing":
        return counting("ringing");
      case "answered":
        return messageMs === undefined ? counting("answered") : (ms) => progressBar(ms, messageMs);
      case "message_ready":
        return this.#answered && messageMs !== undefined ? (ms) => progressBar(ms, messageMs) : undefined;
      default:
        return undefined;
    }
  }
}

function counting(what: string): (ms: number) => string {
  return (ms) => paint(2, `${what} … ${Math.floor(ms / 1000)} s`);
}

/**
 * An event as a line, or as several on a narrow terminal. @param began time of the first event, ms since 1970-01-01 UTC
 */
export function eventLine({ type, timestamp, data }: CallEvent, began: number): string {
  const time = `${((Date.parse(timestamp) - began) / 1000).toFixed(2).padStart(6)} s`;
  const head = `  ${paint(2, time)}  ${type.padEnd(13)} `;
  const indent = columnsOf(head);
  const facts = wrapped(inOneCell(shownValue(data)), terminalColumns() - indent);
  return (head + facts.map((line) => paint(2, line)).join(`\n${" ".repeat(indent)}`)).trimEnd();
}
