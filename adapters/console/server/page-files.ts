import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { htmlPage } from "../../../src/base/html-page.ts";
import { html, notModified, withVary } from "../../../src/http/replies/reply.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Reply } from "../../../src/ports/web.ts";
import { PAGE_POLICY } from "./security-headers.ts";

const ASSETS = "/console/assets/";

/** Media types, by file extension. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    js: "text/javascript; charset=utf-8",
    css: "text/css; charset=utf-8",
    json: "application/json",
    svg: "image/svg+xml",
    png: "image/png",
    ico: "image/x-icon",
    wav: "audio/wav",
    mp3: "audio/mpeg",
  }),
);

/** The response with one of the pages' files, or with the page that loads them; undefined for any other request. */
export async function pageOrFile(context: RequestContext, files: PageFiles): Promise<Reply | undefined> {
  const { method, path } = context;
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (path.startsWith(ASSETS)) return fileReply(context, files);
  if (!/\*\/\*|text\/(?:html|\*)/i.test(context.header("accept") ?? "*/*")) return undefined;
  const index = await files.index();
  if (index === undefined) return notBuiltReply();
  // The base path is unknown at build time.
  return html(index.replaceAll(`"${ASSETS}`, `"${context.base}${ASSETS}`), PAGE_POLICY);
}

async function fileReply(context: RequestContext, files: PageFiles): Promise<Reply | undefined> {
  const name = context.path.slice(ASSETS.length);
  const type = MEDIA_TYPES.get(/\.([a-z0-9]+)$/.exec(name)?.[1] ?? "");
  const file = type && (await files.find(name, context.header("accept-encoding")));
  if (!file) return undefined;
  const caching = { etag: file.etag, "cache-control": "public, max-age=31536000, immutable" };
  const notModifiedReply = notModified(context, caching);
  const headers = { ...caching, "content-type": type, ...(file.coding && { "content-encoding": file.coding }) };
  return withVary(notModifiedReply ?? { status: 200, headers, body: file.bytes }, "Accept-Encoding");
}

async function notBuiltReply(): Promise<Reply> {
  const page = await htmlPage(
    "The console is not built yet",
    "<p>Run <code>npm run console</code> in Ringport's folder, then reload this page. The HTTP interface works without it.</p>",
    "card",
  );
  return { ...html(page.html, page.contentSecurityPolicy), status: 503 };
}

/** Locations relative to the built file and to the source. On JSR, the files are fetched from there. */
const DEFAULT_FOLDERS = ["./console/", "../assets/"];

/** File names that the build of the pages writes: no folders, no leading dot. */
const NAME = /^[\w-][\w.-]{0,120}$/;

/** Content codings of the compressed files, best first. */
const CODINGS = { br: ".br", gzip: ".gz" } as const;

/** One of the pages' files, as sent. */
interface StoredFile {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Content coding; undefined if the file is not compressed. */
  readonly coding?: keyof typeof CODINGS;
}

/** Reads the files that `npm run console` has built. */
export interface PageFiles {
  /**
   * The file in the best content coding that the client accepts; undefined if there is no such file.
   * @param acceptEncoding the Accept-Encoding header
   */
  find(name: string, acceptEncoding: string | null): Promise<StoredFile | undefined>;
  /**
   * The page that loads all others; undefined if nothing has been built. Not cached, because a new build replaces it.
   */
  index(): Promise<string | undefined>;
}

/** @param folders URLs of the folders that may have the files, each ending in a slash */
export function pageFiles(
  folders: readonly string[] = DEFAULT_FOLDERS.map((path) => new URL(path, import.meta.url).href),
): PageFiles {
  const cache = new Map<string, StoredFile>();

  /** Names include a hash of the content, so a cached file stays valid. */
  async function load(name: string, coding?: keyof typeof CODINGS): Promise<StoredFile | undefined> {
    const key = coding ? name + CODINGS[coding] : name;
    const cachedFile = cache.get(key);
    if (cachedFile) return cachedFile;
    const bytes = await readFirst(folders, key);
    if (!bytes) return undefined;
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const file = coding ? { bytes, etag, coding } : { bytes, etag };
    cache.set(key, file);
    return file;
  }

  return {
    async find(name, acceptEncoding) {
      if (!NAME.test(name) || /\.(?:br|gz|html)$/.test(name)) return undefined;
      for (const coding of acceptedCodings(acceptEncoding ?? "")) {
        const file = await load(name, coding);
        if (file) return file;
      }
      return load(name);
    },
    async index() {
      const bytes = await readFirst(folders, "index.html");
      return bytes && new TextDecoder().decode(bytes);
    },
  };
}

/** The supported codings that the header accepts (RFC 9110 §12.5.3). */
function acceptedCodings(header: string): (keyof typeof CODINGS)[] {
  const names = header
    .toLowerCase()
    .split(",")
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map((part) => part.replace(/;.*$/s, "").trim());
  return (Object.keys(CODINGS) as (keyof typeof CODINGS)[]).filter((coding) => names.includes(coding));
}

async function readFirst(folders: readonly string[], name: string): Promise<Uint8Array | undefined> {
  for (const folder of folders) {
    const bytes = await bytesAt(new URL(name, folder)).catch(() => undefined);
    if (bytes) return bytes;
  }
  return undefined;
}

async function bytesAt(url: URL): Promise<Uint8Array | undefined> {
  if (url.protocol === "file:") return readFile(fileURLToPath(url));
  const response = await fetch(url);
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
}
