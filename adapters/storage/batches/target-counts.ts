import type { Kysely } from "kysely";
import { isFinal } from "../../../src/base/state-machine.ts";
import { type BatchTarget, TARGET_TRANSITIONS } from "../../../src/domain/batches/batch.ts";
import { preparedQuery } from "../connected-database.ts";
import type { Database } from "../tables/all-tables.ts";

type CountedTarget = Pick<BatchTarget, "status" | "reason">;

const ADD_TO_COUNT = preparedQuery((db, row: Database["batch_counts"]) =>
  db
    .insertInto("batch_counts")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["batch_id", "status", "reason"])
        .doUpdateSet((eb) => ({ targets: eb("batch_counts.targets", "+", eb.ref("excluded.targets")) })),
    ),
);

/** Moves targets of a batch from one count to another; new ones have no state before, removed ones none after. */
export async function recount(
  tx: Kysely<Database>,
  id: string,
  before: readonly CountedTarget[],
  after: readonly CountedTarget[],
): Promise<void> {
  const sums = new Map<string, Database["batch_counts"]>();
  const add = ({ status, reason: lastReason }: CountedTarget, sign: 1 | -1): void => {
    const isByReason = status === "WAITING" || isFinal(TARGET_TRANSITIONS, status);
    const reason = isByReason ? (lastReason ?? "") : "";
    const key = `${status} ${reason}`;
    const targets = (sums.get(key)?.targets ?? 0) + sign;
    sums.set(key, { batch_id: id, status, reason, targets });
  };
  for (const target of before) add(target, -1);
  for (const target of after) add(target, 1);
  // Always in the same order: transactions that lock their rows in different orders deadlock.
  for (const [, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (sum.targets !== 0) await ADD_TO_COUNT(tx, sum);
}
