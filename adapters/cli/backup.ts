import process from "node:process";
import { DEFAULT_DATA } from "../defaults/data-folder.ts";
import type { CommandSpec } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { jsonOption } from "./json-option.ts";
import { STORAGE_SETTINGS } from "./settings/all-settings.ts";
import { readSettings } from "./settings/read-settings.ts";
import { printFacts } from "./terminal/facts.ts";
import { printJson, printToStderr } from "./terminal/terminal.ts";
import { existingDatabase } from "./token/storage-work.ts";
import { UsageError } from "./usage-error.ts";

const MEBIBYTE = 1024 * 1024;

/** `ringport backup`: a copy of a server's data. */
export const backup: CommandSpec = {
  summary: "Copies the data of a server into a new folder, even while it runs.",
  details:
    "A snapshot of the database, and the recordings. The key (secret.key, or RINGPORT_SECRET) is not copied: keep it " +
    "somewhere else. To restore, stop the server, put the copy in place of its data folder, and the key into it. " +
    "On PostgreSQL use pg_dump.",
  operands: [{ name: "FOLDER", completion: "file" }],
  options: [jsonOption("what was copied")],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const [to = ""] = line.operands;
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const data = options.data ?? DEFAULT_DATA;
    if (options.databaseUrl !== undefined)
      throw new UsageError(
        `the database is PostgreSQL: back it up with pg_dump, and copy the folder call-recordings of ${data}`,
      );
    const database = existingDatabase(data);
    const { backUpData } = await import("../defaults/back-up-data.ts");
    const { folder, databaseBytes, recordings } = await backUpData(database, to).catch(
      (cause: NodeJS.ErrnoException) => {
        const reason = cause.code === "EEXIST" ? "it is not empty" : cause.message;
        throw new UsageError(`the backup cannot be written to ${to} (${reason}); name a new folder`, { cause });
      },
    );
    if (line.values.get("json")) printJson({ folder, database_bytes: databaseBytes, recordings });
    else {
      printFacts([
        ["folder", folder],
        ["database", `${(databaseBytes / MEBIBYTE).toFixed(1)} MiB`],
        ["recordings", String(recordings)],
      ]);
      printToStderr("The key is not included: keep secret.key (or RINGPORT_SECRET) somewhere else.");
    }
    return EXIT.done;
  },
};
