/** An idempotency key and its owner; the three fields together are unique. */
export interface ReceiptKey {
  readonly userId: string;
  /** The instance of a demo token; empty for a user's other tokens. */
  readonly scope: string;
  readonly key: string;
}

/** The result of a finished idempotent request: JSON, as the use case made it. */
export interface ReceiptResult extends ReceiptKey {
  readonly result: string;
}

/** The state of an idempotency key. */
export type Receipt =
  | { readonly kind: "begun" }
  | { readonly kind: "running" }
  | { readonly kind: "done"; readonly fingerprint: string; readonly result: string };

/** Idempotency keys and their results. */
export interface ReceiptStore {
  /** Begins a request under a new key, or returns the state of a known one; first deletes keys older than `expiredBefore`. */
  begin(key: ReceiptKey, fingerprint: string, now: number, expiredBefore: number): Promise<Receipt>;
  /**
   * Stores the result of a request that changed nothing else. A creation stores its own result, and fails the same way.
   * @throws {StorageUnavailable} no request under this key has begun; nothing was stored
   */
  finish(receipt: ReceiptResult): Promise<void>;
  /** Deletes the key of a refused request, unless it has a result. */
  abandon(key: ReceiptKey): Promise<void>;
  /** Deletes the keys of all unfinished requests; a dead process left them. */
  abandonUnfinished(): Promise<void>;
  /** Deletes the keys of requests that began before a time; returns how many. */
  forget(begunBefore: number): Promise<number>;
  /** Deletes the keys of finished requests for a call to this number (`"targetPhone":"…"` in the result); returns how many. */
  forgetPhone(phone: string): Promise<number>;
}
