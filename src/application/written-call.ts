import { CALL_TRANSITIONS, type Call, type CallInput } from "../domain/call.ts";
import type { Event, EventData, EventType } from "../domain/events.ts";
import { nextState } from "../domain/machine.ts";
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { CallPatch } from "../ports/storage.ts";
import type { Noticed } from "./call-media.ts";
import type { Context } from "./context.ts";
import type { EventSubject } from "./event-log.ts";
import { insist } from "./insist.ts";
import { finalEvent, outcomeView } from "./outcomes.ts";
import { failCall, storeCall } from "./stored-calls.ts";

/** How a call ended. */
export interface Ending {
  readonly input: Extract<CallInput, "complete" | "fail">;
  readonly outcome: Outcome;
  /** ms since 1970-01-01 UTC. */
  readonly endedAt: number;
  readonly mediaStatistics: MediaStatistics | null;
  readonly recordedMs: number | null;
  /** What was noticed too late to be noted before. */
  readonly last: readonly Noticed[];
}

/**
 * A live call as the storage has it, and what is still to be written of it. A move is written however long the storage
 * takes; a note that it cannot take goes with the next write. An event is published when it is stored.
 */
export class WrittenCall {
  readonly #context: Context;
  readonly #subject: EventSubject & { readonly callId: string };
  #call: Call;
  /** Events that the storage could not take yet. */
  #unsaved: Event[] = [];

  /** @param call claimed by this process */
  constructor(context: Context, call: Call) {
    this.#context = context;
    this.#call = call;
    this.#subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
  }

  get id(): string {
    return this.#call.id;
  }

  /** The call as it was last written. */
  get call(): Call {
    return this.#call;
  }

  /** Writes that the far side was asked, or that it was connected. */
  async move(input: "place" | "connect", at: number): Promise<void> {
    const status = this.#next(input);
    const patch: CallPatch = input === "connect" ? { status, startedAt: at } : { status };
    await this.#write(patch, [this.#event(input === "connect" ? "answered" : "ringing", {}, at)]);
  }

  /** Writes that the call waits again. */
  requeue(): Promise<void> {
    return this.#write({ owner: null }, []);
  }

  /** Writes the final state. */
  async end({ input, outcome, endedAt, mediaStatistics, recordedMs, last }: Ending): Promise<void> {
    const status = this.#next(input);
    await this.#write({ status, outcome, endedAt, mediaStatistics, recordedMs }, [
      ...last.map(({ event, data }) => this.#event(event, data, endedAt)),
      this.#event(finalEvent(status), outcomeView(outcome), endedAt),
    ]);
    this.#context.tally.callEnded(status, outcome.reason);
  }

  /** Writes something for the timeline only. */
  async note(type: EventType, data: EventData, at: number): Promise<void> {
    const event = this.#event(type, data, at);
    try {
      await this.#context.storage.events.append([...(await this.#missing()), event]);
      this.#saved([event]);
    } catch {
      this.#unsaved.push(event);
    }
  }

  /** Nothing will be recorded of the call. */
  eraseRecording(): void {
    this.#call = { ...this.#call, recordedMs: null };
  }

  /** Fails a call that nobody can carry on, unless somebody else has moved it. Never rejects. */
  async giveUp(detail: string): Promise<void> {
    const { storage, nodeId, log } = this.#context;
    try {
      await insist(this.#context, `call ${this.id}`, async () => {
        const call = await storage.calls.get(this.id);
        if (call?.owner === nodeId) await failCall(this.#context, call, "internal_error", detail);
      });
    } catch (error) {
      log.error({ call_id: this.id, err: error }, "the call could not be failed; the next start settles it");
    }
  }

  #event(type: EventType, data: EventData, at: number): Event {
    return this.#context.events.event(type, this.#subject, data, at);
  }

  #next(input: CallInput): Call["status"] {
    const status = nextState(CALL_TRANSITIONS, this.#call.status, input);
    if (!status) throw new Error(`a ${this.#call.status} call has no move "${input}"`);
    return status;
  }

  async #write(patch: CallPatch, events: readonly Event[]): Promise<void> {
    const missing = await insist(this.#context, `call ${this.id}`, () => this.#missing());
    const written = await storeCall(this.#context, this.#call, patch, [...missing, ...events]);
    if (!written) throw new Error(`call ${this.id} was changed by somebody else`);
    this.#call = written;
    this.#saved(events);
  }

  /** Which of the unsaved events are not stored: a write whose answer was lost on the way was done all the same. */
  async #missing(): Promise<Event[]> {
    if (this.#unsaved.length === 0) return [];
    const stored = new Set((await this.#context.storage.events.ofCall(this.id, {})).map(({ id }) => id));
    return this.#unsaved.filter(({ id }) => !stored.has(id));
  }

  /** Everything is stored, these events last. */
  #saved(events: readonly Event[]): void {
    const all = [...this.#unsaved, ...events];
    this.#unsaved = [];
    this.#context.events.publish(all);
  }
}
