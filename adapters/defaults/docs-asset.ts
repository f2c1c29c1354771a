import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const NAMES: ReadonlySet<string> = new Set(["swagger-ui-bundle.js", "swagger-ui.css"]);

/** Locations of the assets: next to the built file, and in the source tree, where this file is one folder deeper. */
const LOCATIONS = ["./assets/", "../../node_modules/swagger-ui-dist/"];

const assets = new Map<string, Promise<Uint8Array | undefined>>();

/** One of the documentation page's files; undefined if it is not included in the package. */
export function docsAsset(name: string): Promise<Uint8Array | undefined> {
  if (!NAMES.has(name)) return Promise.resolve(undefined);
  const bytes = assets.get(name) ?? read(name);
  assets.set(name, bytes);
  return bytes;
}

async function read(name: string): Promise<Uint8Array | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  for (const location of LOCATIONS) {
    const path = fileURLToPath(new URL(location + name, import.meta.url));
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes) return bytes;
  }
  return undefined;
}
