import type { Limits } from "../../domain/limits.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { ByteBudget, Storage } from "../../ports/storage.ts";

const MIB = 1024 ** 2;

/** Bytes that may be stored with a new record. */
export function byteBudgetOf({ storedBytesPerUser, storedBytesPerDemoInstance }: Limits): ByteBudget {
  return { userBytes: storedBytesPerUser, demoBytes: storedBytesPerDemoInstance };
}

/** The refusal of a record that exceeds a budget. */
export async function storageQuota(
  { storage, limits }: { readonly storage: Storage; readonly limits: Limits },
  { userId, instanceId = userId }: { readonly userId: string; readonly instanceId?: string },
  owner: "user" | "demo",
): Promise<Refusal> {
  const storedBytes = await storage.retention.storedBytes(owner === "user" ? userId : instanceId);
  const { userBytes, demoBytes } = byteBudgetOf(limits);
  const subject = owner === "user" ? "you" : "the demo tokens of this instance";
  const allowedBytes = owner === "user" ? userBytes : demoBytes;
  return new Refusal(
    "storage_quota",
    `${subject} have stored ${mebibytes(storedBytes)}, and this server allows ${mebibytes(allowedBytes)}`,
  );
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
