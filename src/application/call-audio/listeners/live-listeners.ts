import type { Principal } from "../../../domain/access/principal.ts";
import { type Call, isActive } from "../../../domain/calls/call.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { Context } from "../../context.ts";
import { CallListeners, type ListenedSession } from "./call-listeners.ts";
import type { CallListening } from "./listen-items.ts";

type ListenersContext = Pick<Context, "events" | "storage">;

/** The listeners of live calls, by call. */
export class LiveListeners {
  readonly #context: ListenersContext;
  readonly #session: (callId: string) => ListenedSession | undefined;
  readonly #byCall = new Map<string, CallListeners>();

  constructor(context: ListenersContext, session: (callId: string) => ListenedSession | undefined) {
    this.#context = context;
    this.#session = session;
  }

  /**
   * Listens to a call that has not ended.
   * @throws {Refusal} `call_ended`, `too_many_listeners`, `stopping`
   */
  async listen(principal: Principal, call: Call): Promise<CallListening> {
    const { events, storage } = this.#context;
    if (events.isClosed) throw new Refusal("stopping", "the server is stopping");
    const listener = this.#listenersOf(call.id).add(principal, this.#session(call.id)?.call ?? call);
    // The call may have ended after it was read and before it was followed.
    const current = await (async () => this.#session(call.id)?.call ?? (await storage.calls.get(call.id)))().catch(
      (error: unknown) => {
        listener.close();
        throw error;
      },
    );
    const isActiveNow = current !== undefined && isActive(current.status);
    // The session of this call has failed, and its end is not stored yet.
    const isLost = isActiveNow && current.status !== "QUEUED" && !this.#session(call.id);
    if (isActiveNow && !isLost) return listener;
    listener.close();
    throw new Refusal("call_ended", isLost ? "the call was interrupted" : `the call is ${current?.status ?? "FAILED"}`);
  }

  #listenersOf(callId: string): CallListeners {
    const currentListeners = this.#byCall.get(callId);
    if (currentListeners) return currentListeners;
    const listeners: CallListeners = new CallListeners(this.#context, callId, {
      session: () => this.#session(callId),
      onLastListenerLeft: () => {
        if (this.#byCall.get(callId) === listeners) this.#byCall.delete(callId);
      },
    });
    this.#byCall.set(callId, listeners);
    return listeners;
  }
}
