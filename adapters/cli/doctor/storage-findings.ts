import { accessSync, constants } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Client } from "pg";
import { DEFAULT_DATA, sqlitePath } from "../../embedded/data-folder.ts";
import { withReadableUrl } from "../../storage/postgres/postgres-errors.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const CHOOSE = "choose another folder with RINGPORT_DATA, or change its permissions";
const CONNECT_MS = 5_000;

/** Checks if the data folder can be written, or created; it is not created. */
export async function findDataFolder(data: string = DEFAULT_DATA): Promise<Finding[]> {
  const folder = resolve(data);
  const name = "data folder";
  let at = folder;
  while ((await kind(at)) === "nothing" && dirname(at) !== at) at = dirname(at);
  if ((await kind(at)) !== "folder") return [broken(name, `${folder} cannot be used: ${at} is a file`, CHOOSE)];
  if (!isWritable(at)) return [broken(name, `${folder} cannot be used: ${at} cannot be written`, CHOOSE)];
  if (at !== folder) return [works(name, `${folder} can be made`)];
  const database = sqlitePath(folder);
  if ((await kind(database)) !== "nothing" && !isWritable(database))
    return [broken(name, `${database} cannot be written`, CHOOSE)];
  return [works(name, `${folder} can be written`)];
}

async function kind(path: string): Promise<"folder" | "file" | "nothing"> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "file" : "nothing";
  }
}

/** If the runtime does not report it (Deno without --allow-sys), the start of the server will show it. */
function isWritable(path: string): boolean {
  try {
    // The synchronous call is used because an error of the asynchronous one cannot be caught under Deno.
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
      () => new pg.default.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS }),
    );
    client.on("error", () => {}); // errors of an established connection do not matter here
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return [works(name, `PostgreSQL ${rows[0]?.server_version ?? ""} answers at ${placeOf(url)}`)];
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
