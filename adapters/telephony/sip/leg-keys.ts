import type { KeyDelivery } from "../../../src/ports/telephony.ts";
import type { InviteUsage } from "../../sip-stack/dialog/invite.ts";
import type { MediaSession } from "../../sip-stack/media/engine.ts";

/** Duration of a key in SIP INFO, ms. */
const INFO_DIGIT_MS = 160;

/** The two transports for a key: telephone-events in RTP (RFC 4733), and SIP INFO. */
type KeyTransport = "rtp" | "info";

/** A call's keys: sends them in the way that the peer accepts, and receives each key once. */
export class LegKeys {
  readonly #acceptsTelephoneEvents: () => boolean;
  readonly #onKey: (digit: string) => void;
  /** Transport of the peer's keys: a peer may send each key in both ways, and only the first way counts. */
  #peerTransport: KeyTransport | undefined;

  /**
   * @param acceptsTelephoneEvents true if the peer has negotiated telephone-events
   * @param onKey called for each received key
   */
  constructor(acceptsTelephoneEvents: () => boolean, onKey: (digit: string) => void) {
    this.#acceptsTelephoneEvents = acceptsTelephoneEvents;
    this.#onKey = onKey;
  }

  /** A peer without telephone-events sends keys as tones, or by INFO. */
  get dtmf(): KeyDelivery {
    return this.#acceptsTelephoneEvents() ? "event" : "in-band";
  }

  /** Rejects if the peer accepts no keys. */
  async send(digits: string, media: MediaSession | undefined, usage: InviteUsage | undefined): Promise<void> {
    if (this.#acceptsTelephoneEvents()) return await media?.sendDigits(digits);
    for (const digit of digits) await usage?.sendDigit(digit.toUpperCase(), INFO_DIGIT_MS);
  }

  receive(digit: string, transport: KeyTransport): void {
    if (this.dtmf === "in-band") this.#peerTransport = undefined; // telephone-events came from another phone
    this.#peerTransport ??= transport;
    if (this.#peerTransport === transport) this.#onKey(digit);
  }
}

/** Checks that the text consists of telephone keys. @throws {RangeError} */
export function assertKeys(digits: string): void {
  if (!/^[0-9*#A-Da-d]*$/.test(digits))
    throw new RangeError(`${JSON.stringify(digits)} are not telephone keys; use 0 to 9, *, # and A to D`);
}
