import type { TokenRecord } from "../../ports/storage.ts";
import type { StorageScene } from "./scene.ts";

/** A token of the scene's user that was never used. */
export function tokenRecord(scene: StorageScene, patch: Partial<TokenRecord> = {}): TokenRecord {
  const id = scene.id("tok");
  return {
    id,
    userId: scene.userId,
    label: "laptop",
    hash: id.padEnd(64, "0"),
    demoInstanceId: null,
    allowedPrefixes: null,
    maxCallsPerDay: null,
    scopes: null,
    createdAt: scene.now(),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...patch,
  };
}
