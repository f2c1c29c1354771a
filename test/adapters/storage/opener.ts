// A process that opens a SQLite file (first argument) at a time in ms (third argument), prints the result in one line
// and runs until its input ends.
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";

const [path = "", exclusive, at] = process.argv.slice(2);
await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(at) - Date.now())));
const storage = sqliteStorage({ path });
try {
  await storage.open({ exclusive: exclusive === "exclusive" });
  console.log("open");
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : error);
}
for await (const _ of process.stdin);
await storage.close();
