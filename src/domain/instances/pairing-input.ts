import * as v from "valibot";
import { issueText, type Schema } from "../input/input-checks.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../numbers/phone-number.ts";

/** The body of `POST /v1/instances/:instanceId/pairing-code`. */
export interface PairingInput {
  /** The number of the phone on which the code is to be typed, E.164. */
  phone: string;
}

/** The schema of {@link PairingInput}. */
export const PAIRING_SCHEMA: Schema<PairingInput> = v.object({
  phone: v.pipe(
    v.string(),
    v.regex(PHONE_NUMBER, issueText("phone_number_invalid", PHONE_RULE)),
    v.description("The number of the phone on which the code is to be typed, E.164."),
  ),
});
