import { callPath } from "./calls-client.ts";
import type { AwaitedPage, RequestOptions, Transport } from "./http-transport.ts";
import { sleep } from "./pause.ts";
import { RingportError } from "./ringport-error.ts";
import type { Call, CallEvent, FinishedCall } from "./views.ts";

/** Options of `waitForCall`. */
export interface WaitForCallOptions extends RequestOptions {
  /** Receives every event of the timeline once and in order; the next follows once the promise has settled. */
  readonly onProgress?: ((event: CallEvent) => void | Promise<void>) | undefined;
  /** Stops waiting after this time, ms; the call continues. Default: waits until the call has ended. */
  readonly timeoutMs?: number | undefined;
  /** Longest time between two polls of a server that cannot wait for events, ms. Default: 1,000. */
  readonly longestPauseMs?: number | undefined;
}

/**
 * Minimum and maximum interval between polls if the server cannot wait for events, ms: short after an event, then
 * growing.
 */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
const PAUSE_GROWTH = 1.5;
/** Number of events per request. */
const PAGE_SIZE = 200;

/**
 * Waits until a call has ended, whatever its outcome.
 * @throws {RingportError} the call cannot be read
 * @throws {DOMException} `TimeoutError` after `timeoutMs`; the reason of `signal` when it is aborted
 */
export async function waitForCall(
  transport: Transport,
  id: string,
  { onProgress, signal, timeoutMs, longestPauseMs = MAX_PAUSE_MS }: WaitForCallOptions = {},
): Promise<FinishedCall> {
  const deadline = new AbortController();
  const expire = () =>
    deadline.abort(new DOMException(`the call ${id} had not ended after ${timeoutMs} ms`, "TimeoutError"));
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  const stopSignal = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal;
  try {
    const timeline = new Timeline(transport, id, stopSignal);
    let pauseMs = MIN_PAUSE_MS;
    for (;;) {
      const newEvents = await timeline.newEvents();
      for (const event of newEvents) {
        stopSignal.throwIfAborted();
        await onProgress?.(event);
      }
      stopSignal.throwIfAborted();
      if (timeline.hasEnded) {
        const call = await transport.get<Call>(callPath(id), { expand: "outcome" }, { signal: stopSignal });
        if (isFinished(call)) return call;
      }
      if (timeline.serverWaits) continue;
      pauseMs = newEvents.length > 0 ? MIN_PAUSE_MS : Math.min(pauseMs * PAUSE_GROWTH, longestPauseMs);
      await sleep(pauseMs, stopSignal);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The timeline of a call, read piece by piece. */
class Timeline {
  /** True once the last event has arrived; it is stored together with the final status. */
  hasEnded = false;
  /** True if the server waits for the next event, so that the next request needs no pause before it. */
  serverWaits = false;
  readonly #read: (cursor: string | undefined) => Promise<AwaitedPage<CallEvent>>;
  readonly #seenIds = new Set<string>();
  /**
   * The cursor after the last event or, if the server does not name it, of the last page, which is read again until it
   * is full.
   */
  #cursor: string | undefined;

  constructor(transport: Transport, id: string, signal: AbortSignal) {
    const read = (cursor?: string): Promise<AwaitedPage<CallEvent>> =>
      transport.nextPage(`${callPath(id)}/events`, { limit: PAGE_SIZE, cursor }, { signal });
    // A log that was restored to an earlier state is read from its start; events already seen are recognized by their
    // ids.
    this.#read = (cursor) =>
      read(cursor).catch((error: unknown) => {
        if (error instanceof RingportError && error.code === "log_reset") return read();
        throw error;
      });
  }

  /** Reads the events that have not been reported yet. */
  async newEvents(): Promise<CallEvent[]> {
    const newEvents: CallEvent[] = [];
    for (;;) {
      const { items, next, cursor, hasWaited } = await this.#read(this.#cursor);
      this.serverWaits = hasWaited && cursor !== undefined;
      for (const event of items) {
        if (this.#seenIds.has(event.id)) continue;
        this.#seenIds.add(event.id);
        newEvents.push(event);
        if (event.type === "completed" || event.type === "failed") this.hasEnded = true;
      }
      this.#cursor = next ?? cursor ?? this.#cursor;
      if (next === undefined) return newEvents;
    }
  }
}

function isFinished(call: Call): call is FinishedCall {
  return (call.status === "COMPLETED" || call.status === "FAILED") && call.outcome != null;
}
