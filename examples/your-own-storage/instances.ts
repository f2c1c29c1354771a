import type { InstanceStore } from "ringport";
import { bytesOf, type Memory, newestFirst, oldestFirst } from "./memory.ts";

/** Instances and their credentials, which arrive encrypted. */
export function instances(memory: Memory): InstanceStore {
  const { instances: all, credentials, lineRecords } = memory;
  const erase = (id: string): void => {
    credentials.delete(id);
    lineRecords.delete(id);
  };
  return {
    async insert(instance, events, receipt, most = Number.POSITIVE_INFINITY, budget) {
      const own = [...all.values()].filter((one) => one.userId === instance.userId && one.status !== "DELETED");
      if (own.length >= most) return "at_limit";
      if (memory.isTaken(receipt)) return "repeated";
      const bytes = bytesOf(instance) + bytesOf(events);
      if (budget && memory.storedBytes(instance.userId) + bytes > budget.userBytes) return "over_budget";
      memory.log(events);
      all.set(instance.id, instance);
      if (receipt) memory.keep(receipt, instance.id);
      return "created";
    },
    get: async (id) => all.get(id),
    list: async (userId, page) => {
      const visible = [...all.values()].filter((one) => one.userId === userId && one.status !== "DELETED");
      return newestFirst(visible, page, all.get(page.after ?? ""));
    },
    async update(id, version, patch, events, sealed) {
      const instance = all.get(id);
      if (instance?.version !== version) return undefined;
      memory.log(events);
      const updated = { ...instance, ...patch, version: version + 1 };
      all.set(id, updated);
      if (sealed) credentials.set(id, sealed.slice());
      if (patch.status === "CREATED" || updated.erasedAt !== null) erase(id);
      return updated;
    },
    linked: async (page) =>
      oldestFirst(
        [...all.values()].filter(({ status }) => status === "CONFIGURED" || status === "ACTIVE"),
        page,
      ),
    withWaitingCalls: async (limit) => {
      const waiting = [...memory.calls.values()].filter(({ status, owner }) => status === "QUEUED" && owner === null);
      const ids = new Set(waiting.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ instanceId }) => instanceId));
      const found = [...ids].flatMap((id) => all.get(id) ?? []);
      return found.filter(({ status }) => status === "CONFIGURED" || status === "ACTIVE").slice(0, limit);
    },
    unlinked: async (provider, page) =>
      oldestFirst(
        [...all.values()].filter((one) => one.status === "CREATED" && one.provider === provider),
        page,
      ),
    halfLinked: async (page) =>
      oldestFirst(
        [...all.values()].filter(({ id, status }) => status === "CREATED" && credentials.has(id)),
        page,
      ),
    halfDeleted: async (page) =>
      oldestFirst(
        [...all.values()].filter(({ status, erasedAt }) => status === "DELETED" && erasedAt === null),
        page,
      ),
    async saveCredentials(id, sealed) {
      const instance = all.get(id);
      if (instance && instance.status !== "DELETED") credentials.set(id, sealed.slice());
    },
    loadCredentials: async (id) => credentials.get(id),
    hasSecrets: async (id) => credentials.has(id) || (lineRecords.get(id)?.size ?? 0) > 0,
    eraseCredentials: async (id) => erase(id),
    withPhone: async (phone) =>
      oldestFirst(
        [...all.values()].filter((one) => one.phone === phone && one.status !== "DELETED"),
        {},
      ),
    async forgetPhone(phone) {
      const old = [...memory.events.values()].filter(
        ({ type, data, instanceId }) =>
          type === "instance.linked" && data.phone === phone && all.get(instanceId)?.phone !== phone,
      );
      for (const { id } of old) memory.events.delete(id);
      return old.length;
    },
    async purge(erasedBefore, limit) {
      const used = new Set([...memory.calls.values()].map(({ instanceId }) => instanceId));
      const old = [...all.values()]
        .filter(({ id, erasedAt }) => erasedAt !== null && erasedAt < erasedBefore && !used.has(id))
        .slice(0, limit);
      for (const { id } of old) all.delete(id);
      for (const { id, instanceId } of memory.events.values()) if (!all.has(instanceId)) memory.events.delete(id);
      const ids = old.map(({ id }) => id);
      memory.blank(ids);
      return ids;
    },
  };
}
