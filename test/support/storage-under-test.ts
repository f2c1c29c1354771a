import type { Storage } from "../../src/ports/storage.ts";
import type { StorageUnderTest } from "../../src/testing/storage-contract/scene.ts";

/** Storages in succession over the same data. */
export async function storageUnderTest(make: () => Storage, remove: () => unknown): Promise<StorageUnderTest> {
  let storage = make();
  await storage.open({ exclusive: true });
  return {
    storage,
    async reopen() {
      await storage.close();
      storage = make();
      await storage.open({ exclusive: true });
      return storage;
    },
    async close() {
      await storage.close();
      await remove();
    },
  };
}
