import type { SipHeaders } from "../message/headers.ts";
import { optionTags } from "../message/headers.ts";
import { parseSessionExpires, writeSessionExpires } from "../message/session-expires.ts";
import type { HeaderField } from "./agent.ts";

/** The interval that we ask for, s (RFC 4028 section 4.2). */
export const SESSION_EXPIRES_S = 1800;

/** The shortest interval that anybody may ask us for, s (RFC 4028 section 4.3). */
export const LEAST_SESSION_S = 90;

/** What a session's parties have agreed on: it ends unless it is refreshed. */
export interface SessionTerms {
  readonly intervalS: number;
  /** Whether it is us who refreshes. */
  readonly ours: boolean;
}

/** What the 2xx to a request of ours settles; without a refresher it is us (RFC 4028 section 7.2). */
export function termsOfAnswer(headers: SipHeaders): SessionTerms | undefined {
  const asked = parseSessionExpires(headers.get("Session-Expires"));
  return asked && { intervalS: asked.seconds, ours: asked.refresher !== "uas" };
}

/**
 * What a request of the far side settles, and what our 2xx says of it (RFC 4028 section 9): the far side refreshes
 * where it wants to, and we do where it leaves it open.
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
