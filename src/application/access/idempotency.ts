import { sha256Hex } from "../../base/sha256.ts";
import type { Principal } from "../../domain/principal.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Receipt, ReceiptKey, ReceiptResult } from "../../ports/storage.ts";
import type { Context } from "../context.ts";

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
 * gets the first one's result. A refused or failed one leaves the key free, because it changed nothing. Keys belong to
 * the user or, of a demo token, to its instance.
 * @throws {Refusal} `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_key_in_progress`
 */
export async function once<T>(
  context: Context,
  { userId, demoInstanceId }: Principal,
  key: string | undefined,
  input: unknown,
  run: (running: Running | undefined) => Promise<T>,
  replay: (result: unknown) => T,
): Promise<T> {
  if (key === undefined) return run(undefined);
  if (!KEY.test(key))
    throw new Refusal("idempotency_key_invalid", "an idempotency key has 1 to 255 visible ASCII characters");
  const { receipts } = context.storage;
  const name: ReceiptKey = { userId, scope: demoInstanceId ?? "", key };
  const fingerprint = await sha256Hex(JSON.stringify(input));
  const { taken, key: held } = await context.runningKeys.take(name, fingerprint);
  if (!taken) throw held.fingerprint === fingerprint ? inProgress(key) : reused(key);
  try {
    const known = await begin(context, name, fingerprint);
    if (known.kind === "done") {
      if (known.fingerprint !== fingerprint) throw reused(key);
      return replay(JSON.parse(known.result));
    }
    held.run();
    const receipt = (result: unknown) => ({ ...name, result: JSON.stringify(result) });
    try {
      return await run({ receipt, finish: (result) => receipts.finish(receipt(result)) });
    } catch (error) {
      await receipts.abandon(name).catch(() => {}); // what is left over is freed by the next request
      throw error;
    }
  } finally {
    held.release();
  }
}

/** Begins a request under a key that it holds; what an earlier request has left over is freed first. */
async function begin(
  { storage: { receipts }, purgeClock }: Context,
  name: ReceiptKey,
  fingerprint: string,
): Promise<Exclude<Receipt, { kind: "running" }>> {
  const expired = purgeClock.ago(RECEIPT_KEPT_MS);
  const now = purgeClock.now(); // by which it is also purged
  const known = await receipts.begin(name, fingerprint, now, expired);
  if (known.kind !== "running") return known;
  await receipts.abandon(name);
  const again = await receipts.begin(name, fingerprint, now, expired);
  if (again.kind === "running") throw inProgress(name.key);
  return again;
}

function inProgress(key: string): Refusal {
  return new Refusal("idempotency_key_in_progress", `a request with the key "${key}" is still running`);
}

function reused(key: string): Refusal {
  return new Refusal("idempotency_key_reused", `the key "${key}" was used with another request body; use a new key`);
}
