import type { StoredConsent } from "../../application/use-cases.ts";
import { CONSENT_STATUSES } from "../../domain/dialling-rules/consent.ts";
import type { ConsentInput } from "../../domain/dialling-rules/consent-input.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, preferenceApplied } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { jsonReply, noContentAfter, record } from "../replies/reply.ts";
import { choiceParameter, limitParameter, phoneCursorParameter, readQuery } from "../requests/query-parameter.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { type HttpRoute, NOT_MODIFIED, operationsOf } from "../route.ts";
import { consentView } from "../views/consent-view.ts";

const path = { phone: "The number, E.164; its plus may be written as + or as %2B." };
/** Maximum size of a body, bytes: a long source, escapes and white space. */
const MAX_BODY = 16 * 1024;
const listQuery = {
  status: choiceParameter("status", "Only consents with this status.", CONSENT_STATUSES),
  limit: limitParameter(1000, "all"),
  cursor: phoneCursorParameter(),
};

/** The routes for the consents of callees. */
export function consentRoutes({ consents }: Pick<HttpDependencies, "consents">, readJson: ReadJson): HttpRoute[] {
  const operation = operationsOf("Consents");

  return [
    {
      method: "PUT",
      path: "/v1/consents/:phone",
      operation: operation("putConsent", "Record whether a number may be called", {
        access: "admin",
        cost: ["bodies"],
        description: "Replaces what was recorded before.",
        path,
        headers: ["Prefer"],
        body: { schema: "PutConsent" },
        responses: {
          200: {
            description: "The consent replaced an earlier one.",
            schema: "Consent",
            headers: ["Preference-Applied"],
          },
          201: {
            description: "The consent is the first one for this number.",
            schema: "Consent",
            headers: ["Location", "Preference-Applied"],
          },
        },
        problems: [
          ...(["invalid_request", "invalid_json", "phone_number_invalid", "demo_token_restricted"] as const),
          ...(["consent_quota", "body_too_large", "unsupported_media_type", "request_timeout", "server_busy"] as const),
        ],
      }),
      async run(context) {
        const body = (await readJson(context, MAX_BODY)) as ConsentInput;
        const { strict } = createOptions(context);
        const consent: StoredConsent = await consents.put(context.caller, phoneOf(context), body, { strict });
        const { base } = context;
        const locationHeader = consent.created && {
          location: `${base}/v1/consents/${encodeURIComponent(consent.phone)}`,
        };
        return jsonReply(locationHeader ? 201 : 200, consentView(consent), {
          ...locationHeader,
          ...preferenceApplied(context),
        });
      },
    },
    {
      method: "GET",
      path: "/v1/consents/:phone",
      operation: operation("getConsent", "Read whether a number may be called", {
        access: "read",
        cost: "small",
        path,
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The consent.", schema: "Consent", headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: ["phone_number_invalid", "demo_token_restricted", "consent_not_found"],
      }),
      run: async (context) => record(context, consentView(await consents.get(context.caller, phoneOf(context)))),
    },
    {
      method: "DELETE",
      path: "/v1/consents/:phone",
      operation: operation("deleteConsent", "Delete the consent for a number", {
        access: "admin",
        cost: "small",
        path,
        responses: { 204: { description: "The consent was deleted." } },
        problems: ["phone_number_invalid", "demo_token_restricted", "consent_not_found"],
      }),
      run: async (context) => noContentAfter(consents.delete(context.caller, phoneOf(context))),
    },
    {
      method: "GET",
      path: "/v1/consents",
      operation: operation("listConsents", "List the recorded consents", {
        access: "read",
        cost: ["pages", "turns"],
        description: "By ascending number.",
        query: listQuery,
        responses: { 200: { description: "The list.", schema: "ConsentList", headers: ["Link"] } },
        problems: ["invalid_request", "demo_token_restricted"],
      }),
      async run(context) {
        const { status, limit, cursor } = readQuery(context.search, listQuery);
        const read = async (part: { limit?: number | undefined; after?: string | undefined }) =>
          (await consents.list(context.caller, { status }, part)).map((consent) => ({ ...consent, id: consent.phone }));
        return page(context, limit, cursor, read, consentView);
      },
    },
  ];
}

function phoneOf(context: RequestContext): string {
  return context.params.phone ?? "";
}
