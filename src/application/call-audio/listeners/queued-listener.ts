import { msToSamples, samplesToMs } from "../../../audio/samples/pcm.ts";
import type { CallStatus } from "../../../domain/calls/call.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { BUFFER_MS, type CallListening, type ListenItem } from "./listen-items.ts";
import { ListenerRing } from "./listener-ring.ts";

/** Longest piece of audio, ms: a listener that lags gets larger pieces. */
const MAX_PIECE_MS = 200;

/** Callbacks of a {@link QueuedListener}. */
export interface ListenerHost {
  /** Called when the call has been answered and the listener is being read. */
  onStart(): void;
  /**
   * Called once, when the listener accepts no further audio.
   * @param listenedMs length of the audio that was read, ms; undefined if the audio has not started
   */
  onListenerLeft(listenedMs: number | undefined): void;
}

/** One listener of a call: takes audio on the leg's clock, and delivers it as fast as it is read. */
export class QueuedListener implements CallListening {
  readonly callId: string;
  readonly #host: ListenerHost;
  /** Items before the audio. */
  readonly #openingItems: ListenItem[] = [];
  #ring: ListenerRing | undefined;
  #sampleRate = 0;
  #samplesRead = 0;
  #lastItem: ListenItem | undefined;
  #refusal: Refusal | undefined;
  #isAnswered = false;
  #hasReader = false;
  #hasStarted = false;
  /** True once the listener accepts no further audio. */
  #hasLeft = false;
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(callId: string, host: ListenerHost) {
    this.callId = callId;
    this.#host = host;
  }

  /** Reports that the call has not been picked up yet. */
  wait(status: CallStatus): void {
    this.#openingItems.push({ type: "waiting", status });
  }

  /** Prepares for the audio of the call's leg, which may precede {@link onAnswer}. */
  prepare(sampleRate: number): void {
    this.#sampleRate = sampleRate;
    this.#ring = new ListenerRing(msToSamples(BUFFER_MS, sampleRate));
  }

  /** Called when the callee has picked up. */
  onAnswer(): void {
    this.#isAnswered = true;
    this.#openingItems.push({ type: "started", sampleRate: this.#sampleRate });
    this.#reportStart();
    this.#notify();
  }

  /** Adds the next samples of both channels. */
  write(callee: Int16Array, outbound: Int16Array, count: number): void {
    this.#ring?.write(callee, outbound, count);
    if (this.#isAnswered) this.#notify();
  }

  /** Ends the listener with its call: the buffered audio can still be read, then `lastItem`. */
  end(lastItem: ListenItem & { readonly type: "call_ended" }): void {
    this.#lastItem = lastItem;
    this.#leave();
  }

  /** Ends the loop with a refusal after the buffered audio has been read. */
  fail(refusal: Refusal): void {
    this.#refusal = refusal;
    this.#leave();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ListenItem, void, undefined> {
    this.#hasReader = true;
    this.#reportStart();
    try {
      while (!this.#isClosed) {
        const item = this.#next();
        if (item) yield item;
        else if (this.#refusal) throw this.#refusal;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        if (item?.type === "call_ended") return;
      }
    } finally {
      this.close();
    }
  }

  #next(): ListenItem | undefined {
    const openingItem = this.#openingItems.shift();
    if (openingItem) return openingItem;
    const ring = this.#ring;
    const lostSamples = (this.#isAnswered && ring?.takeLost()) || 0;
    if (lostSamples > 0) return { type: "gap", lostMs: Math.round(samplesToMs(lostSamples, this.#sampleRate)) };
    if (!ring || !this.#isAnswered || ring.availableSamples === 0) return this.#lastItem;
    const samples = ring.read(msToSamples(MAX_PIECE_MS, this.#sampleRate));
    this.#samplesRead += samples.length / 2;
    return { type: "audio", samples };
  }

  #reportStart(): void {
    if (!this.#hasReader || !this.#isAnswered || this.#hasStarted || this.#hasLeft) return;
    this.#hasStarted = true;
    this.#host.onStart();
  }

  #leave(): void {
    if (!this.#hasLeft) {
      this.#hasLeft = true;
      const listenedMs = Math.round(samplesToMs(this.#samplesRead, this.#sampleRate));
      this.#host.onListenerLeft(this.#hasStarted ? listenedMs : undefined);
    }
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
