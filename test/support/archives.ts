import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";
import { bzip2 } from "./bzip2.ts";
import { FIXTURE_MODELS } from "./tone-models.ts";

/** The fixtures' models. */
export const DUO_MODEL = "vits-tone-en_US-duo-low";
export const FLUTE = "vits-tone-pt_BR-flauta-low";
export const RECOGNISER = "sherpa-onnx-streaming-t-one-tones";

/** Formats of archives. */
export type ArchiveFormat = "tar" | "tar.gz" | "tar.bz2";

/** A file of an archive; a name that ends with a slash is a folder. */
export function fileEntry(name: string, content: string | Uint8Array = ""): TarEntry {
  const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
  if (name.endsWith("/")) return { header: { name, size: 0, type: "directory" } };
  return { header: { name, size: body.length, mode: 0o644, mtime: new Date(0) }, body };
}

/** A link of an archive. */
export function linkEntry(name: string, linkname: string, type: "symlink" | "link" = "symlink"): TarEntry {
  return { header: { name, linkname, size: 0, type } };
}

/** The entries of one of the fixtures' models. @param name different name for the model's folder */
export function modelEntries(model: string, name: string = model): TarEntry[] {
  const folder = join(FIXTURE_MODELS, model);
  return readdirSync(folder).map((file) => fileEntry(`${name}/${file}`, readFileSync(join(folder, file))));
}

/** An archive of these entries. */
export async function archiveOf(entries: readonly TarEntry[], format: ArchiveFormat = "tar"): Promise<Uint8Array> {
  const tar = await packTar(entries);
  return format === "tar" ? tar : format === "tar.gz" ? Uint8Array.from(gzipSync(tar)) : bzip2(tar);
}
