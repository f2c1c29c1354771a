import type { LinkingCode } from "../../application/use-cases.ts";
import { encodeBase64 } from "../../base/base64.ts";
import type { CreateInstanceInput, UpdateInstanceInput } from "../../domain/instances/instance-input.ts";
import type { Reply } from "../../ports/web.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { LinkingRequests } from "../link-pages/linking-requests.ts";
import type { QrImages } from "../link-pages/qr.ts";
import { createOptions, creationReply, preferenceApplied } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { jsonReply, noContentAfter, record } from "../replies/reply.ts";
import { cursorParameter, expandParameter, limitParameter, readQuery } from "../requests/query-parameter.ts";
import type { RequestContext } from "../requests/request-context.ts";
import type { View } from "../response-types.ts";
import { type HttpRoute, NOT_MODIFIED } from "../route.ts";
import { timestamp } from "../timestamp.ts";
import { connectedInstanceView, instanceDetailsView, instanceView } from "../views/instance-view.ts";
import { linkPageUrl } from "./link-routes.ts";
import { instanceIdOf } from "./record-id.ts";

const path = { instanceId: "The id of the instance, with the prefix inst_." };
const getQuery = { expand: expandParameter(["connection"]) };
/**
 * Maximum ratio of a body to its content, which allows for escapes and white space. Larger bodies, such as a body with
 * millions of keys, are refused unread.
 */
const MAX_BODY_RATIO = 16;
/** Room for brackets, field names and unknown fields, bytes. */
const BODY_OVERHEAD_BYTES = 4096;
const listQuery = { limit: limitParameter(200, "all"), cursor: cursorParameter("inst"), ...getQuery };

/** Dependencies of the linking routes. */
interface LinkingParts {
  /** Public URL of the interface. */
  readonly server: () => string;
  readonly qrImage: QrImages;
  readonly linking: LinkingRequests;
}

/** The routes for the instances of the authenticated user. */
export function instanceRoutes(
  { instances, limits }: Pick<HttpDependencies, "instances" | "limits">,
  readJson: ReadJson,
  { server, qrImage, linking }: LinkingParts,
): HttpRoute[] {
  /**
   * The page behind the code, or a page that shows the code; undefined if the number has been linked in the meantime.
   */
  async function pageOf(context: RequestContext, { payload }: LinkingCode): Promise<string | undefined> {
    if (isWebAddress(payload)) return payload;
    const ticket = await instances.linkTicket(context.caller, instanceIdOf(context)).catch(() => undefined);
    return ticket && linkPageUrl(server(), ticket.ticket);
  }

  const maxContentBytes = MAX_BODY_RATIO * (limits.metadataBytes + limits.nameLength) + BODY_OVERHEAD_BYTES;
  const maxBodyBytes = Math.min(limits.bodyBytes, maxContentBytes);
  return [
    {
      method: "GET",
      path: "/v1/instances/:instanceId",
      operation: {
        id: "getInstance",
        tag: "Instances",
        summary: "Read an instance with its active calls",
        access: "read",
        cost: "small",
        path,
        query: getQuery,
        headers: ["If-None-Match"],
        responses: {
          200: {
            description: "The instance.",
            schema: "InstanceDetails",
            headers: ["ETag"],
          },
          304: NOT_MODIFIED,
        },
        problems: ["invalid_request", "instance_not_found"],
      },
      async run(context) {
        const { expand } = readQuery(context.search, getQuery);
        const instance = await instances.get(context.caller, instanceIdOf(context));
        return record(context, instanceDetailsView(instance, expand?.has("connection") ?? false));
      },
    },
    {
      method: "POST",
      path: "/v1/instances",
      operation: {
        id: "createInstance",
        tag: "Instances",
        summary: "Create an instance",
        access: "admin",
        cost: ["bodies"],
        headers: ["Idempotency-Key", "Prefer"],
        body: { schema: "CreateInstance" },
        responses: {
          201: {
            description: "The instance was created.",
            schema: "Instance",
            headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
          },
        },
        problems: [
          "invalid_request",
          "invalid_json",
          "provider_unknown",
          "idempotency_key_invalid",
          "phone_number_invalid",
          "demo_token_restricted",
          "caller_id_not_allowed",
          "instance_not_found",
          "instance_quota",
          "storage_quota",
          "idempotency_key_in_progress",
          "body_too_large",
          "unsupported_media_type",
          "idempotency_key_reused",
          "request_timeout",
          "server_busy",
        ],
      },
      async run(context) {
        const body = await readJson(context, maxBodyBytes);
        const instance = await instances.create(context.caller, body as CreateInstanceInput, createOptions(context));
        return creationReply(context, instance, instanceView(instance));
      },
    },
    {
      method: "GET",
      path: "/v1/instances",
      operation: {
        id: "listInstances",
        tag: "Instances",
        summary: "List instances, newest first",
        access: "read",
        cost: ["pages", "turns"],
        query: listQuery,
        responses: {
          200: { description: "The list.", schema: "InstanceList", headers: ["Link"] },
        },
        problems: ["invalid_request"],
      },
      async run(context) {
        const { limit, cursor, expand } = readQuery(context.search, listQuery);
        const view = expand?.has("connection") ? connectedInstanceView : instanceView;
        return page(context, limit, cursor, (page) => instances.list(context.caller, page), view);
      },
    },
    {
      method: "PATCH",
      path: "/v1/instances/:instanceId",
      operation: {
        id: "updateInstance",
        tag: "Instances",
        summary: "Change an instance",
        description:
          "Changes the fields that the body names. A callerId applies to calls created from now on; null removes it.",
        access: "admin",
        cost: ["bodies"],
        path,
        headers: ["Prefer"],
        body: { schema: "UpdateInstance" },
        responses: {
          200: {
            description: "The instance as it is now.",
            schema: "Instance",
            headers: ["Preference-Applied"],
          },
        },
        problems: [
          "invalid_request",
          "invalid_json",
          "phone_number_invalid",
          "demo_token_restricted",
          "caller_id_not_allowed",
          "instance_not_found",
          "body_too_large",
          "unsupported_media_type",
          "request_timeout",
          "server_busy",
        ],
      },
      async run(context) {
        const body = (await readJson(context, maxBodyBytes)) as UpdateInstanceInput;
        const { strict } = createOptions(context);
        const instance = await instances.update(context.caller, instanceIdOf(context), body, { strict });
        return jsonReply(200, instanceView(instance), preferenceApplied(context));
      },
    },
    {
      method: "POST",
      path: "/v1/instances/:instanceId/unlink",
      operation: {
        id: "unlinkInstance",
        tag: "Instances",
        summary: "Unlink the phone number of an instance",
        description:
          "The device disappears from the phone, its credentials are erased, and a live call ends as instance_lost. Waiting " +
          "calls keep waiting; the next QR code links another number. Without a linked number, it has no effect. After a 503, " +
          "repeat the request.",
        access: "admin",
        cost: "small",
        path,
        responses: { 200: { description: "The instance without a number.", schema: "Instance" } },
        problems: ["demo_token_restricted", "instance_not_found", "linked_by_operator"],
      },
      async run(context) {
        return jsonReply(200, instanceView(await instances.unlink(context.caller, instanceIdOf(context))));
      },
    },
    {
      method: "DELETE",
      path: "/v1/instances/:instanceId",
      operation: {
        id: "deleteInstance",
        tag: "Instances",
        summary: "Delete an instance",
        description:
          "Ends its calls, unlinks the number and erases its credentials. Its calls stay readable. After a 503, the " +
          "deletion continues automatically; a repeated request returns 204 once it has finished, and 404 after that.",
        access: "admin",
        cost: "small",
        path,
        responses: { 204: { description: "The instance is deleted permanently." } },
        problems: ["demo_token_restricted", "instance_not_found"],
      },
      run: async (context) => noContentAfter(instances.delete(context.caller, instanceIdOf(context))),
    },
    {
      method: "GET",
      path: "/v1/instances/:instanceId/configure",
      operation: {
        id: "configureInstance",
        tag: "Instances",
        summary: "Get the QR code that links a phone number",
        description:
          "Scan it with the messaging application. Codes rotate: request the next one at QR-Expires-At. A network that the " +
          "operator has configured, such as a SIP trunk, links automatically and has no code: 409 once it is linked.",
        access: "admin",
        cost: ["linking"],
        path,
        responses: {
          200: {
            description: "The current code.",
            schema: "LinkingCode",
            media: ["image/png"],
            headers: ["QR-Expires-At", "QR-Sequence", "QR-Page"],
          },
        },
        problems: ["instance_not_found", "instance_already_linked", "qr_unavailable", "server_busy"],
      },
      async run(context) {
        const { caller, signal } = context;
        return linking.run(caller, async () => {
          const code = await instances.configure(caller, instanceIdOf(context), { signal });
          const image = await qrImage(code.payload);
          return linkingCode(code, image, await pageOf(context, code), context.header("accept") ?? "");
        });
      },
    },
  ];
}

/** True for a web address of visible ASCII, which fits into a header. */
function isWebAddress(payload: string): boolean {
  return /^https?:\/\/[\x21-\x7e]+$/i.test(payload);
}

function linkingCode(code: LinkingCode, image: Uint8Array, address: string | undefined, accept: string): Reply {
  const headers = {
    "cache-control": "no-store",
    "qr-expires-at": timestamp(code.expiresAt),
    "qr-sequence": String(code.sequence),
    ...(address !== undefined && { "qr-page": address }),
    vary: "Accept",
  };
  if (/image\/png/i.test(accept) && !/application\/json/i.test(accept))
    return { status: 200, headers: { "content-type": "image/png", ...headers }, body: image };
  const view: View<"LinkingCode"> = {
    instanceId: code.instanceId,
    qrCodeBase64: encodeBase64(image),
    message: code.message,
  };
  return jsonReply(200, view, headers);
}
