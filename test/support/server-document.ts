import { faults, type Schema } from "../http/support/json-schema.ts";
import type { HttpResponse } from "./server-http.ts";

/** The parts of an OpenAPI document that the suite checks. */
export interface OpenApi {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: unknown;
}

export interface Operation {
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema?: Schema }>> }>>;
}

/** Difference between a response and the document; undefined if there is none. */
export function documentFault(
  document: OpenApi,
  method: string,
  path: string,
  response: HttpResponse,
): string | undefined {
  const pathname = path.replace(/[?#].*$/s, "");
  const template = Object.keys(document.paths).find((candidate) =>
    new RegExp(`^${candidate.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  const operation = document.paths[template ?? ""]?.[method === "HEAD" ? "get" : method.toLowerCase()];
  if (!operation) return undefined;
  const summary = `${method} ${template} returned ${response.status}`;
  const documentedResponse = operation.responses[response.status];
  if (!documentedResponse) return `${summary}, which is not in the document: ${response.text.slice(0, 300)}`;
  const type = response.headers["content-type"]?.split(";")[0];
  if (type === undefined || response.body.length === 0) return undefined;
  const media = documentedResponse.content?.[type];
  if (!media) return `${summary} as ${type}, which is not in the document`;
  if (!media.schema || !type.endsWith("json")) return undefined;
  const schemaFaults = faults(document, media.schema, response.json());
  return schemaFaults.length === 0
    ? undefined
    : `${summary}, which does not fit the document: ${schemaFaults.join("; ")}`;
}
