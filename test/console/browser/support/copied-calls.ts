import { DatabaseSync } from "node:sqlite";
import type { Server } from "../../../support/server.ts";

/**
 * Copies a finished call to earlier times, within a running server's database.
 * @param earlierMs shift of each copy, ms
 */
export function copyCall(server: Server, id: string, earlierMs: readonly number[]): void {
  if (!("file" in server.database)) throw new Error("the server has no SQLite file");
  const database = new DatabaseSync(server.database.file);
  try {
    database.exec("pragma busy_timeout = 5000");
    const columns = database
      .prepare("select name from pragma_table_info('calls')")
      .all()
      .map(({ name }) => String(name));
    const values = columns.map((name) => {
      if (name === "id") return "'call_01k' || printf('%015d', 100000000000000 - ms) || substr(id, -8)";
      return /^(?:created|started|ended)_at$/.test(name) ? `${name} - ms` : name;
    });
    database
      .prepare(
        `with earlier(ms) as (select value from json_each(?))
         insert into calls (${columns.join(", ")}) select ${values.join(", ")} from calls, earlier where id = ?`,
      )
      .run(JSON.stringify(earlierMs), id);
  } finally {
    database.close();
  }
}
