import { Refusal } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { docsPage, docsPolicy, docsScript, errorsPage } from "../docs/docs-pages.ts";
import { entityTag } from "../replies/entity-tag.ts";
import { html, notModified } from "../replies/reply.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { type HttpRoute, NOT_MODIFIED } from "../route.ts";

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "init.js": "text/javascript; charset=utf-8",
  }),
);

/** The documentation pages. Without the files that come with the package, only `/docs/errors` is served. */
export function docsRoutes({
  asset,
  version,
  publicUrl,
}: Pick<HttpDependencies, "asset" | "version" | "publicUrl">): HttpRoute[] {
  let hasAssets: boolean | undefined;
  const requireAssets = async ({ base }: RequestContext): Promise<void> => {
    hasAssets ??= (await asset?.("swagger-ui-bundle.js")) !== undefined;
    if (!hasAssets)
      throw new Refusal("not_found", `the interactive page is not installed on this server; read ${base}/openapi.json`);
  };
  return [
    {
      method: "GET",
      path: "/",
      operation: {
        id: "frontDoor",
        tag: "Server",
        summary: "Redirect to /docs",
        access: "open",
        cost: "small",
        responses: { 302: { description: "The address of the page.", headers: ["Location"] } },
        problems: ["not_found"],
      },
      async run(context) {
        await requireAssets(context);
        return { status: 302, headers: { location: `${context.base}/docs`, "cache-control": "no-cache" } };
      },
    },
    {
      method: "GET",
      path: "/docs",
      operation: {
        id: "docs",
        tag: "Server",
        summary: "This document as an interactive page",
        access: "open",
        cost: "small",
        responses: { 200: { description: "The page.", media: ["text/html"] } },
        problems: ["not_found"],
      },
      async run(context) {
        await requireAssets(context);
        return html(docsPage(context.base), docsPolicy(originOf(publicUrl())));
      },
    },
    {
      method: "GET",
      path: "/docs/errors",
      operation: {
        id: "docsErrors",
        tag: "Server",
        summary: "Explain every error code; the type of a problem points here",
        access: "open",
        cost: "small",
        responses: { 200: { description: "The page.", media: ["text/html"] } },
      },
      async run(context) {
        const page = await errorsPage(context.base);
        return html(page.html, page.contentSecurityPolicy);
      },
    },
    {
      method: "GET",
      path: "/docs/assets/:name",
      operation: {
        id: "docsAsset",
        tag: "Server",
        summary: "A file of the interactive page",
        access: "open",
        cost: "small",
        path: { name: "The name of the file." },
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The file.", media: ["text/javascript", "text/css"], headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: ["not_found"],
      },
      async run(context): Promise<Reply | undefined> {
        const name = context.params.name ?? "";
        const type = MEDIA_TYPES.get(name);
        if (!type) return undefined;
        await requireAssets(context);
        const etag = entityTag(`${version} ${context.base} ${name}`);
        const headers = { "cache-control": "no-cache", etag };
        const notModifiedReply = notModified(context, headers);
        if (notModifiedReply) return notModifiedReply;
        const body = name === "init.js" ? docsScript(context.base) : await asset?.(name);
        return body ? { status: 200, headers: { "content-type": type, ...headers }, body } : undefined;
      },
    },
  ];
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}
