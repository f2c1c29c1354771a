import type { EventPage, LogQuery, QueryUseCases } from "../../application/use-cases.ts";
import { Refusal, type RefusalCode } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { eventView } from "../views/event-view.ts";
import { PRIVATE } from "./reply.ts";

/** Delay without events before a comment is sent, ms: half of the shortest idle timeout of a runtime (Bun's 10 s). */
export const HEARTBEAT_MS = 5_000;
/** Delay before a client reconnects, ms. */
const RETRY_MS = 1_000;
/** Refusals that end the stream without a fault of the server. */
const END_CODES: ReadonlySet<RefusalCode> = new Set(["stopping", "log_reset"]);
/** Number of events that are read at once. */
const PAGE = 100;

/** True if the request asks for the events as they happen. */
export function wantsEventStream(context: RequestContext): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(context.header("accept") ?? "");
}

/** A stream of one reader. */
export interface EventStreamOptions {
  readonly queries: Pick<QueryUseCases, "nextEvents">;
  readonly query: LogQuery;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/**
 * The response with the events after a cursor, as they are stored (HTML Standard §9.2, server-sent events). Each
 * event's `id` is the cursor after it. No events are queued for a slow client: the next page is read once the client
 * has read the last one, and the server adapter disconnects a client that reads nothing.
 */
export function eventStream(context: RequestContext, options: EventStreamOptions): Reply {
  return {
    status: 200,
    headers: { "content-type": "text/event-stream", ...PRIVATE, "x-accel-buffering": "no" },
    body: streamBody(context, options),
  };
}

async function* streamBody(
  context: RequestContext,
  { queries, query, signal, onEnd }: EventStreamOptions,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let { cursor } = query;
  try {
    yield encoder.encode(`retry: ${RETRY_MS}\n\n`);
    while (!signal.aborted) {
      const wait = { waitMs: HEARTBEAT_MS, signal };
      const page = await queries.nextEvents(context.caller, { ...query, limit: PAGE, cursor }, wait);
      if (signal.aborted) return;
      cursor = page.cursor;
      yield encoder.encode(page.events.length > 0 ? messages(page) : ": heartbeat\n\n");
    }
  } catch (error) {
    // The end of the body is all that a client needs: it reconnects, to the next server, or to learn that the log was
    // reset.
    if (!(error instanceof Refusal && END_CODES.has(error.code))) throw error;
  } finally {
    onEnd();
  }
}

function messages({ events, cursors }: EventPage): string {
  return events.map((event, index) => `id: ${cursors[index]}\ndata: ${JSON.stringify(eventView(event))}\n\n`).join("");
}
