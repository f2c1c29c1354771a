import { expect } from "vitest";
import type { HttpParts } from "../../../src/http/app.ts";
import type { WebApp } from "../../../src/ports/web.ts";
import type { DecodedReply } from "./ask.ts";
import { faults, type Schema } from "./json-schema.ts";

export interface Operation {
  responses: Record<string, { content?: Record<string, { schema?: Schema }>; headers?: Record<string, unknown> }>;
}
export interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Documents of individual applications, and, by {@link documentKey}, those that several applications share. */
const documents = new WeakMap<WebApp, Document>();
const sharedDocuments = new Map<string, Document>();
/** The base paths of applications that have one. */
export const basePaths: WeakMap<WebApp, string> = new WeakMap();
/** Keys of the applications that share their document with others. */
export const documentKeys: WeakMap<WebApp, string> = new WeakMap();
/** HTTP options that do not change the document. */
const UNDOCUMENTED_OPTIONS = new Set(["authenticate", "cors", "log", "pages", "rateLimit", "system"]);

/** The key of equal documents: applications whose other HTTP options are the default ones, by the routes of their pages. */
export function documentKey(http: Partial<HttpParts> = {}): string | undefined {
  if (Object.keys(http).some((name) => !UNDOCUMENTED_OPTIONS.has(name))) return undefined;
  const { pages = [] } = http;
  return pages
    .map(({ prefix, artefact, phone }) => `${prefix} ${artefact !== undefined} ${phone !== undefined}`)
    .join();
}

/** The OpenAPI document of an application. */
export async function documentOf(app: WebApp): Promise<Document> {
  const key = documentKeys.get(app);
  const knownDocument = key === undefined ? documents.get(app) : sharedDocuments.get(key);
  if (knownDocument) return knownDocument;
  const base = basePaths.get(app) ?? "";
  const request = { method: "GET", url: `http://h${base}/openapi.json`, headers: new Headers(), body: null };
  const document = JSON.parse(String((await app.handle(request)).body)) as Document;
  if (key === undefined) documents.set(app, document);
  else sharedDocuments.set(key, document);
  return document;
}

/** Fails if the document does not describe this reply of one of its operations. */
export async function checkAgainstDocument(
  app: WebApp,
  method: string,
  path: string,
  reply: DecodedReply,
): Promise<void> {
  const document = await documentOf(app);
  const base = basePaths.get(app) ?? "";
  if (!path.startsWith(base)) return;
  const pathname = path.slice(base.length).replace(/[?#].*$/s, "");
  const template = Object.keys(document.paths).find((candidate) =>
    new RegExp(`^${candidate.replace(/[.]/g, "\\$&").replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  if (!template || !Object.hasOwn(document.paths[template]!, verb)) return;
  const operation = document.paths[template]![verb]!;
  const operationName = `${method} ${template} ${reply.status}`;
  const response = operation.responses[reply.status];
  expect(response, `${operationName} is not in the document`).toBeDefined();
  const type = reply.headers["content-type"]?.split(";")[0];
  if (type === undefined || reply.text === "") return;
  const media = response?.content?.[type];
  expect(media, `${operationName} as ${type} is not in the document`).toBeDefined();
  if (media?.schema) expect(faults(document, media.schema, reply.json), operationName).toEqual([]);
}
