import { isOpen } from "../../domain/batches/batch.ts";
import type { Call } from "../../domain/calls/call.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { RemovedCalls, Storage } from "../../ports/storage.ts";
import type { BatchUseCases } from "../batches/batch-use-cases.ts";
import type { InstanceUseCases, WebhookUseCases } from "../use-cases.ts";

const BATCH_SIZE = 500;

/** Dependencies of {@link eraseUser}. */
export interface UserErasers {
  readonly storage: Pick<Storage, "accounts" | "batches" | "instances" | "calls" | "logins">;
  readonly batches: Pick<BatchUseCases, "cancel">;
  readonly instances: Pick<InstanceUseCases, "delete">;
  readonly webhooks: Pick<WebhookUseCases, "list" | "delete">;
  readonly tokens: { revoke(tokenId: string): Promise<boolean> };
  /** Ends the active calls, and deletes all calls with their records. */
  removeCalls(calls: readonly Call[]): Promise<RemovedCalls>;
}

/**
 * Deletes everything that belongs to a user: tokens, webhooks, batches, instances, calls with their recordings, events.
 * Every step can be repeated: after a fault, all steps run again.
 * @throws {StorageUnavailable} and {@link Refusal} `storage_unavailable`: a repeated request continues
 */
export async function eraseUser(erasers: UserErasers, userId: string): Promise<void> {
  const { accounts, logins } = erasers.storage;
  for (const { id, revokedAt } of await accounts.tokens(userId))
    if (revokedAt === null) await erasers.tokens.revoke(id);
  for (const { id } of await erasers.webhooks.list({ userId }))
    await unlessDeleted("webhook_not_found", erasers.webhooks.delete({ userId }, id));
  await deleteBatches(erasers, userId);
  await deleteInstances(erasers, userId);
  await deleteCalls(erasers, userId);
  while (await logins.forgetUser(userId, BATCH_SIZE));
}

async function deleteBatches({ storage, batches }: UserErasers, userId: string): Promise<void> {
  for (;;) {
    const page = await storage.batches.list(userId, {}, { limit: BATCH_SIZE });
    for (const { id, status } of page) {
      if (isOpen(status)) await batches.cancel({ userId }, id, { liveCalls: "end" });
      await storage.batches.delete(id);
    }
    if (page.length < BATCH_SIZE) return;
  }
}

async function deleteInstances({ storage, instances }: UserErasers, userId: string): Promise<void> {
  const remove = (id: string) => unlessDeleted("instance_not_found", instances.delete({ userId }, id));
  for (;;) {
    const page = await storage.instances.list(userId, { limit: BATCH_SIZE });
    for (const { id } of page) await remove(id);
    if (page.length < BATCH_SIZE) break;
  }
  for (let after: string | undefined; ; ) {
    const page = await storage.instances.halfDeleted({ limit: BATCH_SIZE, after });
    for (const { id } of page.filter((instance) => instance.userId === userId)) await remove(id);
    after = page.at(-1)?.id;
    if (page.length < BATCH_SIZE) return;
  }
}

async function deleteCalls({ storage, removeCalls }: UserErasers, userId: string): Promise<void> {
  const { calls } = storage;
  for (;;) {
    const page = await calls.list(userId, {}, { limit: BATCH_SIZE });
    const [first] = page;
    if (!first) return;
    const removal = await removeCalls(page);
    if (removal.ids.length === 0 && (await calls.get(first.id)))
      throw new Refusal("storage_unavailable", `call ${first.id} has not ended yet; repeat the request in a moment`);
  }
}

/** Waits for a deletion; succeeds if the record is already deleted. */
async function unlessDeleted(code: Refusal["code"], deletion: Promise<void>): Promise<void> {
  await deletion.catch((error: unknown) => {
    if (!(error instanceof Refusal && error.code === code)) throw error;
  });
}
