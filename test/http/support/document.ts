import { expect } from "vitest";
import type { WebApp } from "../../../src/ports/web.ts";
import type { Answered } from "./ask.ts";
import { faults, type Schema } from "./json-schema.ts";

export interface Operation {
  responses: Record<string, { content?: Record<string, { schema?: Schema }>; headers?: Record<string, unknown> }>;
}
export interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const documents = new WeakMap<WebApp, Document>();
/** Document of the applications without HTTP options. */
let plain: Document | undefined;
/** Base paths of applications that have one. */
export const bases: WeakMap<WebApp, string> = new WeakMap();
/** Applications without HTTP options: they have equal documents. */
export const plainApps: WeakSet<WebApp> = new WeakSet();

/** The OpenAPI document of an application. */
export async function documentOf(app: WebApp): Promise<Document> {
  const known = plainApps.has(app) ? plain : documents.get(app);
  if (known) return known;
  const base = bases.get(app) ?? "";
  const request = { method: "GET", url: `http://h${base}/openapi.json`, headers: new Headers(), body: null };
  const document = JSON.parse(String((await app.handle(request)).body)) as Document;
  if (plainApps.has(app)) plain = document;
  documents.set(app, document);
  return document;
}

/** Fails if the document does not describe this reply of one of its operations. */
export async function checkAgainstDocument(app: WebApp, method: string, path: string, reply: Answered): Promise<void> {
  const document = await documentOf(app);
  const base = bases.get(app) ?? "";
  if (!path.startsWith(base)) return;
  const pathname = path.slice(base.length).replace(/[?#].*$/s, "");
  const template = Object.keys(document.paths).find((one) =>
    new RegExp(`^${one.replace(/[.]/g, "\\$&").replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  if (!template || !Object.hasOwn(document.paths[template]!, verb)) return;
  const operation = document.paths[template]![verb]!;
  const operationName = `${method} ${template} ${reply.status}`;
  const described = operation.responses[reply.status];
  expect(described, `${operationName} is not in the document`).toBeDefined();
  const type = reply.headers["content-type"]?.split(";")[0];
  if (type === undefined || reply.text === "") return;
  const media = described?.content?.[type];
  expect(media, `${operationName} as ${type} is not in the document`).toBeDefined();
  if (media?.schema) expect(faults(document, media.schema, reply.json), operationName).toEqual([]);
}
