import type { Kysely } from "kysely";
import { isFinal } from "../../../src/base/state-machine.ts";
import { type BatchTarget, TARGET_TRANSITIONS } from "../../../src/domain/batches/batch.ts";
import { preparedQuery } from "../connected-database.ts";
import type { Database } from "../tables/all-tables.ts";

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

/** Adds targets to the counts of their batch, or takes them off. */
export async function countTargets(
  tx: Kysely<Database>,
  id: string,
  targets: readonly BatchTarget[],
  sign: 1 | -1,
): Promise<void> {
  await addToCounts(
    tx,
    targets.map((target) => countOf(id, target, sign)),
  );
}

/** Moves a changed target from one count to another. */
export async function recount(
  tx: Kysely<Database>,
  id: string,
  before: BatchTarget,
  after: BatchTarget,
): Promise<void> {
  await addToCounts(tx, [countOf(id, before, -1), countOf(id, after, 1)]);
}

function countOf(batch_id: string, { status, reason }: BatchTarget, targets: 1 | -1): Database["batch_counts"] {
  const isByReason = status === "WAITING" || isFinal(TARGET_TRANSITIONS, status);
  return { batch_id, status, reason: isByReason ? (reason ?? "") : "", targets };
}

/** Adds to counts, always in the same order: transactions that lock their rows in different orders deadlock. */
export async function addToCounts(tx: Kysely<Database>, changes: readonly Database["batch_counts"][]): Promise<void> {
  const sums = new Map<string, Database["batch_counts"]>();
  for (const change of changes) {
    const key = `${change.batch_id} ${change.status} ${change.reason}`;
    const targets = (sums.get(key)?.targets ?? 0) + change.targets;
    sums.set(key, { ...change, targets });
  }
  for (const [, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (sum.targets !== 0) await ADD_TO_COUNT(tx, sum);
}
