import type { InviteEnd } from "../dialog/invite.ts";
import type { SipResponse } from "../message/message.ts";
import { parseReasons, parseRetryAfter, parseWarning, type Reason } from "../message/reason-fields.ts";
import { mediaRefusal, type OfferTraits } from "./media-refusal.ts";
import { oneLine } from "./one-line.ts";
import type { Release } from "./release.ts";
import { meaningOf } from "./release-causes.ts";
import { whatsAppRefusal } from "./whatsapp-refusals.ts";

/** The longest Retry-After that is respected, ms. */
const LONGEST_PAUSE_MS = 3_600_000;
/** The most reasons of a message that a detail shows. */
const MOST_REASONS = 3;

/** The options of a trunk that matter here: its offer, whether it is WhatsApp's, whether redirections are followed. */
interface TrunkTraits extends OfferTraits {
  readonly whatsApp?: boolean;
  readonly followRedirects?: boolean;
}

/** The release of the telephony port for the end of an INVITE usage. */
export function releaseOf(end: InviteEnd, trunk: TrunkTraits = {}): Release {
  switch (end.type) {
    case "rejected":
      return rejected(end, trunk);
    case "bye":
      return { cause: "callee_hung_up", detail: `SIP BYE${reasonsText(parseReasons(end.reason))}` };
    case "released":
      return { cause: "released", detail: null };
    case "unreachable":
      return { cause: "unreachable", detail: oneLine(end.detail) };
    case "media":
      return { cause: "media_failed", detail: oneLine(end.detail) };
    case "protocol":
      return { cause: "rejected_by_network", detail: oneLine(end.detail) };
  }
}

function rejected(end: Extract<InviteEnd, { type: "rejected" }>, trunk: TrunkTraits): Release {
  const { response, refusal } = end;
  const { whatsApp = false, followRedirects = false } = trunk;
  const { status, headers } = response;
  const reasons = parseReasons(headers.fields("Reason").join());
  const q850 = reasons.find(({ protocol }) => protocol === "Q.850")?.cause;
  const { cause, fix } = meaningOf(status, end, q850);
  const warning = headers.list("Warning").map(parseWarning)[0]?.text;
  const raw = `${statusText(response)}${reasonsText(reasons)}${warning === undefined ? "" : ` (${oneLine(warning)})`}`;
  const known = whatsApp && status < 500 ? whatsAppRefusal(oneLine(`${response.reason} ${warning ?? ""}`)) : undefined;
  const advice =
    redirection(response, followRedirects) ??
    [refusal?.detail, mediaRefusal(response, trunk) ?? fix].filter(isPresent).join("; ");
  const detail =
    known === undefined
      ? `${raw}${advice === "" ? "" : `: ${oneLine(advice)}`}`
      : `${known.code}: ${raw}: ${known.fix}`;
  const retryAfterMs = status === 503 ? retryAfterMsOf(response) : undefined;
  return retryAfterMs === undefined ? { cause, detail } : { cause, detail, retryAfterMs };
}

/** `SIP 486 Busy Here`. */
export function statusText({ status, reason }: SipResponse): string {
  return oneLine(`SIP ${status} ${reason}`.trim());
}

/** The Retry-After of a response, ms, at most an hour; undefined without one. */
export function retryAfterMsOf({ headers }: SipResponse): number | undefined {
  const seconds = parseRetryAfter(headers.get("Retry-After"));
  return seconds === undefined ? undefined : Math.min(seconds * 1_000, LONGEST_PAUSE_MS);
}

/** ` (Q.850 17)`, ` (SIP 408 "RTP Timeout")`, or nothing. */
function reasonsText(reasons: readonly Reason[]): string {
  const texts = reasons.slice(0, MOST_REASONS).map(({ protocol, cause, text }) => {
    const known = protocol === "Q.850" && cause !== undefined;
    return oneLine(
      [protocol, cause, known || text === undefined ? undefined : `"${text}"`].filter(isPresent).join(" "),
    );
  });
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

const isPresent = (part: string | number | undefined): boolean => part !== undefined;

function redirection({ status, headers }: SipResponse, followRedirects: boolean): string | undefined {
  if (status >= 400) return undefined;
  const contact = headers.get("Contact");
  if (contact === undefined) return "the trunk redirects the call, but names no URI";
  const elsewhere = `the trunk redirects the call to ${contact}`;
  return followRedirects
    ? `${elsewhere}, which was tried already or may not be called`
    : `${elsewhere}; set \`followRedirects\` to follow it`;
}
