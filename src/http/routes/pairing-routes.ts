import type { PairingInput } from "../../domain/instances/pairing-input.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { LinkingRequests } from "../link-pages/linking-requests.ts";
import { createOptions, preferenceApplied } from "../replies/creation.ts";
import { jsonReply } from "../replies/reply.ts";
import type { View } from "../response-types.ts";
import type { HttpRoute } from "../route.ts";
import { timestamp } from "../timestamp.ts";
import { instanceIdOf } from "./record-id.ts";

/** Maximum size of a body, bytes: one number, escapes and white space. */
const MAX_BODY = 4 * 1024;

/** The route for a code that is typed on the phone instead of being scanned. */
export function pairingRoutes(
  { instances }: Pick<HttpDependencies, "instances">,
  readJson: ReadJson,
  linking: LinkingRequests,
): HttpRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/instances/:instanceId/pairing-code",
      operation: {
        id: "createPairingCode",
        tag: "Instances",
        summary: "Get a code to type on the phone, instead of a QR code",
        description:
          "For a phone that cannot scan. Only some networks have such codes; others have the QR code of " +
          "GET /v1/instances/{instanceId}/configure.",
        access: "admin",
        cost: ["bodies", "linking"],
        path: { instanceId: "The id of the instance, with the prefix inst_." },
        headers: ["Prefer"],
        body: { schema: "CreatePairingCode" },
        responses: { 200: { description: "The code.", schema: "PairingCode", headers: ["Preference-Applied"] } },
        problems: [
          ...(["invalid_request", "invalid_json", "phone_number_invalid", "instance_not_found"] as const),
          ...(["instance_already_linked", "pairing_code_unsupported", "pairing_code_unavailable"] as const),
          ...(["body_too_large", "unsupported_media_type", "request_timeout", "server_busy"] as const),
        ],
      },
      async run(context) {
        const id = instanceIdOf(context);
        const body = (await readJson(context, MAX_BODY)) as PairingInput;
        const { strict } = createOptions(context);
        const { caller, signal } = context;
        const pairing = await linking.run(caller, () => instances.pairingCode(caller, id, body, { strict, signal }));
        const view: View<"PairingCode"> = {
          instanceId: pairing.instanceId,
          pairingCode: pairing.code,
          expires_at: timestamp(pairing.expiresAt),
          message: pairing.message,
        };
        return jsonReply(200, view, { "cache-control": "no-store", ...preferenceApplied(context) });
      },
    },
  ];
}
