import type { CallStatus } from "../../domain/calls/call.ts";

/** An idempotency key and its owner; the three fields together are unique. */
export interface ReceiptKey {
  readonly userId: string;
  /** The instance of a demo token; empty for a user's other tokens. */
  readonly scope: string;
  readonly key: string;
}

/** The record that a request with an idempotency key created: only its id, never a copy. */
export interface Receipt {
  /** A hash of the request; empty if the record has since been removed. */
  readonly fingerprint: string;
  readonly recordId: string;
  /** The existing call that the response named, with its status. Only in receipts of earlier versions. */
  readonly existing?: CallStatus;
}

/** A receipt that is stored in the transaction of its record. */
export interface NewReceipt extends ReceiptKey {
  readonly fingerprint: string;
  /** Time at which the request began; ms since 1970-01-01 UTC. */
  readonly begunAt: number;
  /** A receipt of the same key whose request began earlier has expired and is replaced. */
  readonly expiredBefore: number;
}

/** Receipts of idempotent requests. */
export interface ReceiptStore {
  /** The receipt of a key, unless its request began before a time. */
  find(key: ReceiptKey, expiredBefore: number): Promise<Receipt | undefined>;
  /** Deletes the receipts of requests that began before a time, in pieces; returns their number. */
  forget(begunBefore: number): Promise<number>;
}
