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
  answer: HttpResponse,
): string | undefined {
  const pathname = path.replace(/[?#].*$/s, "");
  const template = Object.keys(document.paths).find((candidate) =>
    new RegExp(`^${candidate.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  const operation = document.paths[template ?? ""]?.[method === "HEAD" ? "get" : method.toLowerCase()];
  if (!operation) return undefined;
  const response = `${method} ${template} returned ${answer.status}`;
  const documented = operation.responses[answer.status];
  if (!documented) return `${response}, which is not in the document: ${answer.text.slice(0, 300)}`;
  const type = answer.headers["content-type"]?.split(";")[0];
  if (type === undefined || answer.body.length === 0) return undefined;
  const media = documented.content?.[type];
  if (!media) return `${response} as ${type}, which is not in the document`;
  if (!media.schema || !type.endsWith("json")) return undefined;
  const schemaFaults = faults(document, media.schema, answer.json());
  return schemaFaults.length === 0
    ? undefined
    : `${response}, which does not fit the document: ${schemaFaults.join("; ")}`;
}
