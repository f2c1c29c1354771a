import type { Playout, PlayoutTap } from "../../../audio/playout.ts";
import type { CallSignal } from "../../../domain/call-flow.ts";
import { type Event, type EventData, isFinalEvent } from "../../../domain/events.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import { CalleeAudio } from "./callee-audio.ts";
import { OutgoingAudio } from "./outgoing-audio.ts";
import { PressedKeys } from "./pressed-keys.ts";
import {
  HIGH_QUEUED_MS,
  LOW_QUEUED_MS,
  MOST_QUEUED_MS,
  type StreamAttachment,
  type StreamClient,
  type StreamEnd,
  type StreamEvent,
  type StreamEventName,
  type Transcript,
} from "./stream-client.ts";
import { StreamHistory } from "./stream-history.ts";

/** What a stream needs of whoever keeps it. */
export interface LiveStreamHost {
  /** The call is over, and nobody needs the stream any more. */
  gone(): void;
  /** The client has ended a call that no session carries: nobody was dialled yet. */
  terminate(): void;
}

/** The live stream of one call: what its client sends goes to the callee, and what the callee says goes to the client. */
export class LiveStream implements PlayoutTap {
  readonly #context: Context;
  readonly #host: LiveStreamHost;
  readonly #outgoing = new OutgoingAudio();
  readonly #callee = new CalleeAudio((frame) => this.#client?.callee(frame));
  readonly #keys: PressedKeys;
  readonly #past = new StreamHistory();
  readonly #unlisten: readonly (() => void)[];
  readonly #marked = (name: string): void => this.tell("mark", { name });
  readonly #drained = (): void => this.#tellSession({ type: "stream_closed" });
  #session: ((signal: CallSignal) => void) | undefined;
  #leg: Leg | undefined;
  #client: StreamClient | undefined;
  #high = false;
  /** Messages that clients have sent. */
  #messages = 0;
  /** The client has asked for the end of the call. */
  #closing = false;
  #over: StreamEnd | undefined;

  constructor(context: Context, callId: string, host: LiveStreamHost) {
    this.#context = context;
    this.#host = host;
    this.#keys = new PressedKeys({
      callId,
      log: context.log,
      play: (tones, sampleRate) => this.#write(tones, sampleRate),
    });
    const over = (): void => {
      this.#end("stopping");
      this.discard();
    };
    const { events } = context;
    this.#unlisten = [
      events.listenLive(callId, { event: (event) => this.#happened(event), over }),
      // Until then the call looks active to those who read it, and must not get a new stream.
      events.listen(callId, { event: ({ type }) => (isFinalEvent(type) ? this.discard() : undefined), over }),
    ];
  }

  /** Whether a client is there. */
  get attached(): boolean {
    return this.#client !== undefined;
  }

  /** Whether the client has asked for the end of the call. */
  get closing(): boolean {
    return this.#closing;
  }

  /** How it ended; undefined while it has not. */
  get over(): StreamEnd | undefined {
    return this.#over;
  }

  /** Whether it holds nothing that anybody could miss: no session, no client, no audio, no past. */
  get unused(): boolean {
    const quiet = this.#past.empty && this.#outgoing.queuedMs === 0;
    return this.#session === undefined && this.#client === undefined && !this.#closing && quiet;
  }

  /** A session of the call has begun; it is told when clients come and go. */
  begin(session: (signal: CallSignal) => void): void {
    this.#session = session;
    if (this.#closing) session({ type: "stream_closed" });
    else if (this.#client !== undefined) session({ type: "stream_attached" });
  }

  /** The session is over but the call is not: it waits again. */
  wait(): void {
    this.#session = undefined;
    if (this.#closing) this.#host.terminate();
  }

  /** There is a leg. */
  connect(leg: Leg, playout: Playout): void {
    this.#leg = leg;
    this.#callee.connect(leg.sampleRate, leg.frameMs);
    this.#outgoing.connect(playout);
  }

  /** The callee's side of the leg, to be written to. */
  get callee(): CalleeAudio {
    return this.#callee;
  }

  /** Tells the client what was said; what is final waits for one. */
  said(transcript: Transcript): void {
    if (this.#client === undefined) {
      if (transcript.final && this.#over === undefined) this.#past.missed(transcript);
      return;
    }
    if (transcript.final) this.#past.told(transcript, this.#now());
    this.#client.transcript(transcript);
  }

  /** Tells the client what happened, and remembers it for those who come later. */
  tell(event: StreamEventName, data: EventData = {}, timestamp: number = this.#now()): void {
    const told: StreamEvent = { event, timestamp, data };
    this.#past.add(told);
    this.#client?.event(told);
  }

  /** The client who has the place is there. */
  attach(client: StreamClient): StreamAttachment {
    this.#client = client;
    this.#callee.listen(client.calleeRate);
    this.#past.tell(client, this.#now());
    if (this.#over !== undefined) {
      this.#letGo();
      client.over(this.#over);
    } else {
      this.#tellSession({ type: "stream_attached" });
      this.#high = false;
      this.#watchQueue();
    }
    return this.#attachment(client);
  }

  #attachment(client: StreamClient): StreamAttachment {
    const attached = (): boolean => this.#client === client;
    const acts = (): boolean => {
      if (attached()) this.#past.alive(this.#now());
      return attached();
    };
    const sends = (): boolean => acts() && !this.#closing;
    const outgoing = this.#outgoing;
    const messages = (): number => this.#messages;
    return {
      get queuedMs() {
        return attached() ? outgoing.queuedMs : 0;
      },
      get messages() {
        return messages();
      },
      took: () => {
        if (acts()) this.#messages++;
      },
      write: (samples, sampleRate) => {
        if (sends()) this.#write(samples, sampleRate);
      },
      mark: (name) => {
        if (sends()) outgoing.mark(name, this.#marked);
      },
      clear: () => {
        if (acts()) this.#clear();
      },
      dtmf: (digits) => {
        if (sends()) this.#keys.press(digits);
      },
      hangUp: () => {
        if (attached()) this.#close();
      },
      detach: (onPurpose) => {
        if (!attached()) return;
        this.#past.gone(this.#now());
        this.#letGo();
        if (onPurpose) this.#close();
        else if (!this.#closing) this.#tellSession({ type: "stream_detached" });
      },
    };
  }

  #write(samples: Int16Array, sampleRate: number): void {
    if (!Number.isInteger(sampleRate) || sampleRate < 4_000 || sampleRate > 192_000)
      throw new RangeError(`Audio of ${sampleRate} Hz cannot be played.`);
    if (this.#outgoing.queuedMs + (samples.length * 1000) / sampleRate > MOST_QUEUED_MS) {
      const client = this.#client;
      this.#letGo();
      this.#tellSession({ type: "stream_detached" });
      client?.over("overflow");
      return;
    }
    this.#outgoing.write(samples, sampleRate);
    this.#watchQueue();
  }

  #clear(): void {
    this.#outgoing.clear();
    this.tell("cleared", { heard_ms: this.#outgoing.heardMs });
    this.#watchQueue();
    // What was to be heard before the end is gone.
    if (this.#closing) this.#drained();
  }

  /** Says once that too much waits, and once that it does not any more. Looked at by the leg's clock as well. */
  #watchQueue(): void {
    const { queuedMs } = this.#outgoing;
    if (!this.#high && queuedMs > HIGH_QUEUED_MS) {
      this.#high = true;
      this.#signal("buffer_high");
    } else if (this.#high && queuedMs < LOW_QUEUED_MS) {
      this.#high = false;
      this.#signal("buffer_low");
    }
  }

  played(_samples: Int16Array | undefined, _from: number, length: number): void {
    this.#callee.sent(length);
    if (this.#high) this.#watchQueue();
  }

  /** Told to the client that is there, and to nobody later. */
  #signal(event: StreamEventName): void {
    const data = { queued_ms: Math.round(this.#outgoing.queuedMs) };
    this.#client?.event({ event, timestamp: this.#now(), data });
  }

  /** What waits is played, then the call ends; before the answer it ends at once. */
  #close(): void {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#session === undefined) this.#host.terminate();
    else this.#outgoing.end(this.#context.timings.tailMs, this.#drained);
  }

  #now(): number {
    return this.#context.system.now();
  }

  #tellSession(signal: CallSignal): void {
    this.#session?.(signal);
  }

  #happened(event: Event): void {
    switch (event.type) {
      case "ringing":
        this.tell("ringing", {}, event.timestamp);
        break;
      case "answered":
        this.tell("answered", {}, event.timestamp);
        this.#callee.start();
        this.#keys.answered(this.#leg);
        break;
      case "dtmf":
        this.tell("dtmf", { digit: event.data.digit ?? "" }, event.timestamp);
        break;
      case "beep":
        this.tell("beep", event.data, event.timestamp);
        break;
      case "completed":
      case "failed":
        this.tell(event.type, { reason: event.data.reason ?? null }, event.timestamp);
        this.#end(event.type);
        break;
      default:
    }
  }

  #end(end: StreamEnd): void {
    if (this.#over !== undefined) return;
    this.#over = end;
    const client = this.#client;
    this.#letGo();
    client?.over(end);
  }

  /** Nobody will use it any more. */
  discard(): void {
    for (const unlisten of this.#unlisten) unlisten();
    this.#host.gone();
  }

  #letGo(): void {
    this.#client = undefined;
    this.#callee.listen(undefined);
  }
}
