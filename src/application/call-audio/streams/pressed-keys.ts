import { dtmfTones } from "../../../audio/dtmf.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { Leg } from "../../../ports/telephony.ts";

/** Keys that may be on their way at a time. */
const MOST_KEYS = 64;
/** Rate of tones where the network takes no keys, Hz. */
const TONE_RATE = 8_000;

/** What it needs. */
export interface PressedKeysOptions {
  readonly callId: string;
  readonly log: Logger;
  /** Takes tones, where the network takes no keys. */
  readonly play: (tones: Int16Array, sampleRate: number) => void;
}

/**
 * Keys that a client presses. They are sent at once, whatever audio waits, since a menu that listens for them should not
 * have to hear the rest first; those pressed before the answer are sent at the answer. Where the network takes no keys they
 * are tones at the end of what waits to be played.
 */
export class PressedKeys {
  readonly #options: PressedKeysOptions;
  #leg: Leg | undefined;
  #early = "";
  #onTheirWay = 0;

  constructor(options: PressedKeysOptions) {
    this.#options = options;
  }

  /** The callee has answered on this leg. */
  answered(leg: Leg | undefined): void {
    this.#leg = leg;
    const early = this.#early;
    this.#early = "";
    if (early !== "") this.#send(early);
  }

  /** @throws {RangeError} other characters than 0-9 * # A-D, or too many on their way */
  press(digits: string): void {
    if (!/^[0-9*#A-D]*$/.test(digits)) throw new RangeError("Only the keys 0-9 * # A-D can be pressed.");
    if (digits.length + this.#early.length + this.#onTheirWay > MOST_KEYS)
      throw new RangeError(`At most ${MOST_KEYS} keys can be on their way at a time.`);
    if (digits === "") return;
    if (this.#leg === undefined) this.#early += digits;
    else this.#send(digits);
  }

  #send(digits: string): void {
    const leg = this.#leg;
    if (leg?.sendDtmf === undefined) {
      this.#options.play(dtmfTones(digits, { sampleRate: TONE_RATE }), TONE_RATE);
      return;
    }
    this.#onTheirWay += digits.length;
    leg
      .sendDtmf(digits)
      .catch((error: unknown) => {
        const { callId, log } = this.#options;
        log.warn({ call_id: callId, err: error }, "the network did not take keys");
      })
      .finally(() => {
        this.#onTheirWay -= digits.length;
      });
  }
}
