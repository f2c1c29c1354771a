import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlitePath } from "../../adapters/embedded/data-folder.ts";
import { idSource } from "../../src/base/ids.ts";
import { createRingport } from "../../src/index.ts";

/** A data folder with the tables of this version, one user and one token of his. */
export interface BenchData {
  readonly folder: string;
  readonly file: string;
  readonly token: string;
  /** Writes to the database in one transaction; no server runs on it meanwhile. */
  fill(write: (database: DatabaseSync, userId: string, ids: ReturnType<typeof idSource>) => void): void;
  remove(): Promise<void>;
}

export async function benchData(): Promise<BenchData> {
  const folder = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const file = sqlitePath(folder);
  const ringport = createRingport({ data: folder });
  await ringport.start();
  const { token, userId } = await ringport.tokens.issue({ userName: "bench", label: "bench" });
  await ringport.stop();
  return {
    folder,
    file,
    token,
    fill(write) {
      const database = new DatabaseSync(file);
      database.exec("pragma synchronous = off; pragma cache_size = -500000; begin immediate");
      write(
        database,
        userId,
        idSource(Date.now, (bytes) => crypto.getRandomValues(bytes)),
      );
      database.exec("commit; pragma wal_checkpoint(truncate)");
      database.close();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
