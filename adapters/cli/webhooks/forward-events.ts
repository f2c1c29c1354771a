import { ATTEMPT_MS } from "../../../src/application/webhooks/attempt.ts";
import { errorText } from "../../../src/base/error.ts";
import type { CallEvent, Client } from "../../../src/client/index.ts";
import { isAccepted } from "../../../src/domain/webhooks/webhook-retries.ts";
import { signedHeaders } from "../../../src/domain/webhooks/webhook-signature.ts";
import { paint, print, printJsonLine } from "../terminal/terminal.ts";

/** Source and destination of forwarded events. */
export interface ForwardOptions {
  readonly url: string;
  readonly key: Uint8Array<ArrayBuffer>;
  /** True to print JSON. */
  readonly json: boolean;
  /** Ends the forwarding. */
  readonly signal: AbortSignal;
  /** Called once new events are being forwarded. */
  onReady(): void;
}

/** An event and the response to it. */
interface Delivery {
  readonly event: CallEvent;
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  readonly error: string | null;
}

const PAGE_SIZE = 200;

/** Forwards new events to the URL, one at a time, until the signal fires. */
export async function forwardEvents(client: Client, options: ForwardOptions): Promise<void> {
  const { signal, onReady } = options;
  try {
    const cursor = await endOfLog(client, signal);
    onReady();
    for await (const { items } of client.followEvents({ cursor }, { signal }))
      for (const event of items) {
        show(await forward(event, options), options.json);
        signal.throwIfAborted();
      }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The cursor after the latest event. */
async function endOfLog(client: Client, signal: AbortSignal): Promise<string> {
  let { next, cursor } = await client.eventPage({ limit: PAGE_SIZE }, { signal });
  while (next !== undefined)
    ({ next, cursor } = await client.eventPage({ limit: PAGE_SIZE, cursor: next }, { signal }));
  return cursor;
}

async function forward(event: CallEvent, { url, key, signal }: ForwardOptions): Promise<Delivery> {
  const body = JSON.stringify(event);
  const signatureHeaders = await signedHeaders({ id: event.id, timestamp: Date.now(), body }, [key]);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...signatureHeaders },
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
    });
    await response.body?.cancel();
    return { event, status: response.status, error: null };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    return { event, status: null, error: errorText(cause ?? error) };
  }
}

function show({ event, status, error }: Delivery, json: boolean): void {
  if (json) {
    printJsonLine({ event, status, error });
    return;
  }
  const response = paint(isAccepted(status) ? 32 : 31, status === null ? `failed: ${error}` : String(status));
  print(
    `${paint(2, event.timestamp.slice(11, 19))}  ${event.type}  ${event.call_id ?? event.instance_id}  ${response}`,
  );
}
