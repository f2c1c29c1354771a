import type { Playout } from "../../../audio/playout/playout.ts";
import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import {
  isDraining,
  nextStreamState,
  type StreamInput,
  type StreamState,
} from "../../../domain/calls/live-stream-flow.ts";
import { type Event, isFinalEvent } from "../../../domain/events.ts";
import type { Timings } from "../../../domain/timings.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { System } from "../../../ports/system.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { EventLog } from "../../calls/event-log.ts";
import type { Guarded } from "../../port-guards/guarded.ts";
import { guardedStreamClient } from "../../port-guards/guarded-web.ts";
import type { CallTap } from "../call-tap.ts";
import { CalleeAudio } from "./callee-audio.ts";
import { OutgoingAudio } from "./outgoing-audio.ts";
import { PressedKeys } from "./pressed-keys.ts";
import { QueueWatch } from "./queue-watch.ts";
import {
  MAX_QUEUED_MS,
  type StreamAttachment,
  type StreamClient,
  type StreamEnd,
  type StreamEvent,
  type StreamEventData,
  type StreamEventName,
  streamEventOf,
  type Transcript,
} from "./stream-client.ts";
import { StreamHistory } from "./stream-history.ts";

/** Dependencies of a {@link LiveStream}. */
export interface LiveStreamParts {
  readonly system: System;
  readonly log: Logger;
  readonly events: EventLog;
  readonly timings: Timings;
}

/** Callbacks of a {@link LiveStream}. */
export interface LiveStreamHost {
  /** Called when the call has ended and the stream is no longer needed. */
  onEnd(): void;
  /** Called when the client has ended a call that has no session yet: no callee was dialled. */
  terminate(): void;
}

/** The live stream of one call: passes the client's audio to the callee and the callee's audio to the client. */
export class LiveStream implements CallTap {
  readonly #context: LiveStreamParts;
  readonly #host: LiveStreamHost;
  readonly #outgoing = new OutgoingAudio();
  readonly #callee = new CalleeAudio((frame) => this.#client?.callee(frame));
  readonly #keys: PressedKeys;
  readonly #history = new StreamHistory();
  readonly #queue = new QueueWatch((event, queuedMs) => this.#notify(event, { queued_ms: Math.round(queuedMs) }));
  readonly #unsubscribe: readonly (() => void)[];
  readonly #emitMark = (name: string): void => this.emit("mark", { name });
  readonly #reportDrained = (): void => this.#session?.({ type: "stream_closed" });
  /** Changed only by {@link #move}. */
  #state: StreamState = "detached";
  /** Set while the state is `attached` or `draining`. */
  #client: Guarded<StreamClient> | undefined;
  #session: ((signal: CallSignal) => void) | undefined;
  #leg: Leg | undefined;
  /** Number of messages that clients have sent. */
  #messageCount = 0;
  /** End of the stream; undefined before the state is `over`. */
  #end: StreamEnd | undefined;

  constructor(context: LiveStreamParts, callId: string, host: LiveStreamHost) {
    this.#context = context;
    this.#host = host;
    this.#keys = new PressedKeys({
      callId,
      log: context.log,
      play: (tones, sampleRate) => this.#write(tones, sampleRate),
    });
    const onClosed = (): void => {
      this.#finish("stopping");
      this.discard();
    };
    const { events } = context;
    this.#unsubscribe = [
      events.subscribeToLiveCall(callId, { onEvent: (event) => this.#onEvent(event), onClose: onClosed }),
      // Until the final event is stored, the call looks active to readers and must not get a new stream.
      events.subscribeToCall(callId, {
        onEvent: ({ type }) => (isFinalEvent(type) ? this.discard() : undefined),
        onClose: onClosed,
      }),
    ];
  }

  /** True if a client is attached. */
  get isAttached(): boolean {
    return this.#client !== undefined;
  }

  /** True if the client has asked for the end of the call. */
  get hasHungUp(): boolean {
    return isDraining(this.#state);
  }

  /** The end of the stream; undefined before. */
  get streamEnd(): StreamEnd | undefined {
    return this.#end;
  }

  /** True if it can be discarded: it has no session, no client, no audio and no history. */
  get isUnused(): boolean {
    const isQuiet = this.#history.isEmpty && this.#outgoing.queuedMs === 0;
    return this.#session === undefined && this.#state === "detached" && isQuiet;
  }

  /** Attaches the call's session, which is notified when clients connect and disconnect. */
  begin(session: (signal: CallSignal) => void): void {
    this.#session = session;
    if (this.hasHungUp) session({ type: "stream_closed" });
    else if (this.isAttached) session({ type: "stream_attached" });
  }

  /** Called when the session has ended and the call is queued again. */
  onRequeue(): void {
    this.#session = undefined;
    if (this.hasHungUp) this.#host.terminate();
  }

  /** Connects the stream to the leg of its call. */
  connect(leg: Leg, playout: Playout): void {
    this.#leg = leg;
    this.#callee.connect(leg.sampleRate, leg.frameMs);
    this.#outgoing.connect(playout);
  }

  inbound(frame: Int16Array): void {
    this.#callee.write(frame);
  }

  outbound(_samples: Int16Array | undefined, _from: number, length: number): void {
    this.#callee.addPlayedSamples(length);
    if (this.#queue.isActive) this.#checkQueue();
  }

  /** Sends a transcript to the client; a final one is kept for the next client if none is attached. */
  transcript(transcript: Transcript): void {
    if (this.#client === undefined) {
      if (transcript.final && this.#state !== "over") this.#history.recordMissed(transcript);
      return;
    }
    if (transcript.final) this.#history.recordDelivered(transcript, this.#now());
    this.#client.transcript(transcript);
  }

  /** Sends an event to the client, and keeps it for clients that attach later. */
  emit(event: StreamEventName, data: StreamEventData = {}, timestamp: number = this.#now()): void {
    const streamEvent: StreamEvent = { event, timestamp, data };
    this.#history.add(streamEvent);
    this.#client?.event(streamEvent);
  }

  /** Attaches the client that holds the reservation. */
  attach(unguardedClient: StreamClient): StreamAttachment {
    const client = guardedStreamClient(unguardedClient, this.#context);
    this.#history.replay(client, this.#now());
    if (this.#end !== undefined) client.over(this.#end);
    else {
      this.#move("attach", client);
      this.#session?.({ type: "stream_attached" });
      this.#queue.reset();
      this.#checkQueue();
    }
    return this.#attachment(client);
  }

  #attachment(client: Guarded<StreamClient>): StreamAttachment {
    const isCurrent = (): boolean => this.#client === client;
    const recordActivity = (): boolean => {
      if (isCurrent()) this.#history.recordSignOfLife(this.#now());
      return isCurrent();
    };
    const canSend = (): boolean => recordActivity() && !this.hasHungUp;
    const outgoing = this.#outgoing;
    const messages = (): number => this.#messageCount;
    return {
      room: (ms) => (isCurrent() ? this.#queue.waitForRoom(ms, outgoing.queuedMs) : undefined),
      get queuedMs() {
        return isCurrent() ? outgoing.queuedMs : 0;
      },
      get messages() {
        return messages();
      },
      took: () => {
        if (recordActivity()) this.#messageCount++;
      },
      ignored: (data) => {
        if (isCurrent()) this.#session?.({ type: "noticed", fact: { event: "audio_ignored", data } });
      },
      write: (samples, sampleRate) => {
        if (canSend()) this.#write(samples, sampleRate);
      },
      mark: (name) => {
        if (canSend()) outgoing.mark(name, this.#emitMark);
      },
      clear: () => {
        if (recordActivity()) this.#clear();
      },
      dtmf: (digits) => {
        if (canSend()) this.#keys.press(digits);
      },
      hangUp: () => {
        if (isCurrent()) this.#drain("hang_up");
      },
      detach: (isIntentional) => {
        if (!isCurrent()) return;
        this.#history.recordDisconnect(this.#now());
        if (isIntentional) this.#drain("leave");
        else this.#lose();
      },
    };
  }

  #write(samples: Int16Array, sampleRate: number): void {
    if (!Number.isInteger(sampleRate) || sampleRate < 4_000 || sampleRate > 192_000)
      throw new RangeError(`the sample rate is ${sampleRate} Hz: it must be a whole number from 4000 to 192000`);
    if (this.#outgoing.queuedMs + (samples.length * 1000) / sampleRate > MAX_QUEUED_MS) {
      const client = this.#client;
      this.#lose();
      client?.over("overflow");
      return;
    }
    this.#outgoing.write(samples, sampleRate);
    this.#checkQueue();
  }

  #clear(): void {
    this.#outgoing.clear();
    this.emit("cleared", { heard_ms: this.#outgoing.heardMs });
    this.#checkQueue();
    // No sample is left to play before the end.
    if (this.hasHungUp) this.#reportDrained();
  }

  /** Checks the length of the queue; also called on the leg's clock while the queue is too long. */
  #checkQueue(): void {
    this.#queue.check(this.#outgoing.queuedMs);
  }

  /** Sends an event to the client that is attached; later clients do not get it. */
  #notify(event: StreamEventName, data: StreamEventData): void {
    this.#client?.event({ event, timestamp: this.#now(), data });
  }

  /**
   * Called when the client has disconnected or was dropped: the call waits for another client, unless it is draining.
   * The callee hears the queued audio, then silence.
   */
  #lose(): void {
    this.#move("lose");
    if (!this.hasHungUp) this.#session?.({ type: "stream_detached" });
  }

  /** Plays the queued audio, then ends the call; before the answer the call ends immediately. */
  #drain(input: "hang_up" | "leave"): void {
    const wasDraining = this.hasHungUp;
    this.#move(input);
    if (wasDraining) return;
    if (this.#session === undefined) this.#host.terminate();
    else this.#outgoing.end(this.#context.timings.tailMs, this.#reportDrained);
  }

  #onEvent(event: Event): void {
    const streamEvent = streamEventOf(event);
    if (streamEvent) this.emit(streamEvent.name, streamEvent.data, event.timestamp);
    if (event.type === "answered") {
      this.#callee.start();
      this.#keys.onAnswer(this.#leg);
    } else if (event.type === "completed" || event.type === "failed") this.#finish(event.type);
  }

  #finish(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const client = this.#client;
    this.#move("end");
    client?.over(end);
  }

  /** Stops following the call, which has ended or was never used. */
  discard(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#host.onEnd();
  }

  #move(input: StreamInput, client = this.#client): void {
    this.#state = nextStreamState(this.#state, input);
    const hasClient = this.#state === "attached" || this.#state === "draining";
    const nextClient = hasClient ? client : undefined;
    if (nextClient === this.#client) return;
    this.#client = nextClient;
    this.#queue.release();
    this.#callee.setClientRate(nextClient?.calleeRate);
  }

  #now(): number {
    return this.#context.system.now();
  }
}
