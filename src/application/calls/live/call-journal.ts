import { InternalError } from "../../../base/error.ts";
import { nextState } from "../../../base/state-machine.ts";
import type { TurnMetrics } from "../../../domain/agents/turn-metrics.ts";
import { CALL_TRANSITIONS, type Call, type CallMove, type CallResult, isActive } from "../../../domain/calls/call.ts";
import type { MediaStatistics } from "../../../domain/calls/media-statistics.ts";
import type { Outcome } from "../../../domain/calls/outcome.ts";
import type { QualityInterval } from "../../../domain/calls/quality-series.ts";
import type { Event, Fact } from "../../../domain/events.ts";
import { type CallPatch, StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";
import { retryUntilStored } from "../../retry-until-stored.ts";
import type { EventSubject } from "../event-log.ts";
import { failCall, type StoredCallsContext, storeCall } from "../stored-calls.ts";
import { finalFact, referenceData, sipReference } from "./outcomes.ts";

/** Dependencies of {@link CallJournal}. */
export type CallJournalContext = Pick<
  Context,
  "counters" | "events" | "journals" | "log" | "nodeId" | "shutdownSignal" | "storage" | "system"
> &
  StoredCallsContext;

/** Maximum number of notes of one call that wait for the storage. */
const MAX_NOTES = 1_000;

/** The end of a call. */
export interface Ending {
  readonly input: Extract<CallMove, "complete" | "fail">;
  readonly outcome: Outcome;
  /** ms since 1970-01-01 UTC. */
  readonly endedAt: number;
  readonly result: CallResult | undefined;
  /** Reason why the result is missing, if the call has a schema for it; undefined if it has none. */
  readonly resultError: string | null | undefined;
  readonly turns: readonly TurnMetrics[] | undefined;
  readonly mediaStatistics: MediaStatistics | null;
  readonly quality: readonly QualityInterval[] | undefined;
  readonly recordedMs: number | null;
  /** True if the call was dialled. */
  readonly wasDialled: boolean;
  /** The Call-ID of the last INVITE. */
  readonly sipCallId: string | undefined;
  /** Facts that were noticed late. */
  readonly lateFacts: readonly Fact[];
}

/**
 * Decisions about one live call, stored asynchronously: no caller waits for the storage, and no fact is lost while it
 * is unavailable.
 *
 * Entries are stored in the order of the decisions, one write at a time, and a write is repeated until it is done.
 * Decisions made in the meantime go into the next write: row states are merged, events never are. Live listeners get an
 * event at once; all others when it is stored.
 */
export class CallJournal {
  readonly #context: CallJournalContext;
  readonly #subject: EventSubject & { readonly callId: string };
  readonly #onBroken: (error: unknown) => void;
  /** The call with all decisions so far. */
  #call: Call;
  /** The call as last stored. */
  #storedCall: Call;
  #patch: CallPatch = {};
  #events: Event[] = [];
  /** Number of notes that were dropped because too many waited. */
  #droppedCount = 0;
  /** Rejects if the journal cannot be stored. */
  #writePromise: Promise<void> | undefined;
  #failure: unknown;

  /**
   * @param call claimed by this process
   * @param onBroken called if the storage refuses a write permanently: another process has changed the call
   */
  constructor(context: CallJournalContext, call: Call, onBroken: (error: unknown) => void) {
    this.#context = context;
    this.#call = call;
    this.#storedCall = call;
    this.#onBroken = onBroken;
    this.#subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
  }

  get id(): string {
    return this.#call.id;
  }

  /** The call with all decisions so far, stored or not. */
  get call(): Call {
    return this.#call;
  }

  /** Records that the call was placed, or has connected. @param sipCallId the Call-ID of the last INVITE */
  move(input: "place" | "connect", at: number, sipCallId?: string): void {
    const status = this.#nextStatus(input);
    const sipFields = sipCallId === undefined ? {} : { sipCallId };
    const patch: CallPatch = { status, ...(input === "connect" && { startedAt: at }), ...sipFields };
    const event = input === "connect" ? "answered" : "ringing";
    const data = { ...referenceData(this.#call), ...sipReference({ ...this.#call, ...sipFields }) };
    this.#put(patch, [this.#event({ event, data }, at)]);
  }

  /** Returns the call to its queue: it was not dialled, or the network refused it for now. */
  requeue(): void {
    this.#put({ owner: null, dialingAt: null, line: null }, []);
  }

  /** Moves the call to its final state. */
  end({ input, lateFacts, result, resultError, turns, quality, ...ending }: Ending): void {
    const { outcome, endedAt, mediaStatistics, recordedMs, wasDialled, sipCallId = this.#call.sipCallId } = ending;
    const status = this.#nextStatus(input);
    for (const fact of lateFacts) this.addNote(fact, endedAt);
    this.#put(
      {
        status,
        outcome,
        endedAt,
        ...(result && { result }),
        ...(resultError !== undefined && { resultError }),
        ...(turns && { turns }),
        mediaStatistics,
        ...(quality && { quality }),
        recordedMs,
        ...(!wasDialled && { dialingAt: null }),
        ...(sipCallId !== undefined && { sipCallId }),
      },
      [...this.#droppedNotes(endedAt), this.#event(finalFact({ ...this.#call, sipCallId }, status, outcome), endedAt)],
    );
    this.#context.counters.callEnded(status, outcome.reason);
    this.#context.counters.agentTurns(turns ?? []);
  }

  /** Adds a note that is only for the timeline; dropped, and counted, if too many notes wait for the storage. */
  addNote(fact: Fact, at: number): void {
    const note = this.#event(fact, at);
    if (this.#events.length < MAX_NOTES && !this.#context.journals.isFull) {
      this.#put({}, [...this.#droppedNotes(at), note]);
      return;
    }
    this.#droppedCount++;
    this.#context.events.publishLive([note]);
  }

  /** Records that the call has no recording. */
  eraseRecording(): void {
    this.#call = { ...this.#call, recordedMs: null };
  }

  /**
   * Resolves when all decisions so far are stored.
   * @throws {StorageUnavailable} the process ends and can wait no longer; or what the storage refused permanently
   */
  async whenStored(): Promise<void> {
    while (this.#writePromise) await this.#writePromise;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Fails a call that cannot continue, unless another process has moved it. Never rejects. */
  async giveUp(detail: string): Promise<void> {
    const { storage, nodeId, log } = this.#context;
    try {
      await this.#writePromise;
      await retryUntilStored(this.#context, `the end of call ${this.id}`, async () => {
        for (;;) {
          const call = await storage.calls.get(this.id);
          if (call?.owner !== nodeId || !isActive(call.status)) return;
          if (await failCall(this.#context, call, "internal_error", detail)) return;
        }
      });
    } catch (error) {
      log.error(
        { call_id: this.id, err: error },
        "the failure of a call could not be stored; the next start settles the call",
      );
    }
  }

  #nextStatus(input: CallMove): Call["status"] {
    const status = nextState(CALL_TRANSITIONS, this.#call.status, input);
    if (!status) throw new InternalError(`a ${this.#call.status} call has no move "${input}"`);
    return status;
  }

  #event(fact: Fact, at: number): Event {
    return this.#context.events.event(fact, this.#subject, at);
  }

  #droppedNotes(at: number): Event[] {
    if (this.#droppedCount === 0) return [];
    const event = this.#event({ event: "timeline_incomplete", data: { dropped: this.#droppedCount } }, at);
    this.#droppedCount = 0;
    return [event];
  }

  #put(patch: CallPatch, events: readonly Event[]): void {
    const { journals, events: eventLog } = this.#context;
    this.#call = { ...this.#call, ...patch };
    if (this.#failure === undefined) {
      this.#patch = { ...this.#patch, ...patch };
      this.#events.push(...events);
      journals.add(this, events.length);
      this.#writePromise ??= this.#write();
    }
    eventLog.publishLive(events);
  }

  /** Stores entries until none waits. Never rejects. */
  async #write(): Promise<void> {
    const { journals, events: eventLog } = this.#context;
    try {
      while (this.#events.length > 0 || Object.keys(this.#patch).length > 0) {
        const [patch, events] = [this.#patch, this.#events];
        [this.#patch, this.#events] = [{}, []];
        const isStored = await this.#store(patch, events);
        journals.add(this, -events.length);
        if (isStored) eventLog.publishStored(events);
      }
      journals.delete(this);
    } catch (error) {
      this.#failure = error;
      if (!(error instanceof StorageUnavailable)) {
        journals.delete(this);
        this.#onBroken(error);
      }
    } finally {
      this.#writePromise = undefined; // immediately: later entries need a separate write
    }
  }

  /** False if the storage refused notes permanently: the call continues without them. */
  async #store(patch: CallPatch, events: readonly Event[]): Promise<boolean> {
    if (Object.keys(patch).length === 0) return this.#append(events);
    const storedCall = await storeCall(this.#context, this.#storedCall, patch, events);
    if (!storedCall) throw new InternalError(`call ${this.id} was changed by another process`);
    this.#storedCall = storedCall;
    return true;
  }

  async #append(notes: readonly Event[]): Promise<boolean> {
    const { storage, log } = this.#context;
    try {
      // An event already stored by a write whose result was lost is left unchanged.
      await retryUntilStored(this.#context, `events of call ${this.id}`, () => storage.events.append(notes));
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      log.error({ call_id: this.id, err: error }, "notes of a call could not be stored");
      this.#droppedCount += notes.length;
      return false;
    }
  }
}
