import type { CreateCallInput } from "../domain/calls/call-input.ts";
import type { CallFilters } from "../http/response-types.ts";
import { AnotherCallActive } from "./another-call-active.ts";
import type { CreateOptions, RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type Page, type PageQuery } from "./list-pages.ts";
import type { CallEvent, CallExpansion, CallWith, CreatedCall, StreamTicket } from "./views.ts";

/** Filter for calls; the fields are named after the query parameters. */
export interface ListCallsQuery<E extends CallExpansion = never> extends CallFilters, PageQuery {
  /** Objects to add to each call. */
  readonly expand?: readonly E[] | undefined;
}

/** Options of {@link CallsClient.get}. */
export interface GetCallOptions<E extends CallExpansion> extends RequestOptions {
  /** Objects to add to the call. */
  readonly expand?: readonly E[] | undefined;
}

/** Options of {@link CallsClient.streamTicket}. */
export interface TicketOptions extends RequestOptions {
  /** Purpose of the ticket. Default: `stream`. */
  readonly for?: "stream" | "listen" | undefined;
}

/** The result of {@link CallsClient.place}. */
export interface Placement {
  readonly call: CreatedCall;
  /** False if the instance already had this active call, so no new call was placed. */
  readonly isNew: boolean;
}

/** The calls of the token's user. All methods throw `RingportError`. */
export interface CallsClient {
  /**
   * Places a call. If the instance already has an active call to this number and of this type, returns that call
   * instead.
   * @throws {AnotherCallActive} the active call is to another number or of another type
   */
  create(input: CreateCallInput, options?: CreateOptions): Promise<CreatedCall>;
  /** Places a call, or returns the instance's active call if it has one; `isNew` distinguishes the two. */
  place(input: CreateCallInput, options?: CreateOptions): Promise<Placement>;
  /** All matching calls, newest first, read in pages of `limit` calls. */
  list<E extends CallExpansion = never>(
    query?: ListCallsQuery<E>,
    options?: RequestOptions,
  ): AsyncGenerator<CallWith<E>, void, undefined>;
  /** One page of the matching calls: 50 by default, at most 200. */
  page<E extends CallExpansion = never>(
    query?: ListCallsQuery<E>,
    options?: RequestOptions,
  ): Promise<Page<CallWith<E>>>;
  get<E extends CallExpansion = never>(id: string, options?: GetCallOptions<E>): Promise<CallWith<E>>;
  /** Ends an active call. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Another name for `delete`, in telephony terms. */
  hangUp(id: string, options?: RequestOptions): Promise<void>;
  /** The whole timeline so far, oldest first; a long timeline takes several requests. */
  events(id: string, options?: RequestOptions): Promise<CallEvent[]>;
  /**
   * The recording of a call that was created with `recording: true`, as the bytes of a WAV file: what the callee heard
   * on the left, the callee's voice on the right. During the call, it returns the recording so far.
   */
  recording(id: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Deletes the recording permanently; an active call continues without being recorded. */
  deleteRecording(id: string, options?: RequestOptions): Promise<void>;
  /**
   * A ticket with which a program that has no token, such as a browser page, streams the call's audio or listens to it.
   */
  streamTicket(id: string, options?: TicketOptions): Promise<StreamTicket>;
}

const PAGE_SIZE = 100;

export function callsClient(transport: Transport): CallsClient {
  const root = "/v1/calls";
  const page: CallsClient["page"] = (query, options) => transport.page(root, { ...query }, options);
  const hangUp: CallsClient["hangUp"] = (id, options) => transport.delete(callPath(id), options);
  const place: CallsClient["place"] = async (input, options) => {
    const { body, status } = await transport.post<CreatedCall>(root, input, options?.idempotencyKey, options);
    return { call: body, isNew: status === 201 };
  };
  return {
    async create(input, options) {
      const { call, isNew } = await place(input, options);
      const isRequested = call.type === input.type && call.target_phone === input.target.phoneNumber;
      const { pathname: path } = new URL(transport.url + root);
      if (!isNew && !isRequested) throw new AnotherCallActive(call, { method: "POST", path });
      return call;
    },
    place,
    list: (query, options) =>
      allItems((cursor) => page({ limit: PAGE_SIZE, ...query, cursor }, options), query?.cursor),
    page,
    get: (id, options) => transport.get(callPath(id), { expand: options?.expand }, options),
    delete: hangUp,
    hangUp,
    events: async (id, options) => {
      const events: CallEvent[] = [];
      for await (const event of allItems<CallEvent>((cursor) =>
        transport.page(`${callPath(id)}/events`, { cursor }, options),
      ))
        events.push(event);
      return events;
    },
    recording: (id, options) => transport.bytes(`${callPath(id)}/recording`, options),
    deleteRecording: (id, options) => transport.delete(`${callPath(id)}/recording`, options),
    streamTicket: async (id, options) =>
      (
        await transport.post<StreamTicket>(
          `${callPath(id)}/stream-ticket${options?.for ? `?for=${options.for}` : ""}`,
          {},
          undefined,
          options,
        )
      ).body,
  };
}

/** The path of a call. */
export function callPath(id: string): string {
  return `/v1/calls/${encodeURIComponent(id)}`;
}
