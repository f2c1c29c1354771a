import type { SipHeaders } from "../message/headers.ts";
import { optionTags } from "../message/headers.ts";
import { parseSessionExpires, writeSessionExpires } from "../message/session-expires.ts";
import type { HeaderField } from "./agent.ts";

/** The session interval that we request, s (RFC 4028 section 4.2). */
export const SESSION_EXPIRES_S = 1800;

/** The shortest interval that we accept, s (RFC 4028 section 4.3). */
export const LEAST_SESSION_S = 90;

/** The agreed interval and refresher: the session expires unless it is refreshed. */
export interface SessionTerms {
  readonly intervalS: number;
  /** Whether we are the refresher. */
  readonly ours: boolean;
}

/** The terms in the 2xx to a request of ours; without a refresher parameter we refresh (RFC 4028 section 7.2). */
export function termsOfAnswer(headers: SipHeaders): SessionTerms | undefined {
  const asked = parseSessionExpires(headers.get("Session-Expires"));
  return asked && { intervalS: asked.seconds, ours: asked.refresher !== "uas" };
}

/**
 * The terms in a request of the peer, and the fields of our 2xx (RFC 4028 section 9): the peer refreshes if it chooses
 * to, else we do.
 */
export function termsOfRequest(headers: SipHeaders): { terms: SessionTerms; fields: HeaderField[] } | undefined {
  const asked = parseSessionExpires(headers.get("Session-Expires"));
  if (asked === undefined) return undefined;
  const knowsTimers = optionTags(headers, "Supported").includes("timer");
  const ours = !(knowsTimers && asked.refresher === "uac");
  const fields: HeaderField[] = [
    ["Session-Expires", writeSessionExpires({ ...asked, refresher: ours ? "uas" : "uac" })],
  ];
  if (knowsTimers) fields.push(["Require", "timer"]);
  return { terms: { intervalS: asked.seconds, ours }, fields };
}
