import type { ConsentUseCases } from "../../../src/application/use-cases.ts";
import type { Consent } from "../../../src/domain/dialling-rules/consent.ts";
import { Refusal } from "../../../src/domain/refusal.ts";

export const CONSENT_PHONE = "+12025550100";
const NOW = Date.UTC(2026, 0, 31, 12);

export const consent = (overrides: Partial<Consent> = {}): Consent => ({
  userId: "usr_anna",
  phone: CONSENT_PHONE,
  status: "granted",
  source: "web form",
  createdAt: NOW,
  updatedAt: NOW,
  ...overrides,
});

/** Use cases with a consent for one number. */
export function consentUseCases(): ConsentUseCases {
  const assertKnown = async (phone: string): Promise<void> => {
    if (phone !== CONSENT_PHONE) throw new Refusal("consent_not_found", "nothing is recorded");
  };
  return {
    put: async (_, phone, { status, source = null }) => ({
      ...consent({ phone, status, source }),
      created: phone !== CONSENT_PHONE,
    }),
    get: (_, phone) => assertKnown(phone).then(() => consent()),
    delete: (_, phone) => assertKnown(phone),
    list: async () => [consent()],
  };
}
