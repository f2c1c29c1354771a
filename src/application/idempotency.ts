import { Refusal } from "../domain/refusal.ts";
import type { ReceiptResult } from "../ports/storage.ts";
import type { Context } from "./context.ts";
import { insist } from "./insist.ts";
import { sha256Hex } from "./sha256.ts";

/** How long the result of an idempotent request is kept, ms. */
export const RECEIPT_KEPT_MS = 24 * 60 * 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** An idempotency key under which something is being created now. */
export interface Running {
  /** What the storage keeps of it, written together with the creation. */
  receipt(result: unknown): ReceiptResult;
  /** Keeps the result of a request that created nothing. */
  finish(result: unknown): Promise<void>;
}

/**
 * Runs a creation once per key (draft-ietf-httpapi-idempotency-key-header-07): a second request with the same input
 * gets the first one's result. A refused or failed one leaves the key free, because it changed nothing.
 * @throws {Refusal} `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_key_in_progress`
 */
export async function once<T>(
  context: Context,
  userId: string,
  key: string | undefined,
  input: unknown,
  run: (running: Running | undefined) => Promise<T>,
  replay: (result: unknown) => T,
): Promise<T> {
  if (key === undefined) return run(undefined);
  if (!KEY.test(key))
    throw new Refusal("idempotency_key_invalid", "an idempotency key has 1 to 255 visible ASCII characters");
  const { storage, purgeClock, runningKeys } = context;
  const now = purgeClock.now(); // by which it is also purged
  const request = runningKeys.enter(userId, key);
  let settling: Promise<void> | undefined;
  try {
    const fingerprint = await sha256Hex(JSON.stringify(input));
    const known = await storage.receipts.begin(userId, key, fingerprint, now, now - RECEIPT_KEPT_MS);
    if (known.kind !== "begun") {
      if (known.fingerprint !== fingerprint)
        throw new Refusal(
          "idempotency_key_reused",
          `the key "${key}" was used with another request body; take a new key`,
        );
      if (known.kind === "done") return replay(JSON.parse(known.result));
      // A key of nobody else was begun by a request whose answer was lost: this one takes its place.
      if (!request.alone)
        throw new Refusal("idempotency_key_in_progress", `a request with the key "${key}" is still running`);
    }
    const receipt = (result: unknown) => ({ userId, key, result: JSON.stringify(result) });
    try {
      return await run({ receipt, finish: (result) => storage.receipts.finish(receipt(result)) });
    } catch (error) {
      // Nobody waits for a storage that is down; until it is there again the key counts as running.
      await storage.receipts.abandon(userId, key).catch(() => {
        settling = abandonLater(context, userId, key);
      });
      throw error;
    }
  } finally {
    if (settling) void settling.then(request.leave);
    else request.leave();
  }
}

/** Never rejects: a process that ends leaves the key to the next start. */
async function abandonLater(context: Context, userId: string, key: string): Promise<void> {
  const { receipts } = context.storage;
  await insist(context, "the release of an idempotency key", () => receipts.abandon(userId, key)).catch(() => {});
}
