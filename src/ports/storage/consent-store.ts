import type { Consent, ConsentStatus } from "../../domain/numbers/consent.ts";
import type { Page } from "./page.ts";

/** Users' records about the numbers they call. A user has at most one consent of a number. */
export interface ConsentStore {
  get(userId: string, phone: string): Promise<Consent | undefined>;
  /** A user's consents of these few numbers, in any order. */
  ofNumbers(userId: string, phones: readonly string[]): Promise<Consent[]>;
  /**
   * Stores a consent in place of an earlier one of the same number, whose `createdAt` it keeps. Of concurrent writes the
   * last one counts. No record is stored for a user whose account was deleted, even if that happens at the same time.
   * @param most how many its user may have; concurrent writes never exceed it. Default: any number
   * @returns the stored consent and if it is new, or the reason why none was stored
   */
  put(
    consent: Consent,
    most?: number,
  ): Promise<{ readonly created: boolean; readonly consent: Consent } | "at_limit" | "user_deleted">;
  /** Returns whether there was such a consent. */
  delete(userId: string, phone: string): Promise<boolean>;
  /** A user's consents by ascending number; `after` is the number of the last one seen. */
  list(userId: string, filter: { readonly status?: ConsentStatus | undefined }, page: Page): Promise<Consent[]>;
}
