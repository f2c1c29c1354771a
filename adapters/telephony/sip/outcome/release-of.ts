import type { InviteEnd } from "../../../sip-stack/dialog/invite.ts";
import { parseReasons, parseRetryAfter, parseWarning, type Reason } from "../../../sip-stack/message/header-values.ts";
import { oneLine, type SipResponse, statusText } from "../../../sip-stack/message/sip-message.ts";
import { mediaRefusal, type OfferTraits } from "./media-refusal.ts";
import { type NetworkDecision, networkDecision, providerFields, redressOf } from "./network-decision.ts";
import type { Release } from "./release.ts";
import { BLOCKED_FIX, meaningOf, Q850_MEANINGS, type StatusMeaning } from "./release-causes.ts";
import { whatsAppRefusal } from "./whatsapp-refusals.ts";

/** Maximum Retry-After that is respected, ms. */
const MAX_PAUSE_MS = 3_600_000;
/** Maximum length of the advice in a detail, characters. */
const MAX_ADVICE = 400;
/** Maximum number of a message's reasons shown in a detail. */
const MAX_REASONS = 3;

/** The options of a trunk that affect its calls' releases. */
interface TrunkTraits extends OfferTraits {
  readonly whatsApp?: boolean;
  readonly followRedirects?: boolean;
}

/**
 * The telephony port's release for the end of an INVITE usage.
 * @param answered true if the call had been answered. Default: true
 */
export function sipRelease(end: InviteEnd, trunk: TrunkTraits = {}, answered: boolean = true): Release {
  switch (end.type) {
    case "rejected":
      return releaseOfRejection(end, trunk);
    case "bye":
      return releaseOfBye(parseReasons(end.reason), answered);
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

/** A BYE before the answer follows a lost 2xx, or ends a fork: it does not prove that a person declined. */
function releaseOfBye(reasons: readonly Reason[], answered: boolean): Release {
  const detail = `SIP BYE${reasonsText(reasons)}`;
  if (answered) return { cause: "callee_hung_up", detail, ...(reasons.some(isFault) && { fault: true }) };
  const q850 = reasons.find(({ protocol }) => protocol === "Q.850")?.cause ?? 0;
  const cause = Q850_MEANINGS[q850] ?? "media_failed";
  return { cause: cause === "declined" ? "rejected_by_network" : cause, detail: `${detail} before an answer` };
}

/** Q.850: normal call clearing, and normal without further detail. */
const NORMAL_CAUSES: ReadonlySet<number> = new Set([16, 31]);

/** True if a BYE has a reason other than a normal hang-up, such as 408 from a peer that got no RTP. */
function isFault({ protocol, cause }: Reason): boolean {
  if (cause === undefined) return false;
  return protocol === "Q.850" ? !NORMAL_CAUSES.has(cause) : protocol === "SIP" && cause >= 400;
}

function releaseOfRejection(end: Extract<InviteEnd, { type: "rejected" }>, trunk: TrunkTraits): Release {
  const { response, refusal } = end;
  const { whatsApp = false, followRedirects = false } = trunk;
  const { status, headers } = response;
  const reasons = parseReasons(headers.fields("Reason").join());
  const q850 = reasons.find(({ protocol }) => protocol === "Q.850")?.cause;
  const meaning = meaningOf(status, end, q850);
  const decision = status < 400 ? undefined : networkDecision(response, reasons);
  const isDecided = decision !== undefined && (decision.isDefinite || meaning.cause === "declined");
  const { cause, fix } = isDecided ? networkMeaning(decision, meaning) : withStaleDate(meaning, response);
  const warning = headers.list("Warning").map(parseWarning)[0]?.text;
  const fieldTexts = providerFields(response).map(([name, value]) => ` (${oneLine(`${name}: ${value}`)})`);
  const warningText = warning === undefined ? "" : ` (${oneLine(warning)})`;
  const responseText = `${statusText(response)}${reasonsText(reasons)}${warningText}${fieldTexts.join("")}`;
  const whatsAppMeaning =
    whatsApp && status < 500 ? whatsAppRefusal(oneLine(`${response.reason} ${warning ?? ""}`)) : undefined;
  const advice =
    redirection(response, followRedirects) ??
    [refusal?.detail, mediaRefusal(response, trunk) ?? fix].filter(isPresent).join("; ");
  const redress = redressOf(response)
    .map((contact) => oneLine(contact))
    .join(", ");
  const objection = redress === "" ? "" : `; object at ${redress}`;
  const detail =
    whatsAppMeaning === undefined
      ? `${responseText}${advice === "" ? "" : `: ${oneLine(advice, MAX_ADVICE)}`}${objection}`
      : `${whatsAppMeaning.code}: ${responseText}: ${whatsAppMeaning.fix}`;
  const retryAfterMs = status === 503 ? retryAfterMsOf(response) : undefined;
  return retryAfterMs === undefined ? { cause, detail } : { cause, detail, retryAfterMs };
}

/** The meaning of a refusal that was the network's decision. */
function networkMeaning({ reason, cause }: NetworkDecision, { fix, isDefinite }: StatusMeaning): StatusMeaning {
  if (cause !== undefined) return { cause, fix: reason };
  return {
    cause: "rejected_by_network",
    fix: `${reason}; ${isDefinite === true && fix !== undefined ? fix : BLOCKED_FIX}`,
  };
}

/** 403 Stale Date (RFC 8224 section 6.2.2): the signature of the caller ID is too old. */
function withStaleDate(meaning: StatusMeaning, { status, reason }: SipResponse): StatusMeaning {
  if (status !== 403 || !/^\s*stale date/i.test(reason)) return meaning;
  return {
    cause: "rejected_by_network",
    fix: "the signature of our caller ID (STIR) is too old; the provider must set its clock",
  };
}

/** The Retry-After of a response, ms, at most an hour; undefined without one. */
export function retryAfterMsOf({ headers }: SipResponse): number | undefined {
  const seconds = parseRetryAfter(headers.get("Retry-After"));
  return seconds === undefined ? undefined : Math.min(seconds * 1_000, MAX_PAUSE_MS);
}

/** The reasons as text: ` (Q.850 17)`, ` (SIP 408 "RTP Timeout")`, or empty. */
function reasonsText(reasons: readonly Reason[]): string {
  const texts = reasons.slice(0, MAX_REASONS).map(({ protocol, cause, text, location }) => {
    const isQ850Cause = protocol === "Q.850" && cause !== undefined;
    // The fields of an analytics service are shown as addresses for an objection.
    const phrase = text?.startsWith("v=") ? text.split(";", 1)[0] : text;
    return oneLine(
      [protocol, cause, isQ850Cause || phrase === undefined ? location : `"${phrase}"`].filter(isPresent).join(" "),
    );
  });
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

const isPresent = (part: string | number | undefined): boolean => part !== undefined;

function redirection({ status, headers }: SipResponse, followRedirects: boolean): string | undefined {
  if (status >= 400) return undefined;
  const contact = headers.get("Contact");
  if (contact === undefined) return "the trunk redirects the call, but names no URI";
  const summary = `the trunk redirects the call to ${contact}`;
  return followRedirects
    ? `${summary}, which was already tried or may not be called`
    : `${summary}; set \`followRedirects\` to follow it`;
}
