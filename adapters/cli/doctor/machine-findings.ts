import process from "node:process";
import { nodeSqlite } from "../../storage/sqlite/node-sqlite.ts";
import { players } from "../voices/players.ts";
import { broken, type Finding, missing, reasonOf, works } from "./finding.ts";

interface Runtime {
  readonly name: string;
  readonly version: string;
  /** The oldest version on which everything has been tested. */
  readonly minVersion: readonly [major: number, minor: number];
}

/** The JavaScript runtime and its version. */
export function findRuntime(): Finding {
  const { name, version, minVersion } = runtime();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const label = `${name} ${version} on ${process.platform} ${process.arch}`;
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return works("runtime", label);
  return broken("runtime", `${label} is too old`, `install ${name} ${minVersion.join(".")} or newer`);
}

function runtime(): Runtime {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return { name: "Bun", version: bun, minVersion: [1, 4] };
  if (deno !== undefined) return { name: "Deno", version: deno, minVersion: [2, 9] };
  return { name: "Node", version: process.versions.node, minVersion: [22, 18] };
}

/** The SQLite included in the runtime. */
export async function findSqlite(): Promise<Finding[]> {
  try {
    const { DatabaseSync } = await nodeSqlite();
    const database = new DatabaseSync(":memory:");
    const row = database.prepare("select sqlite_version() as version").get() as { version?: string } | undefined;
    database.close();
    return [works("sqlite", `SQLite ${row?.version ?? "of an unknown version"} comes with the runtime`)];
  } catch (error) {
    const fix = "use Node 22.18, Bun 1.4 or Deno 2.9 or newer, or PostgreSQL with DATABASE_URL";
    return [broken("sqlite", `node:sqlite does not work: ${reasonOf(error)}`, fix)];
  }
}

/** Finds the players for `ringport voices --play`. */
export function findPlayers(): Finding {
  const names = players().map(({ program }) => program);
  if (names.length > 0) return works("players", `${names.join(", ")} (for ringport voices --play)`);
  return missing("players", "no program that plays WAV files", "install alsa-utils, sox or ffmpeg to hear voices");
}
