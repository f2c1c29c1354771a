import { dtmfTones } from "../../../audio/dtmf.ts";
import type { CallOf } from "../../../domain/call.ts";
import type { CallSignal } from "../../../domain/call-signal.ts";
import { timingsOf } from "../../../domain/call-timings.ts";
import type { Context } from "../../context.ts";
import type { LiveMedia } from "../programs/program.ts";

/** How long before its maximum duration the agent is asked to end a call, ms. */
const LAST_WORDS_MS = 10_000;

/** What an agent of either kind does to its call besides speaking: presses keys, and hangs up after its last word. */
export class CallControl {
  readonly #context: Context;
  readonly #call: CallOf<"DYNAMIC_AGENT">;
  readonly #media: LiveMedia;
  #timeIsUp = false;
  #cancelLastWords: () => void = () => {};

  constructor(context: Context, call: CallOf<"DYNAMIC_AGENT">, media: LiveMedia) {
    this.#context = context;
    this.#call = call;
    this.#media = media;
  }

  /** Whether the end of the longest duration is near. */
  get timeIsUp(): boolean {
    return this.#timeIsUp;
  }

  /** The callee has answered. @param lastWords called back when the end of the longest duration is near */
  answered(agent: string, lastWords: () => void): void {
    this.#media.post({ type: "noticed", fact: { event: "agent_started", data: { agent } } });
    const { maxDurationMs } = timingsOf(this.#call, this.#context.timings);
    const beforeMs = Math.max(maxDurationMs - LAST_WORDS_MS, maxDurationMs / 2);
    this.#cancelLastWords = this.#context.system.after(beforeMs, () => {
      this.#timeIsUp = true;
      lastWords();
    });
  }

  /** Sends keys; a network that cannot gets them as tones behind the agent's words. */
  async press(keys: string): Promise<void> {
    const { leg, playout } = this.#media;
    if (leg.sendDtmf === undefined) playout.enqueue(dtmfTones(keys, { sampleRate: leg.sampleRate }));
    else
      await leg.sendDtmf(keys).catch((error: unknown) => {
        this.#context.log.warn({ call_id: this.#call.id, err: error }, "the network did not send the keys");
      });
  }

  /** The end of the call by the agent: it has finished, unless its time is up. */
  hangUpSignal(detail: string | undefined): CallSignal {
    if (this.#timeIsUp) return { type: "timer", name: "duration", inboundSince: true };
    return { type: "message_played", detail };
  }

  /** Posts the end of the call once the last word, and a short silence, have been played. */
  endAfterLastWord(signal: CallSignal): void {
    this.whenPlayed(() => this.#media.post(signal));
  }

  /** Calls back when all that was said, and a short silence, have been played. */
  whenPlayed(callback: () => void): void {
    this.#media.playout.silence(this.#context.timings.tailMs);
    this.#media.playout.mark("", callback);
  }

  /** The call is over. */
  stop(): void {
    this.#cancelLastWords();
  }
}
