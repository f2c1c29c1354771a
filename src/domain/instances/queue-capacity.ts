import { shown } from "../../base/shown.ts";
import type { NumberProtection } from "../dialling-rules/number-protection.ts";

/** Number of calls of one instance that may be live at the same time. */
interface LinePolicy {
  /**
   * Number of calls that an instance may have from their claim to their end, 1 to 100. The network may allow fewer.
   * Default: 1.
   */
  readonly lines?: number | undefined;
}

/**
 * Number of calls one instance may hold, how many of them may be live, and its pace of dialling: policy as data.
 * The database enforces the same rules with unique indexes on (instance, slot) over active calls, and on
 * (instance, line) over live ones.
 */
export type QueuePolicy = NumberProtection &
  LinePolicy &
  (
    | { readonly kind: "single" }
    | {
        readonly kind: "fifo";
        /** Maximum number of active calls of one instance, 1 to 1000. */
        readonly depth: number;
      }
  );

/** The default policy: a second creation returns the existing call. */
export const SINGLE_POLICY: QueuePolicy = { kind: "single" };

/** Maximum number of lines of an instance. */
export const MAX_LINES = 100;

/** Number of slots in the policy. */
export function queueDepth(policy: QueuePolicy): number {
  return policy.kind === "single" ? 1 : policy.depth;
}

/**
 * The first free slot below the policy's depth, or undefined when the queue is full; under `single`, any call fills it.
 */
export function freeSlot(policy: QueuePolicy, slots: readonly number[]): number | undefined {
  if (policy.kind === "single") return slots.length === 0 ? 0 : undefined;
  const depth = queueDepth(policy);
  const usedSlots = new Set(slots);
  for (let slot = 0; slot < depth; slot++) if (!usedSlots.has(slot)) return slot;
  return undefined;
}

/**
 * Number of calls of an instance that may be live at the same time.
 * @param networkLines number of calls that one instance may carry on its network at once. Default: 1
 */
export function linesInForce({ lines = 1 }: QueuePolicy, networkLines = 1): number {
  return Math.min(lines, networkLines, MAX_LINES);
}

/** Checks the lines of a policy. @throws {RangeError} that names the value and the fix */
export function assertLines(policy: QueuePolicy): void {
  const { lines = 1 } = policy;
  if (!(Number.isInteger(lines) && lines >= 1 && lines <= MAX_LINES))
    throw new RangeError(`queue: lines is ${shown(lines)}: it must be a whole number from 1 to ${MAX_LINES}`);
  if (policy.kind === "fifo" && lines > policy.depth)
    throw new RangeError(
      `queue: depth is ${policy.depth}: it must be at least lines (${lines}), because live calls count`,
    );
}

/** Checks the lines of a network. @throws {RangeError} that names the value and the fix */
export function assertNetworkLines(network: string, lines: number | undefined): void {
  if (lines === undefined || lines === Infinity || (Number.isInteger(lines) && lines >= 1)) return;
  throw new RangeError(`lines of ${network} is ${shown(lines)}: it must be a whole number from 1, or Infinity`);
}

/** The policy for the calls of batches: under `single`, they share the instance with the call of a request. */
export function batchPolicy(policy: QueuePolicy): QueuePolicy {
  return policy.kind === "fifo" ? policy : { ...policy, kind: "fifo", depth: policy.lines ?? 1 };
}
