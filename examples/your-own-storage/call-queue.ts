import { type Call, type CallStatus, type CallStore, isActive, isNumberRefused, UNANSWERED_REASONS } from "ringport";
import type { Memory } from "./memory.ts";

type Questions =
  | "active"
  | "nextWaiting"
  | "claimed"
  | "claimNext"
  | "dialHistory"
  | "waitingSince"
  | "oldestWaiting"
  | "orphaned"
  | "counts";

/** Maximum number of dials to skip in the search for those that the answer rate counts. */
const MAX_SKIPPED = 200;
const UNANSWERED: ReadonlySet<string> = new Set(UNANSWERED_REASONS);

/** True for a call that was answered, or could have been. */
function hasReached({ startedAt, outcome }: Call): boolean {
  return startedAt !== null || (outcome !== null && UNANSWERED.has(outcome.reason));
}

/** Queries of the dispatcher for calls that have not ended. */
export function callQueue({ calls: all, instances }: Memory): Pick<CallStore, Questions> {
  const oldestFirst = (a: Pick<Call, "createdAt" | "id">, b: Pick<Call, "createdAt" | "id">): number =>
    a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
  // Ids rise with every call, even if the clock is set back.
  const lowestIdFirst = (a: Call, b: Call): number => (a.id < b.id ? -1 : 1);
  const those = (willDo: (call: Call) => boolean, order: typeof lowestIdFirst = oldestFirst): Call[] =>
    [...all.values()].filter(willDo).sort(order);
  const waiting = (order?: typeof lowestIdFirst): Call[] =>
    those(({ status, owner }) => status === "QUEUED" && owner === null, order);
  const nextOf = (instanceId: string): Call | undefined =>
    instances.get(instanceId)?.status === "DELETED"
      ? undefined
      : waiting(lowestIdFirst).find((call) => call.instanceId === instanceId);
  return {
    active: async (instanceId) =>
      those((call) => call.instanceId === instanceId && isActive(call.status), lowestIdFirst),
    nextWaiting: async (instanceId) => nextOf(instanceId),
    claimed: async (instanceId, owner) =>
      those(
        (call) => call.instanceId === instanceId && call.status === "QUEUED" && call.owner === owner,
        lowestIdFirst,
      ),
    async claimNext(instanceId, owner, now) {
      const next = nextOf(instanceId);
      if (!next) return undefined;
      const claimed = { ...next, owner, dialingAt: now, version: next.version + 1 };
      all.set(next.id, claimed);
      return claimed;
    },
    dialHistory: async (instanceId, since, most, until = Infinity, which = "all") =>
      [...all.values()]
        .filter((call) => call.instanceId === instanceId && (call.dialingAt ?? 0) > since)
        .filter((call) => (call.dialingAt ?? 0) <= until)
        .sort((a, b) => (b.dialingAt ?? 0) - (a.dialingAt ?? 0))
        .slice(0, most + MAX_SKIPPED)
        .filter((call) => which === "all" || hasReached(call))
        .slice(0, most)
        .map(({ id, dialingAt, endedAt, startedAt, outcome }) => ({
          callId: id,
          at: dialingAt ?? 0,
          endedAt,
          answered: startedAt !== null,
          ...(outcome && isNumberRefused(outcome.reason, outcome.refusal) && { refused: true }),
        })),
    waitingSince: async (createdBefore, limit, after) =>
      waiting()
        .filter(
          (call) =>
            call.createdAt < createdBefore && (!after || (oldestFirst(after, call) < 0 && call.id !== after.id)),
        )
        .slice(0, limit),
    oldestWaiting: async () => waiting()[0]?.createdAt,
    orphaned: async (self, limit) =>
      those(({ status, dialingAt, instanceId, owner }) =>
        status === "QUEUED" && dialingAt === null
          ? instances.get(instanceId)?.status === "DELETED"
          : isActive(status) && owner !== self,
      ).slice(0, limit),
    async counts() {
      const counts: Partial<Record<CallStatus, number>> = {};
      for (const { status } of all.values()) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    },
  };
}
