import { isId } from "../../base/ids.ts";
import { within } from "../../base/timers.ts";
import { mayUse, visiblePart } from "../../domain/access/ownership.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { type Call, type CallFilter, isActive } from "../../domain/calls/call.ts";
import type { TranscriptLine } from "../../domain/calls/transcript.ts";
import type { NumberedEvent } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { StoredRecording } from "../../ports/recordings.ts";
import { type Page, StorageUnavailable } from "../../ports/storage.ts";
import { eraseRecording, readRecording } from "../call-audio/call-recording.ts";
import type { CallListening } from "../call-audio/listeners/listen-items.ts";
import { LiveListeners } from "../call-audio/listeners/live-listeners.ts";
import type { StreamReservation } from "../call-audio/streams/stream-client.ts";
import { checkStreamable, streamsOffRefusal } from "../call-audio/streams/stream-refusals.ts";
import type { Context } from "../context.ts";
import { shortenedId } from "../instances/owned-instance.ts";
import { nextPage } from "../next-page.ts";
import type { CallUseCases, CreateOptions, Creation, EventPage, EventQuery, WaitLimit } from "../use-cases.ts";
import { CallCreation, type CallCreationContext } from "./creation/call-creation.ts";
import type { Dispatcher } from "./dialling/dispatcher.ts";
import { followedEvents } from "./followed-call.ts";
import { readLog } from "./log-pages.ts";
import type { Terminations } from "./terminations.ts";

type CallsContext = Pick<
  Context,
  "events" | "log" | "recordings" | "shutdownSignal" | "storage" | "streamPreview" | "streams" | "system" | "timings"
> &
  CallCreationContext;

/** The use cases of calls. */
export class Calls implements CallUseCases {
  readonly #context: CallsContext;
  readonly #dispatcher: Dispatcher;
  readonly #terminations: Terminations;
  /** Also creates the calls of batches. */
  readonly creation: CallCreation;
  readonly #listeners: LiveListeners;

  constructor(
    context: CallsContext,
    dispatcher: Dispatcher,
    onQueued: (call: Call) => void,
    terminations: Terminations,
  ) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    // A waiting call is dialled as soon as possible, or fails when it has waited too long.
    this.creation = new CallCreation(context, (call) => {
      onQueued(call);
      dispatcher.wake(call.instanceId);
    });
    this.#terminations = terminations;
    this.#listeners = new LiveListeners(context, (id) => dispatcher.session(id));
  }

  create(principal: Principal, body: unknown, options: CreateOptions = {}): Promise<Call & Creation> {
    return this.creation.create(principal, body, options);
  }

  async get(principal: Principal, callId: string): Promise<Call> {
    const call = isId("call", callId) ? await this.#context.storage.calls.get(callId) : undefined;
    if (!call || !mayUse(principal, call)) throw callNotFound(callId);
    return this.#withQuality(call);
  }

  async list(principal: Principal, filter: CallFilter = {}, page: Page = {}): Promise<Call[]> {
    const part = visiblePart(principal, filter.instanceId);
    if (!part) return [];
    const calls = await this.#context.storage.calls.list(principal.userId, { ...filter, ...part }, page);
    return calls.map((call) => this.#withQuality(call));
  }

  async hangUp(principal: Principal, callId: string): Promise<void> {
    const { system, timings } = this.#context;
    const startedAt = system.monotonic();
    const liveCall = this.#dispatcher.session(callId)?.call; // known without the storage, which may be unavailable
    const timeoutError = () => new StorageUnavailable(`call ${callId} could not be read within ${timings.storeMs} ms`);
    const call =
      liveCall && mayUse(principal, liveCall)
        ? liveCall
        : await within(this.get(principal, callId), { system, ms: timings.storeMs, timeoutError });
    if (!(await this.#terminations.terminate(call, timings.storeMs - (system.monotonic() - startedAt))))
      throw new Refusal("call_not_found", `call "${callId}" has already ended`);
  }

  async timeline(
    principal: Principal,
    callId: string,
    query: EventQuery = {},
    waitLimit: WaitLimit = {},
  ): Promise<EventPage> {
    const { events } = this.#context.storage;
    const { id, userId, status } = await this.get(principal, callId);
    const read = (cursor = query.cursor) =>
      readLog(events, userId, { ...query, cursor }, (page) => events.ofCall(id, page));
    // The final event is stored together with the final status, so a reader of an ended call need not wait.
    return waitLimit.waitMs && isActive(status)
      ? nextPage(this.#context, userId, waitLimit, query.cursor, read)
      : read();
  }

  async transcripts(
    principal: Principal,
    calls: readonly Pick<Call, "id" | "userId" | "instanceId">[],
  ): Promise<ReadonlyMap<string, readonly TranscriptLine[]>> {
    for (const call of calls) if (!mayUse(principal, call)) throw callNotFound(call.id);
    const byCall = new Map<string, TranscriptLine[]>();
    if (calls.length === 0) return byCall;
    for (const line of await this.#context.storage.transcripts.ofCalls(calls.map(({ id }) => id))) {
      const lines = byCall.get(line.callId);
      if (lines) lines.push(line);
      else byCall.set(line.callId, [line]);
    }
    return byCall;
  }

  async *events(
    principal: Principal,
    callId: string,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<NumberedEvent> {
    const { id } = await this.get(principal, callId);
    yield* followedEvents(this.#context, id, signal);
  }

  async stream(principal: Principal, callId: string): Promise<StreamReservation> {
    if (!this.#context.streamPreview) throw streamsOffRefusal();
    return this.#context.streams.reserve(this.#context, await this.get(principal, callId));
  }

  async streamable(principal: Principal, callId: string): Promise<Call> {
    if (!this.#context.streamPreview) throw streamsOffRefusal();
    const call = await this.get(principal, callId);
    checkStreamable(call);
    return call;
  }

  async listen(principal: Principal, callId: string): Promise<CallListening> {
    return this.#listeners.listen(principal, await this.get(principal, callId));
  }

  async recording(principal: Principal, callId: string): Promise<StoredRecording> {
    return readRecording(this.#context, await this.get(principal, callId));
  }

  async eraseRecording(principal: Principal, callId: string): Promise<void> {
    await eraseRecording(this.#context, this.#dispatcher, await this.get(principal, callId));
  }

  async wait(principal: Principal, callId: string, options: { signal?: AbortSignal } = {}): Promise<Call> {
    for await (const _ of this.events(principal, callId, options));
    return this.get(principal, callId);
  }

  /** The call, with its current audio quality if it is live. */
  #withQuality(call: Call): Call {
    const quality = isActive(call.status) ? this.#dispatcher.session(call.id)?.quality : undefined;
    return quality === undefined ? call : { ...call, quality };
  }
}

function callNotFound(callId: string): Refusal {
  return new Refusal("call_not_found", `there is no call "${shortenedId(callId)}"`);
}
