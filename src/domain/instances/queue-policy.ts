import type { NumberProtection } from "../number-protection/number-protection.ts";

/**
 * Number of calls one instance may hold, and its pace of dialling: policy as data.
 * The database enforces the same rule with a unique index on (instance, slot) over active calls.
 */
export type QueuePolicy = NumberProtection &
  (
    | { readonly kind: "single" }
    | {
        readonly kind: "fifo";
        /** Maximum active calls of one instance, 1 to 1000, at most one of them on the line. */
        readonly depth: number;
      }
  );

/** The interface's rule: a second creation returns the existing call. */
export const SINGLE: QueuePolicy = { kind: "single" };

/** Number of slots of the policy. */
export function queueDepth(policy: QueuePolicy): number {
  return policy.kind === "single" ? 1 : policy.depth;
}

/** The first free slot below the policy's depth, or undefined when the queue is full. */
export function freeSlot(policy: QueuePolicy, slots: readonly number[]): number | undefined {
  const depth = queueDepth(policy);
  const usedSlots = new Set(slots);
  for (let slot = 0; slot < depth; slot++) if (!usedSlots.has(slot)) return slot;
  return undefined;
}
