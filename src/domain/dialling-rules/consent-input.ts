import * as v from "valibot";
import { issueText, type Schema, storableText } from "../input/input-checks.ts";
import { CONSENT_STATUSES, type ConsentStatus } from "./consent.ts";

/** The body of `PUT /v1/consents/:phone`. */
export interface ConsentInput {
  status: ConsentStatus;
  /** Origin of the status, such as a signed form or a call. */
  source?: string | null | undefined;
}

const SOURCE_LENGTH = 500;

/** The schema of {@link ConsentInput}. */
export const CONSENT_SCHEMA: Schema<ConsentInput> = v.object({
  status: v.picklist(CONSENT_STATUSES, issueText("value_invalid", `must be one of ${CONSENT_STATUSES.join(", ")}`)),
  source: v.optional(
    v.nullable(
      v.pipe(
        v.string(),
        v.maxLength(SOURCE_LENGTH, issueText("too_long", `at most ${SOURCE_LENGTH} characters are allowed`)),
        storableText("the source"),
        v.description("How you know: the form that was signed, the call on which it was said."),
      ),
    ),
  ),
});
