import type { IdSource } from "../../base/ids.ts";
import type { Event, Fact } from "../../domain/events.ts";
import type { Logger } from "../../ports/logger.ts";
import type { System } from "../../ports/system.ts";

/** The subject of an event. */
export interface EventSubject {
  readonly callId: string | null;
  readonly instanceId: string | null;
  readonly userId: string;
}

/** A listener for the events of a call or of a user. */
export interface EventListener {
  onEvent(event: Event): void;
  /** Called when no more events follow, because this process stops. */
  onClose(): void;
}

/** The key of listeners for the events of every user. */
const EVERY_USER = "";

type Listeners = Map<string, Set<EventListener>>;

/**
 * Makes events and passes them on. Live listeners (the stream of a call) get an event when it happens; all others, and
 * the operator's log, when it has been stored.
 */
export class EventLog {
  readonly #system: System;
  readonly #ids: IdSource;
  readonly #log: Logger;
  readonly #liveListeners: Listeners = new Map();
  readonly #callListeners: Listeners = new Map();
  readonly #userListeners: Listeners = new Map();
  readonly #allListeners: Listeners = new Map();
  #isClosed = false;

  constructor(system: System, ids: IdSource, log: Logger) {
    this.#system = system;
    this.#ids = ids;
    this.#log = log;
  }

  /** A new event that happened now, or at an earlier time. */
  event({ event, data }: Fact, subject: EventSubject, at: number = this.#system.now()): Event {
    const { callId, instanceId, userId } = subject;
    return { id: this.#ids("evt"), type: event, timestamp: at, callId, instanceId, userId, data } as Event;
  }

  /** Passes on events that have happened and are stored. */
  publish(events: readonly Event[]): void {
    this.publishLive(events);
    this.publishStored(events);
  }

  /** Passes events on to live listeners, stored or not. */
  publishLive(events: readonly Event[]): void {
    for (const event of events) notify(this.#liveListeners, event.callId, event);
  }

  /** Passes newly stored events on to all but the live listeners, and logs them. */
  publishStored(events: readonly Event[]): void {
    for (const event of events) {
      // Metadata that clients attach to a call is for them, not for the operator.
      const { metadata: _, ...data } = event.data as Readonly<Record<string, unknown>>;
      // Whole messages of a protocol are for troubleshooting only.
      this.#log[event.type === "signalling" ? "debug" : "info"](
        { call_id: event.callId ?? undefined, instance_id: event.instanceId ?? undefined, ...data },
        event.callId === null ? event.type : `call ${event.type}`,
      );
      notify(this.#callListeners, event.callId, event);
      notify(this.#userListeners, event.userId, event);
      notify(this.#allListeners, EVERY_USER, event);
    }
  }

  /** True if no more events will be delivered. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Notifies all listeners that no item follows. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const listenersById of [this.#liveListeners, this.#callListeners, this.#userListeners])
      for (const listeners of listenersById.values()) for (const listener of listeners) listener.onClose();
  }

  /** Passes each newly stored event of a call to `listener`; returns a function that stops it. */
  subscribeToCall(callId: string, listener: EventListener): () => void {
    return addListener(this.#callListeners, callId, listener);
  }

  /** Passes each newly stored event of a user to `listener`; returns a function that stops it. */
  subscribeToUser(userId: string, listener: EventListener): () => void {
    return addListener(this.#userListeners, userId, listener);
  }

  /** Passes each newly stored event of every user to `listener`; returns a function that stops it. */
  subscribeToAll(listener: EventListener): () => void {
    return addListener(this.#allListeners, EVERY_USER, listener);
  }

  /** Passes each new event of a call to `listener`, stored or not; returns a function that stops it. */
  subscribeToLiveCall(callId: string, listener: EventListener): () => void {
    return addListener(this.#liveListeners, callId, listener);
  }
}

function notify(listenersById: Listeners, id: string | null, event: Event): void {
  if (id !== null) for (const listener of listenersById.get(id) ?? []) listener.onEvent(event);
}

function addListener(listenersById: Listeners, id: string, listener: EventListener): () => void {
  const listeners = listenersById.get(id) ?? new Set();
  listenersById.set(id, listeners.add(listener));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && listenersById.get(id) === listeners) listenersById.delete(id);
  };
}
