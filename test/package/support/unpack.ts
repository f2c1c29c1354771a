import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseTarGzip } from "nanotar";

/** Extracts the files of a .tar.gz into a folder. */
export async function unpack(archive: Uint8Array, folder: string): Promise<void> {
  for (const { name, type, data } of await parseTarGzip(archive)) {
    if (type !== "file") continue;
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data ?? ""); // the bundler makes a chunk without code of a module of types
  }
}
