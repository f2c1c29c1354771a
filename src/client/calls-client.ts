import type { CallStatus, CallType } from "../domain/call.ts";
import type { CreateCallInput } from "../domain/inputs.ts";
import { allItems, type Page, type PageQuery } from "./pages.ts";
import type { CreateOptions, RequestOptions, Transport } from "./transport.ts";
import type { CallEvent, CallExpansion, CallWith, CreatedCall, StreamTicket } from "./views.ts";

/** Which calls are listed, by the names of the query parameters. */
export interface ListCallsQuery<E extends CallExpansion = never> extends PageQuery {
  readonly instance_id?: string | undefined;
  readonly status?: CallStatus | undefined;
  readonly type?: CallType | undefined;
  /** RFC 3339. */
  readonly created_after?: string | undefined;
  /** RFC 3339. */
  readonly created_before?: string | undefined;
  /** Objects to add to each call. */
  readonly expand?: readonly E[] | undefined;
}

/** Options of the reading of a call. */
export interface GetCallOptions<E extends CallExpansion> extends RequestOptions {
  /** Objects to add to the call. */
  readonly expand?: readonly E[] | undefined;
}

/** What became of the wish for a call. */
export interface Placement {
  readonly call: CreatedCall;
  /** False where it is the active call that the instance had already: none was placed. */
  readonly isNew: boolean;
}

/** The calls of the token's user. All methods throw `RingportError`. */
export interface CallsClient {
  /** Places a call; where the instance has an active call already, that one is answered and none is placed. */
  create(input: CreateCallInput, options?: CreateOptions): Promise<CreatedCall>;
  /** The same as `create`, and tells which of the two happened. */
  place(input: CreateCallInput, options?: CreateOptions): Promise<Placement>;
  /** All calls that match, newest first; `limit` is the size of the pages that are read. */
  list<E extends CallExpansion = never>(
    query?: ListCallsQuery<E>,
    options?: RequestOptions,
  ): AsyncGenerator<CallWith<E>, void, undefined>;
  /** One page of them: 50 events by default, 200 at most. */
  page<E extends CallExpansion = never>(
    query?: ListCallsQuery<E>,
    options?: RequestOptions,
  ): Promise<Page<CallWith<E>>>;
  get<E extends CallExpansion = never>(id: string, options?: GetCallOptions<E>): Promise<CallWith<E>>;
  /** Ends an active call. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** The same as `delete`, by the telephone's own word. */
  hangUp(id: string, options?: RequestOptions): Promise<void>;
  /** The timeline so far, oldest first. */
  events(id: string, options?: RequestOptions): Promise<CallEvent[]>;
  /**
   * The recording of a call that was created with `recording: true`, as the bytes of a WAV file: what the callee heard on
   * the left, what the callee said on the right. While the call lasts, what there is so far.
   */
  recording(id: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Deletes the recording for good; a call that still goes on does so without being recorded. */
  deleteRecording(id: string, options?: RequestOptions): Promise<void>;
  /** A ticket for somebody who streams the call's audio without a token, such as a page in a browser. */
  streamTicket(id: string, options?: RequestOptions): Promise<StreamTicket>;
}

const PAGE = 100;

export function callsClient(transport: Transport): CallsClient {
  const root = "/v1/calls";
  const page: CallsClient["page"] = (query, options) => transport.page(root, { ...query }, options);
  const hangUp: CallsClient["hangUp"] = (id, options) => transport.delete(callPath(id), options);
  const place: CallsClient["place"] = async (input, options) => {
    const { body, status } = await transport.post<CreatedCall>(root, input, options?.idempotencyKey, options);
    return { call: body, isNew: status === 201 };
  };
  return {
    create: async (input, options) => (await place(input, options)).call,
    place,
    list: (query, options) => allItems((cursor) => page({ limit: PAGE, ...query, cursor }, options), query?.cursor),
    page,
    get: (id, options) => transport.get(callPath(id), { expand: options?.expand }, options),
    delete: hangUp,
    hangUp,
    events: (id, options) => transport.get(`${callPath(id)}/events`, {}, options),
    recording: (id, options) => transport.bytes(`${callPath(id)}/recording`, options),
    deleteRecording: (id, options) => transport.delete(`${callPath(id)}/recording`, options),
    streamTicket: async (id, options) =>
      (await transport.post<StreamTicket>(`${callPath(id)}/stream-ticket`, {}, undefined, options)).body,
  };
}

/** Where a call is. */
export function callPath(id: string): string {
  return `/v1/calls/${encodeURIComponent(id)}`;
}
