// `npm run test:tier -- chaos`: seeded rounds of faults on real server processes. README.md explains the output.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import assertBuilt from "../support/built.ts";
import { mountInMemory, unmount } from "../support/mount.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { missing } from "../support/runtimes.ts";
import type { FaultyDatabase } from "./faulty-database.ts";
import type { Journal } from "./journal.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { ROUNDS_PER_SEQUENCE, runSequence } from "./sequence.ts";
import { sqliteDatabase } from "./sqlite-database.ts";

/** Room for a sequence's records and recordings. */
const DISK = "size=24m";
/** Number of sequences that run side by side; they spend most of their time waiting. */
const CONCURRENT_SEQUENCES = 4;

type DatabaseName = FaultyDatabase["name"];
const DATABASES: readonly DatabaseName[] = ["SQLite", "PostgreSQL"];
const databases = DATABASES.filter(
  (database) => !process.env.DATABASE || database.toLowerCase() === process.env.DATABASE.toLowerCase(),
);
const seedText = process.env.SEED;
const firstSeed = seedText === undefined ? Date.now() % 1_000_000 : Number(seedText);
const rounds = Number(process.env.ROUNDS ?? (seedText === undefined ? 80 : ROUNDS_PER_SEQUENCE * databases.length));
const sequences = Math.ceil(rounds / ROUNDS_PER_SEQUENCE / databases.length);
if (databases.length === 0 || !Number.isInteger(firstSeed) || !(rounds > 0))
  throw new Error("DATABASE must be SQLite or PostgreSQL, SEED a whole number, ROUNDS a number above 0");

if (!process.env.PROGRAM) assertBuilt();
const folder = mkdtempSync(join(tmpdir(), "ringport-rounds-"));
const startedAt = performance.now();
const failedSeeds = new Map<string, string[]>();
console.log(
  `${sequences * ROUNDS_PER_SEQUENCE * databases.length} rounds on ${databases.join(" and ")}, seeds ${firstSeed} to ${firstSeed + sequences - 1}`,
);
await runAll();
rmSync(folder, { recursive: true, force: true });
process.exit(verdict());

/** Runs every sequence on every database, the longer ones first. */
async function runAll(): Promise<void> {
  const postgres = databases.includes("PostgreSQL") ? await findPostgres() : undefined;
  if (postgres?.missing) console.log(postgres.title);
  const server = postgres?.missing ? undefined : await postgres?.start();
  const seeds = Array.from({ length: sequences }, (_, index) => firstSeed + index);
  const pending = [
    ...(server ? seeds.map((seed) => () => runOnPostgres(server, seed)) : []),
    ...(databases.includes("SQLite") ? seeds.map((seed) => () => runOnSqlite(seed)) : []),
  ];
  const runPending = async () => {
    for (let next = pending.shift(); next; next = pending.shift()) await next();
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENT_SEQUENCES }, runPending));
  } finally {
    await server?.stop();
  }
}

async function runOnSqlite(seed: number): Promise<void> {
  const disk = join(folder, `sqlite-${seed}`);
  const mountFault = mountInMemory(disk, DISK);
  if (mountFault && seed === firstSeed) console.log(`SQLite: no disk is filled: ${missing(mountFault)}`);
  try {
    await run(seed, sqliteDatabase(disk, mountFault === undefined));
  } finally {
    unmount(disk);
  }
}

async function runOnPostgres(server: RunningPostgres, seed: number): Promise<void> {
  await run(seed, await postgresDatabase(await server.createDatabase(), join(folder, `postgres-${seed}`)));
}

async function run(seed: number, database: FaultyDatabase): Promise<void> {
  const runStartedAt = performance.now();
  const journal = await runSequence(seed, database);
  const { violations, calls } = journal;
  const seconds = ((performance.now() - runStartedAt) / 1_000).toFixed(1);
  const verdict = violations.length === 0 ? "✓" : `✗ ${violations.length} faults`;
  console.log(`${database.name.padEnd(10)} seed ${seed}  ${seconds.padStart(5)} s  ${calls.size} calls  ${verdict}`);
  for (const tolerance of journal.tolerances) console.log(`  tolerated in ${tolerance}`);
  if (violations.length > 0) report(seed, database.name, journal);
}

function report(seed: number, database: DatabaseName, journal: Journal): void {
  const file = join(tmpdir(), `ringport-rounds-${database.toLowerCase()}-${seed}.txt`);
  writeFileSync(file, journal.text());
  for (const { rule, subject, detail, round } of journal.violations) {
    console.log(`  round ${round}: ${rule}: ${subject}: ${detail}`);
    const seeds = failedSeeds.get(rule) ?? [];
    failedSeeds.set(rule, [...seeds, `${database} ${seed}`]);
  }
  console.log(`  journal: ${file}`);
  console.log(`  replay:  SEED=${seed} DATABASE=${database} npm run test:tier -- chaos`);
}

/** Prints which rules are broken by which seeds; returns the exit code. */
function verdict(): number {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  for (const [rule, seeds] of failedSeeds)
    console.log(`${String(seeds.length).padStart(5)} × ${rule}: ${[...new Set(seeds)].join(", ")}`);
  console.log(
    `${sequences * ROUNDS_PER_SEQUENCE * databases.length} rounds in ${seconds} s: ${failedSeeds.size === 0 ? "all rules hold" : `${failedSeeds.size} rules are broken`}`,
  );
  return failedSeeds.size === 0 ? 0 : 1;
}
