import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Reply } from "../../../src/ports/web.ts";

/** A request to the HTTP API that is recorded in the audit log. */
interface AuditedAct {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path of its route; `:id` is the subject. */
  readonly path: string;
  readonly action: string;
}

/** All changes that need the scope `admin`; a test compares this table with the routes. */
export const AUDITED_ACTS: readonly AuditedAct[] = [
  { method: "POST", path: "/v1/instances", action: "instance.created" },
  { method: "PATCH", path: "/v1/instances/:id", action: "instance.changed" },
  { method: "DELETE", path: "/v1/instances/:id", action: "instance.deleted" },
  { method: "POST", path: "/v1/instances/:id/unlink", action: "instance.unlinked" },
  { method: "POST", path: "/v1/instances/:id/link-page", action: "instance.link_page_created" },
  { method: "POST", path: "/v1/instances/:id/pairing-code", action: "instance.pairing_code_created" },
  { method: "DELETE", path: "/v1/calls/:id/recording", action: "recording.deleted" },
  { method: "POST", path: "/v1/webhooks", action: "webhook.created" },
  { method: "PATCH", path: "/v1/webhooks/:id", action: "webhook.changed" },
  { method: "DELETE", path: "/v1/webhooks/:id", action: "webhook.deleted" },
  { method: "POST", path: "/v1/webhooks/:id/rotate-secret", action: "webhook.secret_rotated" },
  { method: "POST", path: "/v1/webhooks/:id/test", action: "webhook.tested" },
  { method: "POST", path: "/v1/webhooks/:id/deliveries/:delivery/replay", action: "webhook.delivery_replayed" },
  { method: "PUT", path: "/v1/consents/:id", action: "consent.recorded" },
  { method: "DELETE", path: "/v1/consents/:id", action: "consent.deleted" },
];

/**
 * The action recorded in the audit log for a request; undefined if none.
 * @param path path in the HTTP API
 */
export function auditedAct(
  { method }: Pick<RequestContext, "method">,
  path: string,
  reply: Reply,
): { action: string; subject: string } | undefined {
  if (reply.status >= 300) return undefined;
  const parts = path.split("/");
  for (const act of AUDITED_ACTS) {
    const pattern = act.path.split("/");
    if (act.method !== method || pattern.length !== parts.length) continue;
    if (!pattern.every((part, index) => part.startsWith(":") || part === parts[index])) continue;
    const idIndex = pattern.indexOf(":id");
    const subject = idIndex >= 0 ? decodedPart(parts[idIndex] ?? "") : createdId(reply);
    return subject === undefined ? undefined : { action: act.action, subject };
  }
  return undefined;
}

/** The decoded parameter of a percent-encoded path. */
function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The id of the created record; undefined if it already existed. */
const createdId = ({ headers }: Reply): string | undefined => headers.location?.replace(/^.*\//s, "");
