import { OwnershipLost, type Storage, StorageUnavailable } from "../ports/storage.ts";
import type { Ownership } from "./ownership.ts";

/**
 * The storage as the application of one ownership uses it: a write that is refused because of a newer owner ends the
 * ownership, and after its end nothing reaches the storage, which may be open for another application by then.
 */
export function ownedStorage(storage: Storage, ownership: Ownership): Storage {
  const owned = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (ownership.ended) throw new StorageUnavailable("this application has stopped");
          try {
            return await method.apply(target, args);
          } catch (error) {
            if (error instanceof OwnershipLost) ownership.lose(error);
            throw error;
          }
        };
      },
    });
  return {
    open: (options) => storage.open(options),
    close: () => storage.close(),
    accounts: owned(storage.accounts),
    instances: owned(storage.instances),
    calls: owned(storage.calls),
    events: owned(storage.events),
    receipts: owned(storage.receipts),
    transcripts: owned(storage.transcripts),
    retention: owned(storage.retention),
  };
}
