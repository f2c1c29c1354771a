import type { LineCondition, RefusalScope } from "../../../../src/ports/telephony.ts";

/** The meaning of an error that WhatsApp sends in reply to an offer, by its scope beyond the call. */
export type OfferError =
  /** The error concerns only this call: the next callee may be called. */
  | { readonly scope: "callee"; readonly text: string }
  /** The error concerns the linked number for a while, or every number that uses this version of the client. */
  | (OfferHold & { readonly scope: "number" | "client" });

/** A period without further offers, because they would be refused too. */
export interface OfferHold {
  /** The callees that get no offers. */
  readonly callees: "strangers" | "everyone";
  /** Condition that the line reports until it ends; undefined for none. */
  readonly condition?: LineCondition;
  /** Duration if WhatsApp names no end, ms; doubled with each further error in a row, up to an hour. */
  readonly holdMs: number;
  /** True if the refused call waits too: the next offer for it follows after the hold. Otherwise it fails. */
  readonly repeats?: true;
  /** A sentence for the owner of the number, without the code and the end. */
  readonly text: string;
}

export const MAX_HOLD_MS = 3_600_000;

/** Errors with a known meaning; any other error applies to its call alone. */
const OFFER_ERRORS: ReadonlyMap<string, OfferError> = new Map<string, OfferError>([
  [
    "429",
    {
      scope: "number",
      callees: "everyone",
      holdMs: 60_000,
      repeats: true,
      text: "WhatsApp wants this number to wait between calls",
    },
  ],
  [
    "439",
    {
      scope: "client",
      callees: "everyone",
      condition: "client_outdated",
      holdMs: MAX_HOLD_MS,
      text: "WhatsApp no longer accepts calls from this version of the client; update the client library",
    },
  ],
  [
    "463",
    {
      scope: "number",
      callees: "strangers",
      condition: "restricted",
      holdMs: MAX_HOLD_MS,
      text: "WhatsApp does not let this number call people who have not written to it",
    },
  ],
]);

const THIS_CALL: OfferError = { scope: "callee", text: "WhatsApp refused the offer" };

/** The refusals that number protection counts: it stops calls to all callees, contacts too. */
const REFUSALS: Readonly<Record<OfferError["scope"], RefusalScope>> = {
  callee: "call",
  // The hold for this error already stops exactly the calls that it applies to.
  number: "call",
  // No call of the number is accepted; the count outlives a restart, the hold does not.
  client: "number",
};

/** The error of the time-lock, which WhatsApp also announces. */
export const TIMELOCK_CODE = "463";

/** The meaning of an error in reply to an offer. @param code error code of the `<ack>` */
export function offerError(code: string): OfferError {
  return OFFER_ERRORS.get(code) ?? THIS_CALL;
}

/** True if a call whose offer was refused with this error waits for another offer: it rang nowhere. */
export function isRepeated(code: string): boolean {
  const error = offerError(code);
  return error.scope !== "callee" && error.repeats === true;
}

/** Scope of an offer's refusal with this error, for number protection. */
export function refusalScope(code: string): RefusalScope {
  return REFUSALS[offerError(code).scope];
}
