import { type CallStore, freeSlot, isActive } from "ringport";
import { callQueue } from "./call-queue.ts";
import { bytesOf, type Memory, newestFirst, oldestFirst } from "./memory.ts";

/** Calls, and the two rules of the queue: one active call per slot, one call per instance on the line. */
export function calls(memory: Memory): CallStore {
  const { calls: all, audio: files, instances } = memory;
  const activeOf = (instanceId: string) =>
    [...all.values()].filter((call) => call.instanceId === instanceId && isActive(call.status));
  return {
    async insert(call, audio, policy, events, receipt, quota, budget) {
      if ((instances.get(call.instanceId)?.status ?? "DELETED") === "DELETED") return { kind: "instance_gone" };
      const active = activeOf(call.instanceId);
      const slot = freeSlot(
        policy,
        active.map((one) => one.slot),
      );
      const [existing] = active;
      if (slot === undefined && (policy.kind === "fifo" || !existing)) return { kind: "full" };
      const stored = slot === undefined && existing ? existing : { ...call, slot: slot ?? 0 };
      const created = stored !== existing;
      const oldestAt = created && quota ? memory.quotaSpent(call.tokenId, quota) : undefined;
      if (oldestAt !== undefined) return { kind: "limited", oldestAt };
      if (!created) return { kind: "existing", call: stored };
      if (memory.isTaken(receipt)) return { kind: "repeated" };
      const bytes = bytesOf(call) + bytesOf(events) + (audio?.length ?? 0);
      if (budget && memory.storedBytes(call.userId) + bytes > budget.userBytes)
        return { kind: "over_budget", owner: "user" };
      if (budget && call.isDemo && memory.storedBytes(call.instanceId) + bytes > budget.demoBytes)
        return { kind: "over_budget", owner: "demo" };
      memory.log(events);
      all.set(call.id, stored);
      const { id: callId, tokenId, createdAt } = call;
      if (tokenId !== null) memory.counted.push({ callId, tokenId, at: quota?.now ?? createdAt });
      if (audio) files.set(call.id, audio.slice());
      if (receipt) memory.keep(receipt, call.id);
      return { kind: "created", call: stored };
    },
    async countTransfer(tokenId, at, quota) {
      const oldestAt = memory.quotaSpent(tokenId, quota);
      if (oldestAt === undefined) memory.counted.push({ callId: "", tokenId, at });
      return oldestAt;
    },
    get: async (id) => all.get(id),
    async list(userId, filter, page) {
      const { instanceId, status, type, reference, targetPhone, createdAfter = -1, createdBefore = Infinity } = filter;
      const statuses = status === undefined ? undefined : [status].flat();
      const matching = [...all.values()].filter(
        (call) =>
          call.userId === userId &&
          call.instanceId === (instanceId ?? call.instanceId) &&
          (statuses?.includes(call.status) ?? true) &&
          call.reference === (reference ?? call.reference) &&
          call.targetPhone === (targetPhone ?? call.targetPhone) &&
          call.message.type === (type ?? call.message.type) &&
          call.createdAt > createdAfter &&
          call.createdAt < createdBefore,
      );
      return newestFirst(matching, page, all.get(page.after ?? ""));
    },
    async update(id, version, patch, events) {
      const call = all.get(id);
      if (call?.version !== version) return undefined;
      const updated = { ...call, ...patch, version: version + 1 };
      const onLine = activeOf(call.instanceId).filter((one) => one.id !== id && one.status !== "QUEUED");
      if (onLine.length > 0 && (updated.status === "RINGING" || updated.status === "IN_PROGRESS"))
        throw new Error("another call is on the line");
      memory.log(events);
      all.set(id, updated);
      if (!isActive(updated.status)) files.delete(id);
      return updated;
    },
    audio: async (id) => files.get(id),
    async recorded(endedBefore, limit) {
      const kept = [...all.values()].filter(
        ({ recordedMs, endedAt }) => recordedMs && (endedAt ?? Infinity) < endedBefore,
      );
      return kept.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0)).slice(0, limit);
    },
    async ended(endedBefore, limit) {
      const old = [...all.values()].filter(({ endedAt }) => endedAt !== null && endedAt < endedBefore);
      old.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0) || (one.id < other.id ? -1 : 1));
      return old.slice(0, limit).map(({ id }) => id);
    },
    async tally(userId, from, until) {
      const final = [...all.values()].filter(
        (call) => call.userId === userId && call.createdAt >= from && call.createdAt < until && !isActive(call.status),
      );
      const failed = final.filter(({ status }) => status === "FAILED");
      const failures: Record<string, number> = {};
      for (const { outcome } of failed) if (outcome) failures[outcome.reason] = (failures[outcome.reason] ?? 0) + 1;
      return { completed: final.length - failed.length, failed: failed.length, failures };
    },
    remove: async (ids, countedSince) =>
      memory.remove(
        ids.filter((id) => all.has(id) && all.get(id)?.endedAt !== null),
        countedSince,
      ),
    forgetCounted: async (until) => {
      const before = memory.counted.length;
      memory.counted = memory.counted.filter(({ callId, at }) => all.has(callId) || at > until);
      return before - memory.counted.length;
    },
    naming: async (number, page) =>
      oldestFirst(
        [...all.values()].filter((call) => number.isIn(memory.textsOf(call))),
        page,
      ),
    ...callQueue(memory),
  };
}
