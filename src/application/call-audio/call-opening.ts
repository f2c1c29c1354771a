import type { Playout, PlayoutTap } from "../../audio/playout/playout.ts";
import { dtmfTones } from "../../audio/tones/dtmf.ts";
import { type Call, startRulesOf } from "../../domain/calls/call.ts";
import type { CallSignal } from "../../domain/calls/call-signal.ts";
import { startsAtOnce } from "../../domain/calls/message-start.ts";
import { extensionParts } from "../../domain/calls/phone-extension.ts";
import type { FrameSource } from "../../ports/media.ts";
import type { Leg } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { LiveCallMedia } from "./call-types/call-type-program.ts";
import { FirstWord } from "./first-word.ts";
import { Prelude } from "./prelude.ts";

type CallOpeningContext = Pick<Context, "log">;

/** Dependencies of {@link CallOpening}. */
export interface CallOpeningOptions {
  readonly leg: Leg;
  readonly playout: Playout;
  readonly callee: LiveCallMedia["callee"];
  readonly post: (signal: CallSignal) => void;
}

/** The part of a call between the answer and its first sound: an extension, the callee's first word, a pause. */
export class CallOpening {
  readonly #context: CallOpeningContext;
  readonly #call: Call;
  readonly #options: CallOpeningOptions;
  readonly #prelude: Prelude;
  readonly #firstWord: FirstWord;

  /** The opening of a call; undefined if its audio starts with the answer. */
  static create(context: CallOpeningContext, call: Call, options: CallOpeningOptions): CallOpening | undefined {
    return startsAtOnce(startRulesOf(call.message)) ? undefined : new CallOpening(context, call, options);
  }

  constructor(context: CallOpeningContext, call: Call, options: CallOpeningOptions) {
    const { leg, playout, callee, post } = options;
    this.#context = context;
    this.#call = call;
    this.#options = options;
    this.#prelude = new Prelude(playout);
    this.#firstWord = new FirstWord(callee, leg.sampleRate, (hasEnded) => post({ type: "first_word", hasEnded }));
  }

  /** Follows the callee. */
  get tap(): FirstWord {
    return this.#firstWord;
  }

  /** All audio for the leg, the opening first. */
  get source(): FrameSource {
    return this.#prelude;
  }

  /** Length so far, ms. */
  get lengthMs(): number {
    return this.#prelude.lengthMs;
  }

  /** Receives the played samples. */
  set outbound(tap: PlayoutTap | undefined) {
    this.#prelude.tap = tap;
  }

  /** Sends the keys of the call's extension; posts a signal when they have been sent. */
  async dialExtension(): Promise<void> {
    const { extension } = startRulesOf(this.#call.message);
    if (extension === undefined) return;
    const { leg, post } = this.#options;
    const call = { callId: this.#call.id, extension };
    post({ type: "extension_dialled", inBand: await dialExtension(this.#context, call, leg, this.#prelude) });
  }

  /** Posts signals about the callee's next word. */
  awaitFirstWord(): void {
    this.#firstWord.await();
  }

  /** Ends the opening; the playout follows after this much silence. */
  end(delayMs = 0): void {
    this.#prelude.endAfter(delayMs);
  }
}

/**
 * Sends the keys and pauses of an extension; resolves with true if keys were sent as tones, because the peer accepts
 * no others.
 */
async function dialExtension(
  { log }: Pick<Context, "log">,
  { callId, extension }: { readonly callId: string; readonly extension: string },
  leg: Leg,
  prelude: Prelude,
): Promise<boolean> {
  let inBand = leg.sendDtmf === undefined;
  for (const part of extensionParts(extension)) {
    if (typeof part === "number") {
      await prelude.pause(part);
      continue;
    }
    try {
      if (!inBand) await leg.sendDtmf?.(part);
    } catch (error) {
      log.warn(
        { call_id: callId, err: error },
        "the network did not send a key; the rest of the extension is dialled with tones",
      );
      inBand = true;
    }
    if (inBand) await prelude.tones(dtmfTones(part, { sampleRate: leg.sampleRate }));
  }
  return inBand;
}
