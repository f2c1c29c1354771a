import type { Playout } from "../../audio/playout/playout.ts";
import { errorText } from "../../base/error.ts";
import type { CallSignal } from "../../domain/calls/call-signal.ts";
import { ProgramFailed } from "./call-types/call-type-program.ts";
import type { PreparedMessage } from "./call-types/prepared-message.ts";

/** Shortest silence before or within the message that is reported as an event, ms. */
const MIN_DELAY_MS = 200;

/** Options of {@link MessagePlayer}. */
export interface MessagePlayerOptions {
  readonly playout: Playout;
  /** Silence after the message, ms. */
  readonly tailMs: number;
  readonly post: (signal: CallSignal) => void;
  /** Called when the callee heard silence because the rest of the message was not rendered in time. */
  readonly onDelay: (atMs: number, silenceMs: number) => void;
}

/** Plays the fixed message of one call, and plays it again from the beginning if a machine is to record it. */
export class MessagePlayer {
  readonly #message: PreparedMessage;
  readonly #options: MessagePlayerOptions;
  /** The message's samples so far; undefined once it cannot be played again. */
  #pieces: Int16Array[] | undefined = [];
  #isRendered = false;
  #isStopped = false;
  /** The playout's lengths when the message last started, ms. */
  #heardAtStartMs = 0;
  #enqueuedAtStartMs = 0;

  constructor(message: PreparedMessage, options: MessagePlayerOptions) {
    this.#message = message;
    this.#options = options;
    this.#reportDelays();
  }

  /** Played length of the message since it was last started, ms. */
  get heardMs(): number {
    if (this.#isStopped) return 0;
    return this.#options.playout.heardMs - this.#heardAtStartMs;
  }

  /** Rendered length, ms. */
  get enqueuedMs(): number {
    return this.#options.playout.enqueuedMs - this.#enqueuedAtStartMs;
  }

  /** Queues the message while the phone rings; posts a signal when all of it is ready, and when it has been played. */
  async play(signal: AbortSignal): Promise<void> {
    const { playout, post } = this.#options;
    let length = 0;
    try {
      for await (const samples of this.#message.samples(playout)) {
        if (signal.aborted) return;
        length += samples.length;
        this.#pieces?.push(samples);
        if (!this.#isStopped) playout.enqueue(samples);
      }
      if (signal.aborted) return;
      this.#isRendered = true;
      post({ type: "message_ready", messageMs: Math.round((1_000 * length) / playout.sampleRate) });
      if (!this.#isStopped) this.#end();
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof ProgramFailed ? error.reason : "internal_error";
      post({ type: "message_failed", reason, detail: errorText(error) });
    }
  }

  /** Stops the message; the heard part is discarded. */
  stop(): void {
    const { playout } = this.#options;
    this.#isStopped = true;
    playout.onDelay = undefined;
    playout.clear();
    this.#heardAtStartMs = playout.heardMs;
    this.#enqueuedAtStartMs = playout.enqueuedMs;
  }

  /** Plays the message from its beginning. */
  playAgain(): void {
    this.stop();
    this.#isStopped = false;
    this.#reportDelays();
    for (const samples of this.#pieces ?? []) this.#options.playout.enqueue(samples);
    if (this.#isRendered) this.#end();
  }

  /** Frees the message's audio; the message cannot be played again. */
  forget(): void {
    this.#pieces = undefined;
  }

  #end(): void {
    const { playout, tailMs, post } = this.#options;
    playout.silence(tailMs);
    playout.mark("", () => {
      playout.onDelay = undefined; // the silence after it is not a delay
      post({ type: "message_played" });
    });
  }

  #reportDelays(): void {
    const { playout, onDelay } = this.#options;
    playout.onDelay = (atMs, silenceMs) => {
      if (silenceMs >= MIN_DELAY_MS) onDelay(atMs, silenceMs);
    };
  }
}
