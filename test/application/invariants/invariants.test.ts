import * as fc from "fast-check";
import { test } from "vitest";
import type { QueuePolicy } from "../../../src/domain/instances/queue-capacity.ts";
import { environment, fuzzRuns, replay } from "../../support/fuzz.ts";
import { checkEnd } from "./check-end.ts";
import { MomentChecks } from "./check-now.ts";
import { Run } from "./run.ts";
import { isLeased, type Step, sequences, sequenceText } from "./steps.ts";
import { takeStep } from "./take-step.ts";

/** The manual clock starts at 19:00 in the called number's time zone. */
const PROTECTED_POLICY: QueuePolicy = {
  kind: "fifo",
  depth: 4,
  paceMs: 500,
  paceJitter: 0.5,
  warmUp: { firstDay: 3, growth: 1, days: 30 },
  callingHours: { from: "16:00", until: "19:30" },
};
const POLICIES: readonly (readonly [string, QueuePolicy])[] = [
  ["single", { kind: "single" }],
  ["fifo", PROTECTED_POLICY],
  ["two lines", { kind: "fifo", depth: 6, lines: 2 }],
  ["five lines", { kind: "fifo", depth: 10, lines: 5, paceMs: 300 }],
];

/** MODEL_MS: runs as many sequences as fit into this time, for each policy, instead of FC_RUNS sequences. */
const budgetMs = Number(environment.MODEL_MS || 0);
const isTimed = budgetMs > 0 && replay.seed === undefined;
const timeout = Math.max(120_000, fuzzRuns * 1_000, 2 * budgetMs);

async function checkInvariants(policy: QueuePolicy, sequence: readonly Step[]): Promise<void> {
  const run = new Run(policy, isLeased(sequence));
  const moment = new MomentChecks(run);
  const check = moment.check.bind(moment);
  await run.begin();
  try {
    for (const step of sequence) {
      await takeStep(run, step);
      if (run.process.isAlive && step.waitMs >= 0) await run.clock.advance(step.waitMs);
      await run.revive();
      await check(step.waitMs >= 0);
    }
    await checkEnd(run, check);
  } finally {
    run.end();
    run.storageFaults.heal();
    await run.database.close();
  }
}

for (const [name, policy] of POLICIES)
  test(`the invariants hold after any sequence of steps (${name})`, { timeout }, async () => {
    const property = fc.asyncProperty(sequences, (sequence) => checkInvariants(policy, sequence));
    const result = await fc.check(property, {
      numRuns: isTimed ? 1_000_000 : fuzzRuns,
      ...replay,
      ...(isTimed && { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false }),
    });
    if (!result.failed) return;
    const { seed, counterexamplePath, counterexample, errorInstance } = result;
    const variables = (["INVARIANT", "WITHOUT"] as const).map((name) =>
      environment[name] === undefined ? "" : `${name}="${environment[name]}" `,
    );
    const command = `${variables.join("")}FC_SEED=${seed} FC_PATH=${counterexamplePath} npx vitest run --project unit invariants -t "${name}"`;
    const steps = counterexample ? sequenceText(counterexample[0]) : "";
    throw new Error(`${(errorInstance as Error)?.message}\n\nafter\n${steps}\n\nRepeat with ${command}\n`, {
      cause: errorInstance,
    });
  });
