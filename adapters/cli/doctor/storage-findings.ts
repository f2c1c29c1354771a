import { accessSync, constants } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Client } from "pg";
import { DEFAULT_DATA, sqlitePath } from "../../defaults/data-folder.ts";
import { withReadableUrl } from "../../storage/postgres/postgres-errors.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const FOLDER_FIX = "choose another folder with RINGPORT_DATA, or change its permissions";
const CONNECT_TIMEOUT_MS = 5_000;

/** Checks that the data folder is writable or can be created, without creating it. */
export async function findDataFolder(data: string = DEFAULT_DATA): Promise<Finding[]> {
  const folder = resolve(data);
  const name = "data folder";
  let existing = folder;
  while ((await kind(existing)) === "missing" && dirname(existing) !== existing) existing = dirname(existing);
  if ((await kind(existing)) !== "folder")
    return [broken(name, `${folder} cannot be used: ${existing} is a file`, FOLDER_FIX)];
  if (!isWritable(existing))
    return [broken(name, `${folder} cannot be used: ${existing} cannot be written`, FOLDER_FIX)];
  if (existing !== folder) return [works(name, `${folder} can be created`)];
  const database = sqlitePath(folder);
  if ((await kind(database)) !== "missing" && !isWritable(database))
    return [broken(name, `${database} cannot be written`, FOLDER_FIX)];
  return [works(name, `${folder} can be written`)];
}

async function kind(path: string): Promise<"folder" | "file" | "missing"> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "file" : "missing";
  }
}

/** True if the path can be read and written, or if the runtime cannot report it (Deno without --allow-sys). */
function isWritable(path: string): boolean {
  try {
    // Uses the synchronous call, because an error from the asynchronous one cannot be caught in Deno.
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    return !["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** Checks if PostgreSQL responds. */
export async function findDatabase(url: string): Promise<Finding[]> {
  const name = "postgresql";
  const pg = await import("pg").catch(() => undefined);
  if (!pg) return [broken(name, "the package pg is missing", "npm install pg")];
  let client: Client | undefined;
  try {
    client = withReadableUrl(
      () => new pg.default.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }),
    );
    client.on("error", () => {}); // errors of an established connection do not matter here
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return [works(name, `PostgreSQL ${rows[0]?.server_version ?? ""} responds at ${placeOf(url)}`)];
  } catch (error) {
    return [broken(name, `${placeOf(url)} cannot be used: ${reasonOf(error)}`, "check DATABASE_URL")];
  } finally {
    await client?.end().catch(() => {});
  }
}

/** The URL without its password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return "DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
