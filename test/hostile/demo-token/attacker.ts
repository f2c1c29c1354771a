// A process of its own: strikes with all attacks until its input ends, then prints what came of them, as JSON.
import { once } from "node:events";
import process from "node:process";
import { ATTACKS, type Attack, type Loot } from "./attacks.ts";

/** How often each attack was made, by what came of it. */
export type Struck = Readonly<Record<string, Readonly<Record<string, number>>>>;

const loot = JSON.parse(process.argv[2] ?? "") as Loot;
const only = process.env.ATTACK;
const struck: Record<string, Record<string, number>> = {};
let over = false;

async function attack({ name, strike }: Attack): Promise<void> {
  while (!over) {
    const result = await strike(loot).catch((fault: NodeJS.ErrnoException) => fault.code ?? "failed");
    struck[name] = { ...struck[name], [result]: (struck[name]?.[result] ?? 0) + 1 };
  }
}

const chosen = ATTACKS.filter(({ name }) => only === undefined || name.includes(only));
const attacking = Promise.all(chosen.flatMap((one) => Array.from({ length: one.atOnce }, () => attack(one))));
process.stdin.resume();
await once(process.stdin, "end");
over = true;
await attacking;
console.log(JSON.stringify(struck satisfies Struck));
process.exit(0);
