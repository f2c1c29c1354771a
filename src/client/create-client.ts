import { type AudioClient, audioClient } from "./audio-client.ts";
import { type BatchesClient, batchesClient } from "./batches-client.ts";
import { type CallsClient, callsClient } from "./calls-client.ts";
import { type ConsentsClient, consentsClient } from "./consents-client.ts";
import {
  type AwaitedPage,
  type ClientOptions,
  createTransport,
  type Query,
  type RequestOptions,
  type Transport,
} from "./http-transport.ts";
import { type InstancesClient, instancesClient } from "./instances-client.ts";
import { allItems, type LogPage, type PageQuery } from "./list-pages.ts";
import { sleep } from "./pause.ts";
import { RingportError } from "./ringport-error.ts";
import type { CallListening, ListenOptions } from "./stream/call-listening.ts";
import type { CallStream, StreamOptions } from "./stream/call-stream.ts";
import type { CallEvent, FinishedCall, Voice } from "./views.ts";
import { type WaitForCallOptions, waitForCall } from "./wait-for-call.ts";
import { type WebhooksClient, webhooksClient } from "./webhooks-client.ts";

/** Filter for events; the fields are named after the query parameters. */
export interface ListEventsQuery extends PageQuery {
  /** Only events of this instance and its calls. */
  readonly instance_id?: string | undefined;
  /** The `cursor` of the previous page, or `latest` for new events only. Default: start at the first event. */
  readonly cursor?: string | undefined;
}

/** Options of {@link Client.voices}. */
export interface ListVoicesOptions extends RequestOptions {
  /** Only voices of this language: `pt`, or `pt-BR`. */
  readonly language?: string | undefined;
  /** Only voices with this sound. */
  readonly quality?: Voice["quality"] | undefined;
  /** Includes variants of voices, constructed languages and accents that sound like another. Default: false. */
  readonly variants?: boolean | undefined;
}

/** A remote Ringport. All methods throw `RingportError`. */
export interface Client {
  readonly instances: InstancesClient;
  readonly calls: CallsClient;
  readonly batches: BatchesClient;
  readonly webhooks: WebhooksClient;
  readonly consents: ConsentsClient;
  readonly audio: AudioClient;
  /** All events of the instances and calls so far, oldest first. */
  events(query?: ListEventsQuery, options?: RequestOptions): AsyncGenerator<CallEvent, void, undefined>;
  /**
   * Past events, and new events as they are stored, in pages that are never empty, except for a page with `reset`. A
   * program that stores the `cursor` of each page and continues from it sees every event exactly once, as long as no
   * page has `reset`.
   * @throws the reason of `signal` when it is aborted
   */
  followEvents(query?: ListEventsQuery, options?: RequestOptions): AsyncGenerator<LogPage<CallEvent>, void, undefined>;
  /**
   * One page of the events: 200 by default. A program that stores the `cursor` of each page and continues from it sees
   * every event exactly once.
   */
  eventPage(query?: ListEventsQuery, options?: RequestOptions): Promise<LogPage<CallEvent>>;
  /** The available voices; without variants, unless the options ask for them. */
  voices(options?: ListVoicesOptions): Promise<Voice[]>;
  /** A short sentence in the voice's own language, as the bytes of a WAV file (16-bit PCM, mono, 16 kHz). */
  voiceSample(id: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Waits until a call has ended, whatever its outcome: busy is an outcome, not an error.
   * @throws {DOMException} `TimeoutError` after `timeoutMs`; the reason of `signal` when it is aborted
   */
  waitForCall(id: string, options?: WaitForCallOptions): Promise<FinishedCall>;
  /**
   * Connects to the live audio of a `DYNAMIC_STREAM` call.
   *
   * ```ts
   * const stream = await ringport.stream(call.id, { audio: "callee" });
   * for await (const frame of stream.audio()) await stream.write(frame); // an echo
   * console.log(await stream.ended);
   * ```
   */
  stream(callId: string, options?: StreamOptions): Promise<CallStream>;
  /**
   * Listens to both sides of a live call, from pickup on.
   *
   * ```ts
   * for await (const item of await ringport.listen(call.id))
   *   if (item.type === "audio") player.write(item.samples); // two channels: the callee and the outbound audio
   * ```
   */
  listen(callId: string, options?: ListenOptions): Promise<CallListening>;
}

const PAGE_SIZE = 200;

/**
 * A typed client of the HTTP interface. The first method call sends the first request.
 *
 * ```ts
 * const ringport = createClient({ url: "http://127.0.0.1:8080", token });
 * const { id } = await ringport.calls.create({ instanceId, type: "FIXED_TTS", target, tts });
 * const { outcome } = await ringport.waitForCall(id, { onProgress: (event) => console.log(event.type) });
 * ```
 *
 * @throws {TypeError} the URL is not absolute or contains a user name, or the token contains characters that cannot be
 *   sent
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  return {
    instances: instancesClient(transport),
    calls: callsClient(transport),
    batches: batchesClient(transport),
    webhooks: webhooksClient(transport),
    consents: consentsClient(transport),
    audio: audioClient(transport),
    events: ({ limit = PAGE_SIZE, instance_id, cursor } = {}, options) =>
      allItems((cursor) => transport.page("/v1/events", { instance_id, limit, cursor }, options), cursor),
    eventPage: ({ limit = PAGE_SIZE, instance_id, cursor } = {}, options) =>
      transport.logPage("/v1/events", { instance_id, limit, cursor }, options),
    followEvents: ({ limit = PAGE_SIZE, instance_id, cursor } = {}, options) =>
      followEvents(transport, { instance_id, limit }, cursor, options),
    voices: ({ language, quality, variants, ...options } = {}) =>
      transport.get("/v1/voices", { language, quality, variants: variants ? "true" : undefined }, options),
    voiceSample: (id, options) => transport.bytes(`/v1/voices/${encodeURIComponent(id)}/sample.wav`, options),
    waitForCall: (id, options) => waitForCall(transport, id, options),
    // Loaded on demand with partysocket: most programs never stream a call.
    stream: async (callId, options) => (await import("./stream/open-stream.ts")).openStream(transport, callId, options),
    listen: async (callId, options) =>
      (await import("./stream/open-listening.ts")).openListening(transport, callId, options),
  };
}

type FollowedPage = AwaitedPage<CallEvent> & Pick<LogPage<CallEvent>, "reset">;

/** Polling interval for a server that cannot wait for events, ms. */
const PAUSE_MS = 1_000;

/**
 * The pages of events from a cursor on, each as soon as it has an event. If the log was restored to an earlier state,
 * an empty page with `reset` comes first, and the events continue from the cursor that the server names.
 * @throws the reason of the signal when it is aborted
 */
async function* followEvents(
  transport: Transport,
  query: Query,
  startCursor: string | undefined,
  { signal }: RequestOptions = {},
): AsyncGenerator<LogPage<CallEvent>, void, undefined> {
  for (let cursor = startCursor; ; ) {
    const page: FollowedPage = await transport
      .nextPage<CallEvent>("/v1/events", { ...query, cursor }, { signal })
      .catch(resetPage);
    const { items, next, hasWaited: serverWaits, reset } = page;
    cursor = page.cursor ?? cursor;
    if ((reset || items.length > 0) && cursor !== undefined) yield { items, next, cursor, ...(reset && { reset }) };
    else if (!serverWaits) await sleep(PAUSE_MS, signal ?? new AbortController().signal);
  }
}

/** The empty page that reports a reset. @throws every other error */
function resetPage(error: unknown): FollowedPage {
  if (!(error instanceof RingportError && error.code === "log_reset" && error.cursor !== null)) throw error;
  return { items: [], next: undefined, cursor: error.cursor, reset: true, hasWaited: true };
}
