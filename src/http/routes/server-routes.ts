import type { HttpDependencies } from "../dependencies.ts";
import { audioThreadsText, figuresText, type RequestMeter } from "../metrics.ts";
import { problem } from "../problems/problem.ts";
import { entityTag } from "../replies/entity-tag.ts";
import { jsonReply, notModified } from "../replies/reply.ts";
import type { View } from "../response-types.ts";
import { type HttpRoute, NOT_MODIFIED } from "../route.ts";

const STATE = { "cache-control": "no-store" };

/**
 * Public routes for operators and programs, about the server itself.
 * @param document makes the OpenAPI document
 */
export function serverRoutes(
  { queries, log }: Pick<HttpDependencies, "queries" | "log">,
  meter: RequestMeter,
  document: () => Promise<unknown>,
): HttpRoute[] {
  let openapi: { readonly body: string; readonly etag: string } | undefined;
  return [
    {
      method: "GET",
      path: "/healthz",
      operation: {
        id: "health",
        tag: "Server",
        summary: "Check that the process is alive",
        access: "open",
        cost: "small",
        responses: { 200: { description: "The process is alive.", schema: "State" } },
      },
      run: () => jsonReply(200, { status: "ok" } satisfies View<"State">, STATE),
    },
    {
      method: "GET",
      path: "/readyz",
      operation: {
        id: "readiness",
        tag: "Server",
        summary: "Check that the server can take requests",
        access: "open",
        cost: "small",
        responses: { 200: { description: "The server is ready.", schema: "State" } },
        problems: ["not_ready"],
      },
      async run(context) {
        const isReady = await queries.ready().catch((cause: unknown) => {
          log.warn({ request_id: context.requestId, err: cause }, "the readiness check failed");
          return false;
        });
        if (!isReady) return problem(context, "not_ready", "the storage does not respond, or the server is stopping");
        const threads = queries.audioThreads();
        const isOverloaded = threads.length > 0 && threads.every((thread) => thread.isOverloaded);
        const state: View<"State"> = { status: "ready", ...(isOverloaded && { audio: "overloaded" }) };
        return jsonReply(200, state, STATE);
      },
    },
    {
      method: "GET",
      path: "/metrics",
      operation: {
        id: "metrics",
        tag: "Server",
        summary: "Get metrics in the Prometheus text format",
        access: "open",
        cost: "small",
        responses: { 200: { description: "The metrics.", media: ["text/plain"] } },
      },
      async run(context) {
        // The request counters matter most when the storage is unavailable.
        const figures = await queries.figures().then(figuresText, (cause: unknown) => {
          log.warn({ request_id: context.requestId, err: cause }, "the metrics of the calls could not be read");
          return "";
        });
        return {
          status: 200,
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", ...STATE },
          body: meter.text() + audioThreadsText(queries.audioThreads()) + figures,
        };
      },
    },
    {
      method: "GET",
      path: "/openapi.json",
      operation: {
        id: "openapi",
        tag: "Server",
        summary: "This document",
        access: "open",
        cost: "small",
        headers: ["If-None-Match"],
        responses: {
          200: { description: "OpenAPI 3.1.", media: ["application/json"], headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
      },
      async run(context) {
        if (!openapi) {
          const body = JSON.stringify(await document());
          openapi = { body, etag: entityTag(body) };
        }
        const { body, etag } = openapi;
        const headers = { "cache-control": "no-cache", etag };
        return (
          notModified(context, headers) ?? {
            status: 200,
            headers: { "content-type": "application/json", ...headers },
            body,
          }
        );
      },
    },
  ];
}
