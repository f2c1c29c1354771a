import type { Consent, ConsentStore } from "ringport";
import type { Memory } from "./memory.ts";

/** Consents that users have recorded for numbers. */
export function consents({ consents: all, users }: Memory): ConsentStore {
  const nameOf = (userId: string, phone: string): string => JSON.stringify([userId, phone]);
  return {
    get: async (userId, phone) => all.get(nameOf(userId, phone)),
    ofNumbers: async (userId, phones) =>
      phones.map((phone) => all.get(nameOf(userId, phone))).filter((one) => one !== undefined),
    async put(consent, most = Number.POSITIVE_INFINITY) {
      const { userId, phone } = consent;
      if (users.has(userId)) return "user_deleted"; // named by its id, see deleteAccount
      const name = nameOf(userId, phone);
      const before = all.get(name);
      if (!before && [...all.values()].filter((one) => one.userId === userId).length >= most) return "at_limit";
      const stored: Consent = { ...consent, createdAt: before?.createdAt ?? consent.createdAt };
      all.set(name, stored);
      return { created: before === undefined, consent: stored };
    },
    delete: async (userId, phone) => all.delete(nameOf(userId, phone)),
    list: async (userId, { status }, { after = "", limit }) =>
      [...all.values()]
        .filter((one) => one.userId === userId && one.phone > after && one.status === (status ?? one.status))
        .sort((one, other) => (one.phone < other.phone ? -1 : 1))
        .slice(0, limit),
  };
}
