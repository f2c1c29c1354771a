import { dtmfTones } from "../../../audio/tones/dtmf.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { Leg } from "../../../ports/telephony.ts";

/** Maximum number of keys being sent at a time. */
const MAX_KEYS = 64;
/** Rate of the tones for networks that cannot send keys, Hz. */
const TONE_RATE = 8_000;

/** Dependencies of {@link PressedKeys}. */
export interface PressedKeysOptions {
  readonly callId: string;
  readonly log: Logger;
  /** Plays keys as tones, if the network cannot send them. */
  readonly play: (tones: Int16Array, sampleRate: number) => void;
}

/**
 * Keys that a client presses. They are sent at once, ahead of pending audio, because a menu that waits for them should
 * not have to play the rest first; keys pressed before the answer are sent at the answer. If the network cannot send
 * keys, they become tones at the end of the pending audio.
 */
export class PressedKeys {
  readonly #options: PressedKeysOptions;
  #leg: Leg | undefined;
  #earlyKeys = "";
  #sendingCount = 0;

  constructor(options: PressedKeysOptions) {
    this.#options = options;
  }

  /** Called when the callee has answered on this leg. */
  onAnswer(leg: Leg | undefined): void {
    this.#leg = leg;
    const keys = this.#earlyKeys;
    this.#earlyKeys = "";
    if (keys !== "") this.#send(keys);
  }

  /** @throws {RangeError} characters other than 0-9 * # A-D, or too many keys being sent */
  press(digits: string): void {
    if (!/^[0-9*#A-D]*$/.test(digits)) throw new RangeError(`the keys are "${digits}": only 0-9 * # A-D are allowed`);
    if (digits.length + this.#earlyKeys.length + this.#sendingCount > MAX_KEYS)
      throw new RangeError(`more than ${MAX_KEYS} keys are being sent: press fewer at a time`);
    if (digits === "") return;
    if (this.#leg === undefined) this.#earlyKeys += digits;
    else this.#send(digits);
  }

  #send(digits: string): void {
    const leg = this.#leg;
    if (leg?.sendDtmf === undefined) {
      this.#options.play(dtmfTones(digits, { sampleRate: TONE_RATE }), TONE_RATE);
      return;
    }
    this.#sendingCount += digits.length;
    leg
      .sendDtmf(digits)
      .catch((error: unknown) => {
        const { callId, log } = this.#options;
        log.warn({ call_id: callId, err: error }, "the network did not send the keys");
      })
      .finally(() => {
        this.#sendingCount -= digits.length;
      });
  }
}
