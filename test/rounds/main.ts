// `npm run test:tier -- rounds`: seeded rounds of faults on real server processes; the README.md next to this file explains how to read it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import built from "../support/built.ts";
import { mountInMemory, unmount } from "../support/mount.ts";
import { findPostgres } from "../support/postgres.ts";
import { missing } from "../support/runtimes.ts";
import type { Journal } from "./journal.ts";
import type { Place } from "./place.ts";
import { postgresPlace } from "./postgres-place.ts";
import { ROUNDS_OF_A_SEQUENCE, runSequence } from "./sequence.ts";
import { sqlitePlace } from "./sqlite-place.ts";

/** Room for the records and recordings of a sequence. */
const DISK = "size=24m";
/** Number of sequences on each database that run side by side: they mostly wait. */
const AT_ONCE = 2;

type Lane = Place["name"];
const LANES: readonly Lane[] = ["SQLite", "PostgreSQL"];
const wanted = LANES.filter(
  (lane) => !process.env.DATABASE || lane.toLowerCase() === process.env.DATABASE.toLowerCase(),
);
const seedText = process.env.SEED;
const firstSeed = seedText === undefined ? Date.now() % 1_000_000 : Number(seedText);
const rounds = Number(process.env.ROUNDS ?? (seedText === undefined ? 80 : ROUNDS_OF_A_SEQUENCE * wanted.length));
const sequences = Math.ceil(rounds / ROUNDS_OF_A_SEQUENCE / wanted.length);
if (wanted.length === 0 || !Number.isInteger(firstSeed) || !(rounds > 0))
  throw new Error("DATABASE is SQLite or PostgreSQL, SEED a whole number, ROUNDS a number above 0");

if (!process.env.PROGRAM) built();
const folder = mkdtempSync(join(tmpdir(), "ringport-rounds-"));
const begun = performance.now();
const broken = new Map<string, string[]>();
console.log(
  `${sequences * ROUNDS_OF_A_SEQUENCE * wanted.length} rounds on ${wanted.join(" and ")}, seeds ${firstSeed} to ${firstSeed + sequences - 1}`,
);
await Promise.all(wanted.map((lane) => (lane === "SQLite" ? onSqlite() : onPostgres())));
rmSync(folder, { recursive: true, force: true });
process.exit(judge());

/** Runs every sequence of a database. */
async function sideBySide(runOne: (seed: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < sequences) await runOne(firstSeed + next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function onSqlite(): Promise<void> {
  let said = false;
  await sideBySide(async (seed) => {
    const disk = join(folder, `sqlite-${seed}`);
    const unmountable = mountInMemory(disk, DISK);
    if (unmountable && !said) console.log(`SQLite: no disk is filled: ${missing(unmountable)}`);
    said = true;
    try {
      await run(seed, sqlitePlace(disk, unmountable === undefined));
    } finally {
      unmount(disk);
    }
  });
}

async function onPostgres(): Promise<void> {
  const postgres = await findPostgres();
  if (postgres.missing) return console.log(postgres.title);
  const running = await postgres.start();
  try {
    await sideBySide(async (seed) =>
      run(seed, await postgresPlace(await running.createDatabase(), join(folder, `postgres-${seed}`))),
    );
  } finally {
    await running.stop();
  }
}

async function run(seed: number, place: Place): Promise<void> {
  const from = performance.now();
  const journal = await runSequence(seed, place);
  const { violations, calls } = journal;
  const took = ((performance.now() - from) / 1_000).toFixed(1);
  const verdict = violations.length === 0 ? "✓" : `✗ ${violations.length} faults`;
  console.log(`${place.name.padEnd(10)} seed ${seed}  ${took.padStart(5)} s  ${calls.size} calls  ${verdict}`);
  for (const what of journal.tolerances) console.log(`  tolerated in ${what}`);
  if (violations.length > 0) report(seed, place.name, journal);
}

function report(seed: number, lane: Lane, journal: Journal): void {
  const file = join(tmpdir(), `ringport-rounds-${lane.toLowerCase()}-${seed}.txt`);
  writeFileSync(file, journal.text());
  for (const { rule, subject, detail, round } of journal.violations) {
    console.log(`  round ${round}: ${rule}: ${subject}: ${detail}`);
    const seeds = broken.get(rule) ?? [];
    broken.set(rule, [...seeds, `${lane} ${seed}`]);
  }
  console.log(`  journal: ${file}`);
  console.log(`  replay:  SEED=${seed} DATABASE=${lane} npm run test:tier -- rounds`);
}

/** Prints which rules are broken by which seeds; returns the exit code. */
function judge(): number {
  const took = ((performance.now() - begun) / 1_000).toFixed(0);
  for (const [rule, seeds] of broken)
    console.log(`${String(seeds.length).padStart(5)} × ${rule}: ${[...new Set(seeds)].join(", ")}`);
  console.log(
    `${sequences * ROUNDS_OF_A_SEQUENCE * wanted.length} rounds in ${took} s: ${broken.size === 0 ? "all rules hold" : `${broken.size} rules are broken`}`,
  );
  return broken.size === 0 ? 0 : 1;
}
