import { AlignedChannels } from "../../../audio/aligned-channels.ts";
import type { Call, CallStatus } from "../../../domain/call.ts";
import { type Event, type Fact, isFinalEvent } from "../../../domain/events.ts";
import type { Principal } from "../../../domain/principal.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import { CallListener } from "./call-listener.ts";
import { MOST_LISTENERS } from "./call-listening.ts";

/** Length of the pieces that listeners get while they keep up, ms. */
const PIECE_MS = 20;

/** Makes a tap for a leg. */
export type TapOfLeg = (leg: Pick<Leg, "sampleRate" | "frameMs">) => CallTap;

/** The part of a call's session that its listeners use. */
export interface ListenedSession {
  /** The call as decided. */
  readonly call: Call;
  /** Lets a tap follow the audio until the returned function is called; undefined without a leg. */
  follow(tapOf: TapOfLeg): (() => void) | undefined;
  /** Notes something in the timeline; without effect once the call is over. */
  note(fact: Fact<"listening_started" | "listening_ended">): void;
}

/** Callbacks of {@link CallListeners}. */
export interface ListenersHost {
  session(): ListenedSession | undefined;
  /** Nobody listens any more. */
  gone(): void;
}

/** Those who listen to one call: one tap aligns both directions in time, and fills the ring of each listener. */
export class CallListeners {
  readonly #callId: string;
  readonly #system: Context["system"];
  readonly #host: ListenersHost;
  /** Replaced by every change: the leg's clock goes through it. */
  #listeners: readonly CallListener[] = [];
  readonly #unlisten: () => void;
  #sampleRate: number | undefined;
  #untap: (() => void) | undefined;
  #isOver = false;

  constructor({ events, system }: Pick<Context, "events" | "system">, callId: string, host: ListenersHost) {
    this.#callId = callId;
    this.#system = system;
    this.#host = host;
    this.#unlisten = events.listenLive(callId, {
      event: (event) => this.#happened(event),
      over: () => this.#over((listener) => listener.break(new Refusal("stopping", "the server is stopping"))),
    });
  }

  /** Adds a listener. @throws {Refusal} `too_many_listeners` */
  add({ userId, tokenId }: Principal, { status }: Call): CallListener {
    if (this.#listeners.length >= MOST_LISTENERS)
      throw new Refusal(
        "too_many_listeners",
        `${MOST_LISTENERS} listeners follow this call already; close one of them`,
        {
          limit: MOST_LISTENERS,
        },
      );
    const who = { user_id: userId, token_id: tokenId ?? null };
    const listener: CallListener = new CallListener(this.#callId, {
      started: () => this.#host.session()?.note({ event: "listening_started", data: who }),
      left: (listenedMs) => {
        this.#listeners = this.#listeners.filter((other) => other !== listener);
        if (listenedMs !== undefined && !this.#isOver)
          this.#host.session()?.note({ event: "listening_ended", data: { ...who, listened_ms: listenedMs } });
        if (this.#listeners.length === 0) this.#close();
      },
    });
    this.#listeners = [...this.#listeners, listener];
    if (this.#sampleRate === undefined) this.#tap(status);
    else listener.prepare(this.#sampleRate);
    if (status === "IN_PROGRESS") listener.answered();
    else listener.wait(status);
    return listener;
  }

  #happened(event: Event): void {
    if (event.type === "ringing") this.#tap("RINGING");
    else if (event.type === "answered") for (const listener of this.#listeners) listener.answered();
    else if (isFinalEvent(event.type)) {
      const { reason } = (event as Event<"completed" | "failed">).data;
      const status = event.type === "completed" ? "COMPLETED" : "FAILED";
      this.#over((listener) => listener.end({ type: "call_ended", status, reason }));
    }
  }

  /** Follows the audio of the call, once it has a leg: no audio passes before the answer. */
  #tap(status: CallStatus): void {
    if (status !== "RINGING" && status !== "IN_PROGRESS") return;
    this.#untap ??= this.#host.session()?.follow(({ sampleRate, frameMs }) => {
      this.#sampleRate = sampleRate;
      for (const listener of this.#listeners) listener.prepare(sampleRate);
      const take = (callee: Int16Array, played: Int16Array, count: number): void => {
        for (const listener of this.#listeners) listener.write(callee, played, count);
      };
      const channels = new AlignedChannels(sampleRate, frameMs, take, PIECE_MS);
      const now = (): number => this.#system.monotonic();
      return {
        inbound: (frame) => channels.left(frame, 0, frame.length, now()),
        outbound: (samples, from, length) => channels.right(samples, from, length, now()),
      };
    });
  }

  #over(end: (listener: CallListener) => void): void {
    this.#isOver = true;
    for (const listener of this.#listeners) end(listener);
    this.#close();
  }

  #close(): void {
    this.#untap?.();
    this.#unlisten();
    this.#host.gone();
  }
}
