/** What an error of WhatsApp in reply to an offer applies to, besides the call itself. */
export type OfferErrorScope =
  /** Nothing else: the next callee may be called. */
  | "callee"
  /** The linked number, for a while. */
  | "number"
  /** Every number of this version of the client. */
  | "client";

/** The meaning of an error in reply to an offer. */
export interface OfferError {
  readonly scope: OfferErrorScope;
  /** Callees of the offers that would be refused too. */
  readonly callees: "none" | "strangers" | "everyone";
  /** How long it lasts if WhatsApp does not say until when, ms; doubled with each further one in a row, up to an hour. */
  readonly holdMs: number;
  /** A sentence for the owner of the number, without the code and the end. */
  readonly text: string;
}

export const MAX_HOLD_MS = 3_600_000;

/** Errors whose meaning is known; any other one applies to its call alone. */
const OFFER_ERRORS: ReadonlyMap<string, OfferError> = new Map<string, OfferError>([
  [
    "429",
    { scope: "number", callees: "everyone", holdMs: 60_000, text: "WhatsApp wants this number to wait between calls" },
  ],
  [
    "439",
    {
      scope: "client",
      callees: "everyone",
      holdMs: MAX_HOLD_MS,
      text: "WhatsApp no longer accepts calls of this version of the client; update the client library",
    },
  ],
  [
    "463",
    {
      scope: "number",
      callees: "strangers",
      holdMs: MAX_HOLD_MS,
      text: "WhatsApp does not let this number call people who have not written to it",
    },
  ],
]);

const THIS_CALL: OfferError = { scope: "callee", callees: "none", holdMs: 0, text: "WhatsApp refused the offer" };

/** The error of the time-lock, which WhatsApp also announces. */
export const TIMELOCK_CODE = "463";

/** What an error of an offer means. @param code as in the `<ack>` */
export function offerError(code: string): OfferError {
  return OFFER_ERRORS.get(code) ?? THIS_CALL;
}
