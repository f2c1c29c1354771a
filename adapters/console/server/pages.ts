import { htmlPage } from "../../../src/base/html-page.ts";
import { html, notModified, varying } from "../../../src/http/reply.ts";
import type { RequestContext } from "../../../src/http/request-context.ts";
import type { Reply } from "../../../src/ports/web.ts";
import type { Files } from "./files.ts";
import { PAGE_POLICY } from "./security-headers.ts";

const ASSETS = "/console/assets/";

/** By the extension of a file. */
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

/** The reply with a file of the pages, or with the page that loads them; undefined if the request asks for neither. */
export async function pageOrFile(context: RequestContext, files: Files): Promise<Reply | undefined> {
  const { method, path } = context;
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (path.startsWith(ASSETS)) return fileReply(context, files);
  if (!/\*\/\*|text\/(?:html|\*)/i.test(context.header("accept") ?? "*/*")) return undefined;
  const index = await files.index();
  if (index === undefined) return notBuilt();
  // The build knows no base path.
  return html(index.replaceAll(`"${ASSETS}`, `"${context.base}${ASSETS}`), PAGE_POLICY);
}

async function fileReply(context: RequestContext, files: Files): Promise<Reply | undefined> {
  const name = context.path.slice(ASSETS.length);
  const type = MEDIA_TYPES.get(/\.([a-z0-9]+)$/.exec(name)?.[1] ?? "");
  const file = type && (await files.find(name, context.header("accept-encoding")));
  if (!file) return undefined;
  const caching = { etag: file.etag, "cache-control": "public, max-age=31536000, immutable" };
  const unchanged = notModified(context, caching);
  const headers = { ...caching, "content-type": type, ...(file.coding && { "content-encoding": file.coding }) };
  return varying(unchanged ?? { status: 200, headers, body: file.bytes }, "Accept-Encoding");
}

async function notBuilt(): Promise<Reply> {
  const page = await htmlPage(
    "The console is not built yet",
    "<p>Run <code>npm run console</code> in the folder of Ringport, then reload this page. The HTTP interface works without it.</p>",
    "card",
  );
  return { ...html(page.html, page.contentSecurityPolicy), status: 503 };
}
