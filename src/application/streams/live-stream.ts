import { dtmfTones } from "../../audio/dtmf.ts";
import type { Playout, PlayoutTap } from "../../audio/playout.ts";
import type { Call } from "../../domain/call.ts";
import type { CallSignal } from "../../domain/call-flow.ts";
import type { Event, EventData } from "../../domain/events.ts";
import type { Leg } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import { CalleeAudio } from "./callee-audio.ts";
import { OutgoingAudio } from "./outgoing-audio.ts";
import {
  HIGH_QUEUED_MS,
  LOW_QUEUED_MS,
  MOST_QUEUED_MS,
  type StreamAttachment,
  type StreamClient,
  type StreamEnd,
  type StreamEvent,
  type StreamEventName,
  type StreamSeat,
  type Transcript,
} from "./stream-client.ts";

/** Events that a client who attaches itself is told again; older ones are forgotten. */
const MOST_REMEMBERED = 1_000;
/** Keys in one request, and the tones that they become where the network takes no keys, Hz. */
const MOST_DIGITS = 64;
const TONE_RATE = 8_000;

/** The live stream of one call: what its client sends goes to the callee, and what the callee says goes to the client. */
export class LiveStream implements PlayoutTap {
  readonly #context: Context;
  readonly #call: Pick<Call, "id">;
  readonly #outgoing = new OutgoingAudio();
  readonly #callee = new CalleeAudio((frame) => this.#client?.callee(frame));
  readonly #past: StreamEvent[] = [];
  /** Said while no client was there. */
  readonly #missed: Transcript[] = [];
  readonly #unlisten: () => void;
  #leg: Leg | undefined;
  #post: (signal: CallSignal) => void = () => {};
  /** Somebody has, or will soon have, the one place. */
  #taken = false;
  #client: StreamClient | undefined;
  #high = false;
  /** The client has asked for the end of the call. */
  #closing = false;
  #over = false;
  /** Told when the call is over. */
  readonly #gone: () => void;

  /** @param gone the call is over and nobody needs this any more */
  constructor(context: Context, call: Pick<Call, "id">, gone: () => void) {
    this.#context = context;
    this.#call = call;
    this.#gone = gone;
    this.#unlisten = context.events.listen(call.id, {
      event: (event) => this.#happened(event),
      over: () => this.#end("stopping"),
    });
  }

  /** Whether a client is there, or is coming. */
  get taken(): boolean {
    return this.#taken;
  }

  /** The session of the call has begun; it is told when clients come and go. */
  begin(post: (signal: CallSignal) => void): void {
    this.#post = post;
    if (this.#closing) post({ type: "stream_closed" });
    else if (this.#client !== undefined) post({ type: "stream_attached" });
  }

  /** There is a leg. */
  connect(leg: Leg, playout: Playout): void {
    this.#leg = leg;
    this.#callee.connect(leg.sampleRate);
    this.#outgoing.connect(playout);
  }

  /** The callee's side of the leg, to be written to. */
  get callee(): CalleeAudio {
    return this.#callee;
  }

  /** Tells the client what was said; what is final waits for one. */
  said(transcript: Transcript): void {
    if (this.#client) this.#client.transcript(transcript);
    else if (transcript.final && !this.#over && this.#missed.push(transcript) > MOST_REMEMBERED) this.#missed.shift();
  }

  /** Tells the client what happened, and remembers it for those who come later. */
  tell(event: StreamEventName, data: EventData = {}, timestamp: number = this.#context.system.now()): void {
    const told: StreamEvent = { event, timestamp, data };
    this.#past.push(told);
    if (this.#past.length > MOST_REMEMBERED) this.#past.shift();
    this.#client?.event(told);
  }

  /** Takes the one place at the stream; undefined where somebody has it. */
  seat(): StreamSeat | undefined {
    if (this.#taken) return undefined;
    this.#taken = true;
    let used = false;
    return {
      attach: (client) => {
        if (used) throw new Error("a seat is for one client");
        used = true;
        return this.#attach(client);
      },
      release: () => {
        if (!used) this.#taken = false;
        used = true;
      },
    };
  }

  #attach(client: StreamClient): StreamAttachment {
    const attached = (): boolean => this.#client === client;
    if (this.#over) {
      this.#taken = false;
      for (const event of this.#past) client.event(event);
      client.over(this.#past.at(-1)?.event === "completed" ? "completed" : "failed");
    } else {
      this.#client = client;
      this.#callee.listen(client.calleeRate);
      for (const event of this.#past) client.event(event);
      for (const transcript of this.#missed.splice(0)) client.transcript(transcript);
      this.#post({ type: "stream_attached" });
    }
    const queuedMs = (): number => this.#outgoing.queuedMs;
    return {
      get queuedMs() {
        return attached() ? queuedMs() : 0;
      },
      write: (samples, sampleRate) => {
        if (attached() && !this.#closing) this.#write(samples, sampleRate);
      },
      mark: (name) => {
        if (attached() && !this.#closing) this.#outgoing.mark(name, (reached) => this.tell("mark", { name: reached }));
      },
      clear: () => {
        if (!attached() || this.#closing) return;
        this.#outgoing.clear();
        this.tell("cleared", { heard_ms: this.#outgoing.heardMs });
        this.#watchQueue();
      },
      dtmf: (digits) => {
        const tones = dtmfTones(digits.slice(0, MOST_DIGITS), { sampleRate: TONE_RATE });
        if (digits.length > MOST_DIGITS) throw new RangeError(`At most ${MOST_DIGITS} digits can be sent at once.`);
        if (attached() && !this.#closing) this.#press(digits, tones);
      },
      hangUp: () => {
        if (attached()) this.#close();
      },
      detach: (onPurpose) => {
        if (!attached()) return;
        this.#letGo();
        if (onPurpose) this.#close();
        else this.#post({ type: "stream_detached" });
      },
    };
  }

  #write(samples: Int16Array, sampleRate: number): void {
    const ms = (samples.length * 1000) / sampleRate;
    if (this.#outgoing.queuedMs + ms > MOST_QUEUED_MS) {
      const client = this.#client;
      this.#letGo();
      this.#post({ type: "stream_detached" });
      client?.over("overflow");
      return;
    }
    this.#outgoing.write(samples, sampleRate);
    this.#watchQueue();
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
    this.#client?.event({
      event,
      timestamp: this.#context.system.now(),
      data: { queued_ms: Math.round(this.#outgoing.queuedMs) },
    });
  }

  #press(digits: string, tones: Int16Array): void {
    const leg = this.#leg;
    if (leg?.sendDtmf === undefined) {
      this.#write(tones, TONE_RATE);
      return;
    }
    leg.sendDtmf(digits).catch((error: unknown) => {
      this.#context.log.warn({ call_id: this.#call.id, err: error }, "the network did not take keys");
    });
  }

  /** What waits is played, then the call ends; before there is a leg it ends at once. */
  #close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#outgoing.flush();
    const closed = (): void => this.#post({ type: "stream_closed" });
    if (this.#callee.answered) this.#outgoing.mark("", closed);
    else closed();
  }

  #happened(event: Event): void {
    switch (event.type) {
      case "ringing":
        this.tell("ringing", {}, event.timestamp);
        break;
      case "answered":
        this.#callee.start();
        this.tell("answered", {}, event.timestamp);
        break;
      case "dtmf":
        this.tell("dtmf", { digit: event.data.digit ?? "" }, event.timestamp);
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
    if (this.#over) return;
    this.#over = true;
    this.#unlisten();
    const client = this.#client;
    this.#letGo();
    client?.over(end);
    this.#gone();
  }

  #letGo(): void {
    this.#client = undefined;
    this.#taken = false;
    this.#callee.listen(undefined);
  }
}
