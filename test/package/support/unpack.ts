import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { unpackTar } from "modern-tar";

/** Extracts the files of a .tar.gz into a folder. */
export async function unpack(archive: Uint8Array, folder: string): Promise<void> {
  const tar = new Blob([Uint8Array.from(archive)]).stream().pipeThrough(new DecompressionStream("gzip"));
  for (const { header, data } of await unpackTar(tar)) {
    const { name, type } = header;
    if (type !== "file") continue;
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data ?? ""); // the bundler turns a module of types into an empty chunk
  }
}
