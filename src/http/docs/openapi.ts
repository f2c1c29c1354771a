import type { Limits } from "../../domain/limits.ts";
import type { ProblemCode } from "../problems/problem-kind.ts";
import { PROBLEMS } from "../problems/problem-table.ts";
import {
  type DocumentedResponse,
  type HttpRoute,
  type Operation,
  REPLY_HEADERS,
  REQUEST_HEADERS,
  type ReplyHeader,
} from "../route.ts";
import { BODY_EXAMPLES, RESPONSE_EXAMPLES } from "./examples.ts";
import { componentSchemas } from "./schema-conversion.ts";

/** Facts about the server that the document contains. */
export interface DocumentFacts {
  readonly limits: Limits;
  readonly version: string;
  /** Path before `/v1`; "" for none. */
  readonly base: string;
  /** Public URL of the interface, base path included. */
  readonly server: string;
}

type Json = Record<string, unknown>;

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

/** The OpenAPI 3.1 document of the routes. */
export function openapiDocument(routes: readonly HttpRoute[], facts: DocumentFacts): Json {
  const paths: Record<string, Json> = {};
  // Collections before their members, so that "place a call" precedes "read a call".
  for (const route of [...routes].sort((a, b) => a.path.length - b.path.length)) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Ringport",
      version: facts.version,
      summary: "Make a phone ring, and know what happened.",
      description:
        "Outbound voice calls through a linked phone number. Errors are problem documents (RFC 9457); " +
        "programs should switch on their `code`. Every route with GET also supports HEAD.",
      license: { name: "MIT", identifier: "MIT" },
    },
    // The first server is relative to the document, so that "Try it out" calls the same origin.
    servers: [{ url: facts.base || "/" }, { url: facts.server }],
    tags: [...new Set(routes.map((route) => route.operation.tag))].map((name) => ({ name })),
    paths,
    webhooks: {
      event: {
        post: {
          operationId: "receiveEvent",
          tags: ["Webhooks"],
          summary: "An event, sent to the URL of a webhook",
          description:
            "The body is an event as GET /v1/events shows it. Verify the signature (Standard Webhooks 1.0) and respond with a " +
            "2xx within 15 s. After any other response the delivery is repeated; 410 disables the webhook.",
          parameters: WEBHOOK_HEADERS,
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: { oneOf: [ref("schemas", "Event"), ref("schemas", "WebhookTest")] } },
            },
          },
          responses: {
            "2XX": { description: "The event was received." },
            410: { description: "The endpoint wants no more events." },
          },
        },
      },
    },
    components: {
      schemas: componentSchemas(facts.limits),
      headers: mapValues(REPLY_HEADERS, (description) => ({ description, schema: { type: "string" } })),
      parameters: mapValues(REQUEST_HEADERS, (description, name) => ({
        name,
        in: "header",
        required: false,
        description,
        schema: { type: "string" },
      })),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "An access token: Authorization: Bearer <ACCESS_TOKEN>. Each operation names the scope that a token with scopes needs.",
        },
        ticket: {
          type: "apiKey",
          in: "query",
          name: "ticket",
          description:
            "A ticket, in place of the access token: valid for one WebSocket of one call, once, within 60 s.",
        },
      },
    },
  };
}

/** The headers of Standard Webhooks. */
const WEBHOOK_HEADERS: readonly Json[] = [
  ["webhook-id", "The id of the event: the same in every attempt, for recognising repetitions."],
  ["webhook-timestamp", "Time of the attempt, seconds since 1970-01-01 UTC."],
  ["webhook-signature", "Signatures separated by spaces: v1, a comma, and Base64 of HMAC-SHA256."],
].map(([name, description]) => ({ name, in: "header", required: true, description, schema: { type: "string" } }));

function operation({ path, operation }: HttpRoute): Json {
  const pathParameters = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: operation.path?.[name] ?? "",
    schema: { type: "string" },
  }));
  const queryParameters = Object.values(operation.query ?? {}).map(({ name, description, schema }) => ({
    name,
    in: "query",
    required: false,
    description,
    schema,
  }));
  const headerParameters = (operation.headers ?? []).map((name) => ref("parameters", name));
  const { body } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    // Any one of these schemes is enough.
    security: [
      ...(operation.access === "open" ? [] : [{ bearer: [operation.access] }]),
      ...(operation.query?.ticket ? [{ ticket: [] }] : []),
    ],
    parameters: [...pathParameters, ...queryParameters, ...headerParameters],
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: {
          "application/json": { schema: ref("schemas", body.schema), examples: BODY_EXAMPLES[body.schema] },
          ...Object.fromEntries((body.media ?? []).map((type) => [type, { schema: { type: "string" } }])),
        },
      },
    }),
    responses: {
      ...mapValues(operation.responses, response),
      ...problemResponses(
        [...(operation.problems ?? []), ...commonProblems(operation)],
        operation.problemPages ? operation.problems : [],
      ),
    },
  };
}

function response({ description, schema, media = [], headers = [] }: DocumentedResponse): Json {
  const content: Json = {};
  if (schema) {
    const example = RESPONSE_EXAMPLES[schema];
    content["application/json"] = { schema: ref("schemas", schema), ...(example && { example }) };
  }
  for (const type of media) content[type] = {};
  return {
    description,
    headers: headerRefs(["X-Request-Id", ...headers]),
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}

function commonProblems({ access }: Operation): ProblemCode[] {
  if (access === "open") return ["internal_error"];
  return ["unauthorized", "insufficient_scope", "rate_limited", "internal_error", "storage_unavailable", "stopping"];
}

/**
 * One response for each status; its description lists the possible codes.
 * @param pages paths that browsers get as `text/html`
 */
function problemResponses(codes: readonly ProblemCode[], pages: readonly ProblemCode[] = []): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
        headers: headerRefs([
          ...["X-Request-Id" as const, ...(PROBLEM_HEADERS[status] ?? [])],
          ...(codes.includes("rate_limited") ? RATE_HEADERS : []),
          ...(codes.includes("insufficient_scope") ? ["WWW-Authenticate" as const] : []),
        ]),
        content: {
          "application/problem+json": {
            schema: ref("schemas", "Problem"),
            examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code) }])),
          },
          ...(codes.some((code) => pages.includes(code)) && { "text/html": {} }),
        },
      },
    ]),
  );
}

const RATE_HEADERS: readonly ReplyHeader[] = ["RateLimit", "RateLimit-Policy"];
const PROBLEM_HEADERS: Readonly<Record<number, readonly ReplyHeader[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

function problemExample(code: ProblemCode): Json {
  const { status, title, example: detail } = PROBLEMS[code];
  return {
    type: `/docs/errors#${code}`,
    title,
    status,
    detail,
    instance: "/v1/calls",
    code,
    request_id: "req_6f1c2a9b0d3e4f5a",
    ...(status === 400 ? { errors: [{ pointer: "", code, detail }] } : {}),
  };
}

const headerRefs = (names: readonly ReplyHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, ref("headers", name)]));

function mapValues<T>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => Json): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
