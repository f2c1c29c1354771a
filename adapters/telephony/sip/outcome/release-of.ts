import type { InviteEnd } from "../dialog/invite.ts";
import type { SipResponse } from "../message/message.ts";
import { parseReason, q850Of } from "./reason.ts";
import type { Release } from "./release.ts";
import { meaningOf } from "./release-causes.ts";
import { whatsAppRefusal } from "./whatsapp-refusals.ts";

/** However long a server wants to be left alone, it is asked again after this. */
const LONGEST_REST_MS = 3_600_000;
/** What the far side writes into a detail is cut there. */
const LONGEST_PHRASE = 200;

/** What the end of an INVITE usage is in the words of the port. @param whatsApp the trunk is WhatsApp's */
export function releaseOf(end: InviteEnd, { whatsApp = false }: { whatsApp?: boolean } = {}): Release {
  switch (end.type) {
    case "rejected":
      return rejected(end.response, end.rang, whatsApp);
    case "bye":
      return { cause: "callee_hung_up", detail: `SIP BYE${reasonText(end.reason === undefined ? [] : [end.reason])}` };
    case "released":
      return { cause: "released", detail: null };
    case "unreachable":
      return { cause: "unreachable", detail: phrase(end.detail) };
    case "media":
      return { cause: "media_failed", detail: phrase(end.detail) };
    case "protocol":
      return { cause: "rejected_by_network", detail: phrase(end.detail) };
  }
}

function rejected(response: SipResponse, rang: boolean, whatsApp: boolean): Release {
  const { status, headers } = response;
  const reasons = headers.fields("Reason");
  const { cause, fix } = meaningOf(status, rang, q850Of(reasons.flatMap(parseReason)));
  const warning = warningOf(headers.get("Warning"));
  const raw = `${statusText(response)}${reasonText(reasons)}${warning === undefined ? "" : ` (${warning})`}`;
  const known = whatsApp && status < 500 ? whatsAppRefusal(`${response.reason} ${warning ?? ""}`) : undefined;
  const detail =
    known === undefined
      ? `${raw}${redirection(response) ?? (fix === undefined ? "" : `: ${fix}`)}`
      : `${known.code}: ${raw}: ${known.fix}`;
  const retryAfterMs = status === 503 ? retryAfter(headers.get("Retry-After")) : undefined;
  return retryAfterMs === undefined ? { cause, detail } : { cause, detail, retryAfterMs };
}

/** `SIP 486 Busy Here`. */
export function statusText({ status, reason }: SipResponse): string {
  return phrase(`SIP ${status} ${reason}`.trim());
}

/** The ms of a Retry-After field (`18000;duration=3600 (I'm in a meeting)`); undefined where it names no number. */
export function retryAfter(field: string | undefined): number | undefined {
  const [, seconds] = /^\s*(\d{1,10})/.exec(field ?? "") ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, LONGEST_REST_MS);
}

/** ` (Q.850 17)`, ` (SIP 408 "RTP Timeout")`, or nothing. */
function reasonText(fields: readonly string[]): string {
  const said = fields.flatMap(parseReason).map(({ protocol, cause, text }) => {
    const known = protocol.toUpperCase() === "Q.850" && cause !== undefined;
    return phrase(`${protocol} ${cause ?? ""}${text === undefined || known ? "" : ` "${text}"`}`.trim());
  });
  return said.length === 0 ? "" : ` (${said.slice(0, 3).join(", ")})`;
}

/** `Warning: 399 host "text"` (RFC 3261 section 20.43) as `Warning 399 "text"`. */
function warningOf(field: string | undefined): string | undefined {
  const [, code, text] = /^\s*(\d{3})\s+\S+\s+"((?:[^"\\]|\\.)*)"/.exec(field ?? "") ?? [];
  return code === undefined ? undefined : phrase(`Warning ${code} "${text}"`);
}

function redirection({ status, headers }: SipResponse): string | undefined {
  if (status >= 400) return undefined;
  const contact = headers.get("Contact");
  return contact === undefined
    ? ": the trunk names no other place to call"
    : `: the trunk wants the call elsewhere (${phrase(contact)}); set \`followRedirects\` to follow it`;
}

/** What the far side wrote, fit for one line. */
function phrase(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is taken out
  const line = text.slice(0, 2 * LONGEST_PHRASE).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line.length > LONGEST_PHRASE ? `${line.slice(0, LONGEST_PHRASE)}…` : line;
}
