import { LeaseLost, type Storage, StorageUnavailable } from "../ports/storage.ts";
import type { ServerLease } from "./server-lease.ts";

/**
 * The storage as the application of one lease uses it: a write that is refused because another server has taken the lease
 * ends it here as well, and after its end nothing reaches the storage, which may be open for another application by then.
 */
export function leasedStorage(storage: Storage, lease: ServerLease): Storage {
  const leased = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (lease.ended) throw new StorageUnavailable("this application has stopped");
          try {
            return await method.apply(target, args);
          } catch (error) {
            if (error instanceof LeaseLost) lease.lose(error);
            throw error;
          }
        };
      },
    });
  return {
    open: (options) => storage.open(options),
    close: () => storage.close(),
    accounts: leased(storage.accounts),
    logins: leased(storage.logins),
    instances: leased(storage.instances),
    lineRecords: leased(storage.lineRecords),
    consents: leased(storage.consents),
    calls: leased(storage.calls),
    events: leased(storage.events),
    receipts: leased(storage.receipts),
    transcripts: leased(storage.transcripts),
    retention: leased(storage.retention),
    webhooks: leased(storage.webhooks),
    sealed: leased(storage.sealed),
  };
}
