import * as v from "valibot";
import { CONSENT_STATUSES, type Consent as StoredConsent } from "../../domain/dialling-rules/consent.ts";
import type { View } from "../response-types.ts";
import { timestamp } from "../timestamp.ts";
import { isoTime, phone, shape } from "./shape.ts";

export const consentShape = shape("Permission to call a number.", {
  phone,
  status: v.pipe(
    v.picklist(CONSENT_STATUSES),
    v.description("granted: its owner wants to be called; do_not_call: its owner does not."),
  ),
  source: v.pipe(v.nullable(v.string()), v.description("How you obtained the consent; null if not recorded.")),
  created_at: isoTime,
  updated_at: isoTime,
});

/** A consent in a response. */
export function consentView(consent: StoredConsent): View<"Consent"> {
  return {
    phone: consent.phone,
    status: consent.status,
    source: consent.source,
    created_at: timestamp(consent.createdAt),
    updated_at: timestamp(consent.updatedAt),
  };
}
