import type { Consent, ConsentStatus } from "../../domain/consent.ts";
import type { Page } from "./page.ts";

/** What users know about the numbers that they call. A user has at most one consent of a number. */
export interface ConsentStore {
  get(userId: string, phone: string): Promise<Consent | undefined>;
  /** A user's consents of these few numbers, in any order. */
  ofNumbers(userId: string, phones: readonly string[]): Promise<Consent[]>;
  /**
   * Stores a consent in place of an earlier one of the same number, whose `createdAt` it keeps. Of concurrent writes the
   * last one counts.
   * @returns what is stored now, and whether there was none before
   */
  put(consent: Consent): Promise<{ readonly created: boolean; readonly consent: Consent }>;
  /** Returns whether there was such a consent. */
  delete(userId: string, phone: string): Promise<boolean>;
  /** A user's consents by ascending number; `after` is the number of the last one seen. */
  list(userId: string, filter: { readonly status?: ConsentStatus | undefined }, page: Page): Promise<Consent[]>;
}
