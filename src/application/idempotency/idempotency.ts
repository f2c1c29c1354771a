import { sha256Hex } from "../../base/sha256.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { NewReceipt, Receipt, ReceiptKey } from "../../ports/storage.ts";
import type { Context } from "../context.ts";

/** Dependencies of {@link runOnce}. */
export type IdempotencyContext = Pick<Context, "purgeClock" | "runningKeys" | "storage">;

/** Retention time of an idempotent request's receipt, ms. */
export const RECEIPT_KEPT_MS = 24 * 60 * 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Runs a creation once per key (draft-ietf-httpapi-idempotency-key-header-07): a second request with the same input
 * gets the response of the first. The receipt is stored with the record, and names it; a request that creates nothing
 * leaves the key free. Keys belong to the user or, for a demo token, to its instance.
 * @param run stores the receipt with the record it creates; resolves with undefined if the key has received a receipt
 *   since the look-up
 * @param replay rebuilds the response from the record and the input, which equals that of the first request; resolves
 *   with undefined if the record has been removed
 * @throws {Refusal} `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_key_in_progress`
 */
export async function runOnce<T>(
  context: IdempotencyContext,
  { userId, demoInstanceId }: Principal,
  key: string | undefined,
  input: unknown,
  run: (receipt: NewReceipt | undefined) => Promise<T | undefined>,
  replay: (receipt: Receipt) => Promise<T | undefined>,
): Promise<T> {
  if (key === undefined) return (await run(undefined)) as T; // without a key there is no earlier receipt
  if (!KEY.test(key))
    throw new Refusal("idempotency_key_invalid", "an idempotency key has 1 to 255 visible ASCII characters");
  const name: ReceiptKey = { userId, scope: demoInstanceId ?? "", key };
  const fingerprint = await sha256Hex(JSON.stringify(input));
  const { isTaken, key: runningKey } = await context.runningKeys.take(name, fingerprint);
  if (!isTaken) throw runningKey.fingerprint === fingerprint ? keyInProgress(key) : keyReused(key);
  try {
    for (;;) {
      const begunAt = context.purgeClock.now(); // the clock by which receipts are purged
      const expiredBefore = context.purgeClock.ago(RECEIPT_KEPT_MS);
      const receipt = await context.storage.receipts.find(name, expiredBefore);
      if (receipt) return await replayReceipt(receipt, key, fingerprint, replay);
      runningKey.run();
      const creation = await run({ ...name, fingerprint, begunAt, expiredBefore });
      if (creation !== undefined) return creation;
      // A request whose response was lost has been stored after all, or another server was faster: look again.
    }
  } finally {
    runningKey.release();
  }
}

const INSTANCE = ["instance", "instance_not_found", "inst_"] as const;
/**
 * Kinds of records that a request with a key creates, the problem code if the record has been deleted, and the prefix
 * of its id.
 */
const CREATED_KINDS = [
  INSTANCE,
  ["call", "call_not_found", "call_"],
  ["batch", "batch_not_found", "batch_"],
  ["audio file", "audio_not_found", "audio_"],
] as const;

async function replayReceipt<T>(
  receipt: Receipt,
  key: string,
  fingerprint: string,
  replay: (receipt: Receipt) => Promise<T | undefined>,
): Promise<T> {
  const { recordId } = receipt;
  const isErased = receipt.fingerprint === "";
  if (!isErased && receipt.fingerprint !== fingerprint) throw keyReused(key);
  const response = isErased ? undefined : await replay(receipt);
  if (response !== undefined) return response;
  // Creating another record could place another call to a person whose data has just been erased.
  const [kind, code] = CREATED_KINDS.find(([, , prefix]) => recordId.startsWith(prefix)) ?? INSTANCE;
  throw new Refusal(code, `the key "${key}" created ${kind} "${recordId}", which has been deleted; use a new key`);
}

function keyInProgress(key: string): Refusal {
  return new Refusal("idempotency_key_in_progress", `a request with the key "${key}" is still running`);
}

function keyReused(key: string): Refusal {
  return new Refusal("idempotency_key_reused", `the key "${key}" was used with another request body; use a new key`);
}
