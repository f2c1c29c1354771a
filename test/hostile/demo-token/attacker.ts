// A separate process: attacks until its input ends, then prints the outcomes as JSON. All attacks together use up the
// requests of a demo token; so every second round is for a few attacks, which obey a 429's Retry-After.
import { once } from "node:events";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { ATTACKS, type Attack, type AttackTarget } from "./attacks.ts";

/** Number of attacks of each kind, by outcome. */
export type AttackCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const target = JSON.parse(process.argv[2] ?? "") as AttackTarget;
const selectedAttack = process.env.ATTACK;
const counts: Record<string, Record<string, number>> = {};
let hasEnded = false;
const attacks = ATTACKS.filter(({ name }) => selectedAttack === undefined || name.includes(selectedAttack));

/** Length of a round, ms. */
const ROUND_MS = 4_000;
const PATIENT_COUNT = 3;
const round = (): number => Math.floor(performance.now() / ROUND_MS);
const isPatient = (): boolean => round() % 2 === 1;
/** True if this attack, by its position, is one of this round. */
const isActive = (position: number): boolean => {
  const first = (((round() - 1) / 2) * PATIENT_COUNT) % attacks.length;
  return !isPatient() || (position - first + attacks.length) % attacks.length < PATIENT_COUNT;
};

async function attack({ name, strike }: Attack, position: number): Promise<void> {
  while (!hasEnded) {
    if (!isActive(position)) {
      await pause(50);
      continue;
    }
    const result = await strike(target).catch((fault: NodeJS.ErrnoException) => fault.code ?? "failed");
    counts[name] = { ...counts[name], [result]: (counts[name]?.[result] ?? 0) + 1 };
    if (isPatient() && String(result).startsWith("429")) await pause(1_000 * (1 + Math.random()));
  }
}

const attackRuns = Promise.all(
  attacks.flatMap((attackToRun, at) => Array.from({ length: attackToRun.concurrency }, () => attack(attackToRun, at))),
);
process.stdin.resume();
await once(process.stdin, "end");
hasEnded = true;
await attackRuns;
console.log(JSON.stringify(counts satisfies AttackCounts));
process.exit(0);
