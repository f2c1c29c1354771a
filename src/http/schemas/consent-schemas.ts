import * as v from "valibot";
import { CONSENT_STATUSES } from "../../domain/consent.ts";
import { phone, shape, timestamp } from "./shape.ts";

export const Consent = shape("Whether a number may be called.", {
  phone,
  status: v.pipe(
    v.picklist(CONSENT_STATUSES),
    v.description("granted: its owner wants to be called; do_not_call: its owner does not."),
  ),
  source: v.pipe(v.nullable(v.string()), v.description("How you know; null if you did not write it down.")),
  created_at: timestamp,
  updated_at: timestamp,
});
