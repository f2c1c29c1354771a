import type { ReleaseCause } from "../../../../src/ports/telephony.ts";
import { parseWarning, type Reason } from "../../../sip-stack/message/header-values.ts";
import { parseNameAddr } from "../../../sip-stack/message/name-addr.ts";
import type { SipResponse } from "../../../sip-stack/message/sip-message.ts";
import { Q850_MEANINGS } from "./release-causes.ts";

/** A network's decision to refuse a call that its callee may never have seen. */
export interface NetworkDecision {
  /** True if the decision applies regardless of the status, because it names an analytics service or STIR. */
  readonly isDefinite: boolean;
  /** The way in which the network refused the call: `blocked by an analytics service`. */
  readonly reason: string;
  /** The outcome. Default: `rejected_by_network`. */
  readonly cause?: ReleaseCause;
}

/** Maximum length of the part of a field that is searched, characters. */
const MAX_SEARCHED = 2_000;
/** Maximum number of Reason or Warning elements that are searched. */
const MAX_ELEMENTS = 10;

/** The text of an analytics service (ATIS-1000099): `v=analytics1;url=…;tel=…`. */
const ANALYTICS = /\bv=analytics/i;
/** Statuses in a Reason that only a network gives: unwanted, rejected by an intermediary, and the failures of STIR. */
const NETWORK_STATUSES: ReadonlySet<number> = new Set([428, 436, 437, 438, 607, 608]);
/** Q.850 causes that a phone may give; any other cause with a 603 comes from a network. */
const PERSONAL_CAUSES: ReadonlySet<number> = new Set([16, 17, 18, 19, 21, 31, 127]);

const UNKNOWN_NUMBER: NetworkDecision = {
  isDefinite: false,
  reason: "the network knows no such number",
  cause: "number_invalid",
};

const NETWORK_WORDS =
  /\b(?:network|carrier|operator|provider|analytics?|spam|scam|fraud\w*|robo-?calls?|nuisance|unwanted|block(?:ed|ing|list(?:ed)?)|blacklist(?:ed)?|barr(?:ed|ing)|filter(?:ed|ing)?|polic(?:y|ies)|not[ _-]?(?:allowed|permitted|authori[sz]ed)|forbidden|reputation|attestation|stir|quota|limit(?:ed)?|balance|credit|congestion)\b/i;
const NETWORK_NOUNS = /\b(?:network|carrier|operator|provider|analytics?)\b/i;
const BY_PERSON = /\bby[ _-]?(?:the[ _-]?)?(?:user|callee|called[ _-]party|subscriber|customer|recipient|person)\b/i;

/** The network's decision behind a refusal; undefined if the refusal names none. */
export function networkDecision(response: SipResponse, reasons: readonly Reason[]): NetworkDecision | undefined {
  const { status, headers } = response;
  const reasonText = headers.fields("Reason").join().slice(0, MAX_SEARCHED);
  if (ANALYTICS.test(reasonText))
    return { isDefinite: true, reason: "an analytics service of the network blocked the call" };
  const elements = reasons.slice(0, MAX_ELEMENTS);
  const isStir = elements.some(({ protocol }) => protocol === "STIR");
  if (isStir) return { isDefinite: true, reason: "the network could not verify the caller ID (STIR)" };
  const isNetworkStatus = elements.some(({ protocol, cause = 0 }) => protocol === "SIP" && NETWORK_STATUSES.has(cause));
  if (isNetworkStatus || cardOf(response) !== undefined)
    return { isDefinite: true, reason: "the network blocked the call" };
  const warnings = headers.list("Warning").slice(0, MAX_ELEMENTS).map(parseWarning);
  const texts = [response.reason, ...elements.map(({ text }) => text), ...warnings.map((warning) => warning?.text)];
  if (texts.some((text) => namesNetwork(text ?? "")))
    return { isDefinite: false, reason: "the network refused the call" };
  const q850 = elements.find(({ protocol }) => protocol === "Q.850");
  if (q850?.location !== undefined && !isUserLocation(q850.location))
    return { isDefinite: false, reason: `the network refused the call (location ${q850.location.slice(0, 20)})` };
  if (status === 603 && q850?.cause !== undefined && !PERSONAL_CAUSES.has(q850.cause)) {
    if (Q850_MEANINGS[q850.cause] === "number_invalid") return UNKNOWN_NUMBER;
    return { isDefinite: false, reason: "the network refused the call" };
  }
  if (providerFields(response).some(([, value]) => isRefusal(value)))
    return { isDefinite: false, reason: "the provider refused the call" };
  return undefined;
}

/** True if the text names the network, or an act that only networks carry out; false if it names a person. */
export function namesNetwork(text: string): boolean {
  const excerpt = text.slice(0, MAX_SEARCHED).replaceAll("_", " ");
  return NETWORK_WORDS.test(excerpt) && (!BY_PERSON.test(excerpt) || NETWORK_NOUNS.test(excerpt));
}

/** True for the location `U`, the user; the other locations are networks (RFC 8606). */
function isUserLocation(location: string): boolean {
  return /^(?:u|user|0)$/i.test(location.trim());
}

/** Names of provider-specific fields that explain a failure: `X-Twilio-Error`, `X-Carrier-Reason-Code`. */
const EXPLANATORY_NAME = /^x-.*(?:error|reason|(?<!en|de)code(?!c|r)|cause|block|reject|warning)/i;
const MAX_PROVIDER_FIELDS = 3;
const MAX_PROVIDER_NAME = 60;

/** The provider's fields that explain the failure, at most three, with their names. */
export function providerFields({ headers }: SipResponse): (readonly [name: string, value: string])[] {
  const fields: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (name.length > MAX_PROVIDER_NAME || value.trim() === "" || !EXPLANATORY_NAME.test(name)) continue;
    if (fields.push([name, value.slice(0, MAX_PROVIDER_VALUE)]) === MAX_PROVIDER_FIELDS) break;
  }
  return fields;
}

/** Values that add no information to the status: no error, a cause that a phone gives, a person who declined. */
const NEUTRAL_TEXT =
  /^\W*(?:0|none|no|false|ok|16|17|18|19|21|31|127|200|480|486|487|600|603|(?:call[ -]?)?reject(?:ed)?|no[ -]?answer|(?:normal|busy|user)\b.*|.*\bdeclined?\b.*)\W*$/i;
/** Maximum length of the part of a provider's field that is read, characters. */
const MAX_PROVIDER_VALUE = 200;

/** True if the value of a provider's field states a separate reason. */
function isRefusal(value: string): boolean {
  return namesNetwork(value) || !NEUTRAL_TEXT.test(value.replaceAll("_", " "));
}

/**
 * The address of the signed card that names the service that rejected the call, and the way to object (RFC 8688 section
 * 3.2.2).
 */
function cardOf({ headers }: SipResponse): string | undefined {
  for (const value of headers.list("Call-Info").slice(0, MAX_ELEMENTS)) {
    const card = parseNameAddr(value);
    if (card?.params.get("purpose")?.toLowerCase() === "jwscard") return card.uri;
  }
  return undefined;
}

const CONTACTS = /\b(url|tel|email|id|location)=([^;"\s,<>]+)/gi;
const MAX_CONTACTS = 5;

/** Addresses for objecting to a refusal: from an analytics service's text, a 608's card, or an Error-Info field. */
export function redressOf(response: SipResponse): string[] {
  const { headers } = response;
  const contacts: string[] = [];
  const reasonText = headers.fields("Reason").join().slice(0, MAX_SEARCHED);
  const start = reasonText.search(ANALYTICS);
  if (start >= 0)
    for (const [, name = "", value = ""] of reasonText.slice(start).matchAll(CONTACTS))
      contacts.push(name.toLowerCase() === "url" ? value : `${name.toLowerCase()} ${value}`);
  const card = cardOf(response);
  if (card !== undefined) contacts.push(card);
  for (const value of headers.list("Error-Info").slice(0, 1)) contacts.push(parseNameAddr(value)?.uri ?? value);
  return contacts.slice(0, MAX_CONTACTS);
}
