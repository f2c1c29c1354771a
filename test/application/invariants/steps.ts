import * as fc from "fast-check";
import { environment } from "../../support/fuzz.ts";

/** Steps that create calls and let them succeed. */
const COMMON_STEPS = [
  "wait",
  "create",
  "create stream",
  "attach",
  "write",
  "progress",
  "progress",
  "progress",
] as const;

/** Other actions by callers, callees and lines. */
const DISTURBING_STEPS = [
  "mark",
  "clear",
  "close",
  "leave",
  "break",
  "create instance",
  "create batch",
  "pause batch",
  "cancel batch",
  "hang up",
  "hang up twice",
  "delete",
  "unlink",
  "do not call",
  "scan",
  "online",
  "offline",
  "offline unreported",
  "unlinked",
  "placed",
  "alert",
  "answer",
  "answer without media",
  "connect",
  "press",
  "end",
  "stubborn",
  "silent",
] as const;

/** Faults of the database, an adapter, the clock or the process. */
const FAULT_STEPS = [
  "storage fails",
  "storage hangs",
  "storage heals",
  "hold a write",
  "release the write",
  "lose a response",
  "adapter hangs",
  "adapters respond",
  "clock jumps",
  "correct the clock",
  "machine sleeps",
  "crash",
  "crash at an operation",
  "crash at the dial",
  "restart",
] as const;

/** Incidents of processes on a database with a lease. */
const OWNERSHIP_STEPS = ["second server", "cut off", "reachable again", "SIGSTOP", "SIGCONT"] as const;

/** A step's name. */
export type StepName = (
  | typeof COMMON_STEPS
  | typeof DISTURBING_STEPS
  | typeof FAULT_STEPS
  | typeof OWNERSHIP_STEPS
)[number];

/** One step of a sequence. */
export interface Step {
  readonly step: StepName;
  /** Picks one of the existing instances, calls, legs or faults. */
  readonly choice: number;
  /** Time that passes after the step, ms; -1 if the next step follows before anything settles. */
  readonly waitMs: number;
}

/** Steps to skip: WITHOUT, a list such as `crash,clock jumps`, to search beyond a known fault. */
const skippedSteps = new Set(environment.WITHOUT?.split(","));
const steps: readonly string[] = [...COMMON_STEPS, ...DISTURBING_STEPS, ...FAULT_STEPS, ...OWNERSHIP_STEPS];
for (const name of skippedSteps)
  if (!steps.includes(name)) throw new Error(`WITHOUT names "${name}": it must be some of ${steps.join(", ")}`);

/** Steps that a fault may affect, and that may follow it. */
const AFFECTED_STEPS = [
  "create",
  "create stream",
  "create batch",
  "progress",
  "hang up",
  "delete",
  "unlink",
  "scan",
] as const;
const FOLLOWING_STEPS = [
  "wait",
  "crash",
  "restart",
  "create",
  "delete",
  "storage heals",
  "release the write",
  "adapters respond",
] as const;

function stepOf(name: fc.Arbitrary<StepName>): fc.Arbitrary<Step> {
  return fc.record({
    step: name,
    choice: fc.nat(30),
    // Usually short, so that steps interleave; sometimes long enough for every timer.
    waitMs: fc.oneof(
      { withCrossShrink: true },
      { weight: 6, arbitrary: fc.constantFrom(0, -1, 20) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(7_000, 31_000, 65_000) },
    ),
  });
}

// An unneeded step shrinks to "wait".
const usualSteps = [
  { weight: 5, arbitrary: fc.constantFrom<StepName>(...COMMON_STEPS) },
  { weight: 3, arbitrary: fc.constantFrom<StepName>(...DISTURBING_STEPS) },
  { weight: 2, arbitrary: fc.constantFrom<StepName>(...FAULT_STEPS) },
];
const ownerSteps = { weight: 2, arbitrary: fc.constantFrom<StepName>(...OWNERSHIP_STEPS) };

function optionalStep<Name extends StepName>(names: readonly Name[]): fc.Arbitrary<Step> {
  return stepOf(fc.constantFrom<StepName>("wait", ...names));
}

/** A fault, the steps it affects, and the steps that follow. */
const scene = fc.tuple(optionalStep(FAULT_STEPS), optionalStep(AFFECTED_STEPS), optionalStep(FOLLOWING_STEPS));

function mostlyOf<Name extends StepName>(...names: readonly Name[]): fc.Arbitrary<Step> {
  const name = fc.constantFrom<StepName>(...names);
  return stepOf(
    fc.oneof({ withCrossShrink: true }, { weight: 1, arbitrary: fc.constant("wait") }, { weight: 9, arbitrary: name }),
  );
}

const LATER_STEPS = ["create", "progress", "reachable again", "SIGCONT", "storage heals", "hang up"] as const;

/** A second server, a call, the first server's loss of the database, and the steps that follow. */
const takeOver = fc
  .tuple(
    mostlyOf("second server"),
    mostlyOf("create", "create stream"),
    mostlyOf("progress"),
    optionalStep(["progress", "hang up", "delete"]),
    mostlyOf("cut off", "SIGSTOP", "crash", "restart", "storage hangs"),
    fc.constantFrom(0, 4_000, 7_000, 9_000, 10_000, 12_000, 31_000),
    mostlyOf("create", ...LATER_STEPS),
    optionalStep(LATER_STEPS),
    optionalStep(LATER_STEPS),
  )
  .map(([second, call, ringing, answering, fault, waitMs, ...later]): Step[] => [
    ...[second, call, ringing, answering],
    ...[{ ...fault, waitMs }, ...later],
  ]);

/** A call that waits, a machine that sleeps, and a line that returns. */
const night = fc.tuple(
  mostlyOf("offline", "offline unreported", "create"),
  mostlyOf("create"),
  mostlyOf("machine sleeps"),
  mostlyOf("online", "end", "create"),
);

/** Steps with these names, mixed with scenes. */
function sequencesOf(
  names: typeof usualSteps,
  scenes: fc.WeightedArbitrary<Step[]>,
  maxLength: number,
): fc.Arbitrary<Step[]> {
  const anyStep = stepOf(fc.oneof({ withCrossShrink: true }, ...names)).map((step) => [step]);
  return fc
    .array(fc.oneof({ weight: 8, arbitrary: anyStep }, scenes), { minLength: 1, maxLength })
    .map((parts) => parts.flat().filter(({ step }) => !skippedSteps.has(step)));
}

/** Sequences of steps: mostly calls, often disturbances, and in every third sequence the loss of the owner. */
export const sequences: fc.Arbitrary<Step[]> = fc.oneof(
  { withCrossShrink: true },
  { weight: 2, arbitrary: sequencesOf(usualSteps, { weight: 1, arbitrary: fc.oneof(scene, night) }, 60) },
  { weight: 1, arbitrary: sequencesOf([...usualSteps, ownerSteps], { weight: 3, arbitrary: takeOver }, 20) },
);

/** True if a step injects or repairs a fault. */
export function isFaultStep(step: StepName): boolean {
  return ([...FAULT_STEPS, ...OWNERSHIP_STEPS] as readonly StepName[]).includes(step);
}

/** True if the steps use a database with a lease. */
export function isLeased(sequence: readonly Step[]): boolean {
  return sequence.some(({ step }) => (OWNERSHIP_STEPS as readonly string[]).includes(step));
}

/** A readable sequence: one step per line. */
export function sequenceText(sequence: readonly Step[]): string {
  return sequence
    .filter(({ step, waitMs }) => step !== "wait" || waitMs > 0)
    .map(
      ({ step, choice, waitMs }) => `  ${step} #${choice}${waitMs < 0 ? ", at once" : waitMs ? `, ${waitMs} ms` : ""}`,
    )
    .join("\n");
}
