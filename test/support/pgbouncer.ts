import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";
import { endWithThisProcess, missing } from "./runtimes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A PgBouncer that pools by transaction, or the reason why there is none. */
export interface PoolerSource {
  /** For `describe`: "PgBouncer", followed by the reason if there is none. */
  readonly title: string;
  /** The reason why there is no PgBouncer, for `describe.skipIf`. */
  readonly missing: string | undefined;
  /** @param connections maximum connections to each database, shared by all clients */
  start(postgresUrl: string, connections: number): Promise<RunningPooler>;
}

/** A PgBouncer in front of every database of a PostgreSQL server. */
export interface RunningPooler {
  /** The same database through the pooler. */
  urlThrough(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Looks for the program on the path and in Debian's folder. */
export function findPooler(): PoolerSource {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const program = folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
  if (program)
    return {
      title: "PgBouncer",
      missing: undefined,
      start: (url, connections) => startPooler(program, url, connections),
    };
  const reason = missing("no pgbouncer; apt-get install pgbouncer");
  return { title: `PgBouncer (skipped: ${reason})`, missing: reason, start: () => Promise.reject(new Error(reason)) };
}

async function startPooler(program: string, postgresUrl: string, connections: number): Promise<RunningPooler> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const ownPort = await freePort();
  const file = join(temporaryFolder("pgbouncer"), "pgbouncer.ini");
  const login = password === "" ? `user=${username}` : `user=${username} password=${decodeURIComponent(password)}`;
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port || 5432} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
`,
    { mode: 0o644 },
  );
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn(program, [...user, file], { stdio: ["ignore", "ignore", "pipe"] });
  endWithThisProcess(child);
  const exit = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`pgbouncer ended with ${code}:\n${lines.join("\n")}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      if (line.includes("process up")) resolve();
    });
  });
  return {
    urlThrough(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${ownPort}`;
      return url.href;
    },
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}
