import type { TakeChannels } from "../../../audio/playout/aligned-channels.ts";
import type { Principal } from "../../../domain/access/principal.ts";
import type { Call, CallStatus } from "../../../domain/calls/call.ts";
import { type Event, type Fact, isFinalEvent } from "../../../domain/events.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { Context } from "../../context.ts";
import type { FollowedAudio } from "../call-media.ts";
import { MAX_LISTENERS } from "./listen-items.ts";
import { QueuedListener } from "./queued-listener.ts";

/** Length of the pieces that listeners get while they keep up, ms. */
const PIECE_MS = 20;

/** The part of a call's session that its listeners use. */
export interface ListenedSession {
  /** The call with its latest changes, including any not stored yet. */
  readonly call: Call;
  /** Resolves when the session has ended: the call has ended or returned to its queue, or the session has failed. */
  readonly whenStored: Promise<void>;
  /** Follows the audio: the callee on the left, the outbound audio on the right; undefined without a leg. */
  follow(receive: TakeChannels, pieceMs: number): FollowedAudio | undefined;
  /** Adds a note to the timeline; without effect once the call has ended. */
  addNote(fact: Fact<"listening_started" | "listening_ended">): void;
}

/** Callbacks of {@link CallListeners}. */
export interface ListenersHost {
  session(): ListenedSession | undefined;
  /** Called when the last listener has left. */
  onLastListenerLeft(): void;
}

/** The listeners of one call: the ring of each listener is filled from the same audio. */
export class CallListeners {
  readonly #callId: string;
  readonly #host: ListenersHost;
  /** Replaced on every change, because the leg's clock iterates over it. */
  #listeners: readonly QueuedListener[] = [];
  readonly #unsubscribe: () => void;
  /** The session whose end is awaited. */
  #session: ListenedSession | undefined;
  #audio: FollowedAudio | undefined;
  #hasEnded = false;

  constructor({ events }: Pick<Context, "events">, callId: string, host: ListenersHost) {
    this.#callId = callId;
    this.#host = host;
    this.#unsubscribe = events.subscribeToLiveCall(callId, {
      onEvent: (event) => this.#onEvent(event),
      onClose: () => this.#endAll((listener) => listener.fail(new Refusal("stopping", "the server is stopping"))),
    });
  }

  /** Adds a listener. @throws {Refusal} `too_many_listeners` */
  add({ userId, tokenId }: Principal, { status }: Call): QueuedListener {
    if (this.#listeners.length >= MAX_LISTENERS)
      throw new Refusal(
        "too_many_listeners",
        `${MAX_LISTENERS} listeners are already connected to this call; close one of them`,
        {
          limit: MAX_LISTENERS,
        },
      );
    const ids = { user_id: userId, token_id: tokenId ?? null };
    const listener: QueuedListener = new QueuedListener(this.#callId, {
      onStart: () => this.#host.session()?.addNote({ event: "listening_started", data: ids }),
      onListenerLeft: (listenedMs) => {
        this.#listeners = this.#listeners.filter((other) => other !== listener);
        if (listenedMs !== undefined && !this.#hasEnded)
          this.#host.session()?.addNote({ event: "listening_ended", data: { ...ids, listened_ms: listenedMs } });
        if (this.#listeners.length === 0) this.#close();
      },
    });
    this.#listeners = [...this.#listeners, listener];
    this.#watchSession();
    if (this.#audio) listener.prepare(this.#audio.sampleRate);
    else this.#follow(status);
    if (status === "IN_PROGRESS") listener.onAnswer();
    else listener.wait(status);
    return listener;
  }

  #onEvent(event: Event): void {
    this.#watchSession();
    if (event.type === "ringing") this.#follow("RINGING");
    else if (event.type === "answered") for (const listener of this.#listeners) listener.onAnswer();
    else if (isFinalEvent(event.type)) {
      const { reason } = (event as Event<"completed" | "failed">).data;
      const status = event.type === "completed" ? "COMPLETED" : "FAILED";
      this.#endAll((listener) => listener.end({ type: "call_ended", status, reason }));
    }
  }

  /** Watches the session, which may fail without reporting the end of its call. */
  #watchSession(): void {
    const session = this.#host.session();
    if (!session || session === this.#session) return;
    this.#session = session;
    void session.whenStored.then(() => {
      if (this.#hasEnded || session.call.owner === null) return;
      this.#endAll((listener) => listener.end({ type: "call_ended", status: "FAILED", reason: "internal_error" }));
    });
  }

  /** Follows the audio of the call, once it has a leg: no audio passes before the answer. */
  #follow(status: CallStatus): void {
    if (status !== "RINGING" && status !== "IN_PROGRESS") return;
    if (this.#audio) return;
    this.#audio = this.#host.session()?.follow((callee, outbound, count) => {
      for (const listener of this.#listeners) listener.write(callee, outbound, count);
    }, PIECE_MS);
    if (this.#audio) for (const listener of this.#listeners) listener.prepare(this.#audio.sampleRate);
  }

  #endAll(end: (listener: QueuedListener) => void): void {
    this.#hasEnded = true;
    // The last samples precede the end.
    this.#audio?.stop();
    for (const listener of this.#listeners) end(listener);
    this.#close();
  }

  #close(): void {
    this.#audio?.stop();
    this.#unsubscribe();
    this.#host.onLastListenerLeft();
  }
}
