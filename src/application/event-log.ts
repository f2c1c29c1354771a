import type { Event, EventData, EventType } from "../domain/events.ts";
import type { IdSource } from "../domain/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { System } from "../ports/system.ts";

/** Whom an event is about. */
export interface EventSubject {
  readonly callId: string | null;
  readonly instanceId: string;
  readonly userId: string;
}

/** Who follows a call. */
export interface EventListener {
  event(event: Event): void;
  /** Nothing more will be told: this process stops. */
  over(): void;
}

/** Makes events and tells those who listen; an event is published only after it has been stored. */
export class EventLog {
  readonly #system: System;
  readonly #ids: IdSource;
  readonly #log: Logger;
  readonly #ofCall = new Map<string, Set<EventListener>>();
  #closed = false;

  constructor(system: System, ids: IdSource, log: Logger) {
    this.#system = system;
    this.#ids = ids;
    this.#log = log;
  }

  /** A new event that happened now, or at an earlier time. */
  event(type: EventType, subject: EventSubject, data: EventData = {}, at: number = this.#system.now()): Event {
    const { callId, instanceId, userId } = subject;
    return { id: this.#ids("evt"), type, timestamp: at, callId, instanceId, userId, data };
  }

  /** Tells listeners and the operator's log about stored events. */
  publish(events: readonly Event[]): void {
    for (const event of events) {
      // Whole messages of a protocol are for whoever looks for a fault.
      this.#log[event.type === "signalling" ? "debug" : "info"](
        { call_id: event.callId ?? undefined, instance_id: event.instanceId, ...event.data },
        event.callId === null ? event.type : `call ${event.type}`,
      );
      if (event.callId !== null) for (const listener of this.#ofCall.get(event.callId) ?? []) listener.event(event);
    }
  }

  /** Whether nothing more will be told. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Tells everybody who listens that nothing more comes. Twice is fine. */
  close(): void {
    this.#closed = true;
    for (const listeners of this.#ofCall.values()) for (const listener of listeners) listener.over();
  }

  /** Tells `listener` every event of a call from now on; the answer stops that. */
  listen(callId: string, listener: EventListener): () => void {
    const listeners = this.#ofCall.get(callId) ?? new Set();
    this.#ofCall.set(callId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#ofCall.get(callId) === listeners) this.#ofCall.delete(callId);
    };
  }
}
