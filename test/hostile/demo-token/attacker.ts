// A separate process: attacks until its input ends, then prints the outcomes as JSON. All attacks together use up the
// requests of a demo token; so every second round is for a few attacks, which obey a 429's Retry-After.
import { once } from "node:events";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { ATTACKS, type Attack, type Loot } from "./attacks.ts";

/** Number of attacks of each kind, by outcome. */
export type Struck = Readonly<Record<string, Readonly<Record<string, number>>>>;

const loot = JSON.parse(process.argv[2] ?? "") as Loot;
const only = process.env.ATTACK;
const struck: Record<string, Record<string, number>> = {};
let hasEnded = false;
const chosen = ATTACKS.filter(({ name }) => only === undefined || name.includes(only));

/** Length of a round, ms. */
const ROUND_MS = 4_000;
const FEW = 3;
const round = (): number => Math.floor(performance.now() / ROUND_MS);
const isPatient = (): boolean => round() % 2 === 1;
/** True if this attack, by its position, is one of this round. */
const strikesNow = (position: number): boolean => {
  const first = (((round() - 1) / 2) * FEW) % chosen.length;
  return !isPatient() || (position - first + chosen.length) % chosen.length < FEW;
};

async function attack({ name, strike }: Attack, position: number): Promise<void> {
  while (!hasEnded) {
    if (!strikesNow(position)) {
      await pause(50);
      continue;
    }
    const result = await strike(loot).catch((fault: NodeJS.ErrnoException) => fault.code ?? "failed");
    struck[name] = { ...struck[name], [result]: (struck[name]?.[result] ?? 0) + 1 };
    if (isPatient() && String(result).startsWith("429")) await pause(1_000 * (1 + Math.random()));
  }
}

const attacking = Promise.all(chosen.flatMap((one, at) => Array.from({ length: one.atOnce }, () => attack(one, at))));
process.stdin.resume();
await once(process.stdin, "end");
hasEnded = true;
await attacking;
console.log(JSON.stringify(struck satisfies Struck));
process.exit(0);
