import { shown } from "../../../../src/base/shown.ts";
import type { SipRule } from "../../../../src/domain/calls/sip-choice.ts";
import type { CallerIdRule } from "../../../../src/domain/numbers/caller-id.ts";
import { PHONE_NUMBER } from "../../../../src/domain/numbers/phone-number.ts";
import { parseUri, writeUri } from "../../../sip-stack/message/uri.ts";
import type { DestinationRule } from "../destinations/trunk-destinations.ts";
import { diallingFormat, type NumberFormat } from "./number-format.ts";
import { hostOf, isTls, uriAt, uriTextAt } from "./trunk-addresses.ts";
import type { Trunk, TrunkCodec, TrunkIdentity, TrunkListener, TrunkTls } from "./trunk-config.ts";

/** The user in From if a trunk has neither an account nor a number. */
const DEFAULT_USER = "ringport";
const WHATSAPP = "wa.meta.vc";

/** A trunk with all its defaults. */
export interface ResolvedTrunk extends DestinationRule {
  readonly name: string;
  /** The SIP URI of the next hop. */
  readonly server: string;
  /** Host of `server`, without brackets. */
  readonly serverHost: string;
  /** True if `server` or `outboundProxy` prescribes TLS. */
  readonly encrypted: boolean;
  readonly domain: string;
  /** The port after `domain` in a Request-URI: the port of `server` if the trunk has no domain. */
  readonly domainPort: number | undefined;
  readonly user: string | undefined;
  readonly authUser: string | undefined;
  readonly password: string | undefined;
  readonly realms: readonly string[] | undefined;
  /** The SIP URI in From. */
  readonly from: string;
  /** The SIP URI in our Contact; undefined for `contactUser` at our address on the flow. */
  readonly contact: string | undefined;
  readonly contactUser: string;
  /** The caller's SIP URI in the `identity` fields. */
  readonly callerId: string | undefined;
  /** The numbers that a call may choose as its caller, including `phone`; undefined if there is no choice. */
  readonly callerIds: CallerIdRule | undefined;
  readonly identity: readonly TrunkIdentity[];
  /** True if From names a number instead of an account, so that it shows a chosen number too. */
  readonly fromIsNumber: boolean;
  readonly displayName: string | undefined;
  readonly withheld: boolean;
  /** The number that we call from; null if it is not an E.164 number. */
  readonly phone: string | null;
  readonly register: boolean;
  readonly outboundProxy: string | undefined;
  readonly publicAddress: string | undefined;
  readonly rtpPorts: readonly [first: number, last: number];
  readonly codecs: readonly TrunkCodec[];
  /** Sample rate of the legs, Hz: 16000 if Opus or G722 may be used, otherwise 8000. */
  readonly sampleRate: 8000 | 16000;
  readonly srtp: "off" | "optional" | "required";
  readonly tls: TrunkTls;
  readonly mediaFrom: readonly string[] | undefined;
  readonly signallingFrom: readonly string[] | undefined;
  readonly maxCalls: number | undefined;
  /** Maximum number of concurrent calls per instance. */
  readonly lines: number;
  readonly callsPerSecond: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Header fields and URI hosts that a call may choose for its INVITE. */
  readonly sip: SipRule;
  readonly probe: "options" | "none";
  readonly crlfProbe: boolean;
  readonly users: readonly string[] | "*" | undefined;
  readonly format: NumberFormat;
  readonly userPhone: boolean;
  readonly followRedirects: boolean;
  readonly transfer: boolean;
  readonly sessionTimers: boolean;
  readonly reliableProvisionals: boolean;
  readonly holdTimeoutMs: number;
  readonly mediaLossMs: number;
  readonly requireInboundAudio: boolean;
  readonly strictRtp: boolean;
  readonly trace: boolean;
  readonly listen: TrunkListener | undefined;
  /** True if the trunk is WhatsApp Business Calling. */
  readonly whatsApp: boolean;
}

/** The trunk with its defaults. @param trunk accepted by `parseTrunks` */
export function resolveTrunk(trunk: Trunk): ResolvedTrunk {
  const server = parseUri(trunk.server);
  if (server === undefined)
    throw new RangeError(`server is ${shown(trunk.server)}: it must be a SIP URI, such as sip:sip.example.com`);
  const proxy = trunk.outboundProxy === undefined ? undefined : parseUri(trunk.outboundProxy);
  const domain = hostOf(trunk.domain ?? server.host) ?? server.host;
  const codecs = trunk.codecs ?? (["PCMU", "PCMA"] as const);
  const encrypted = isTls(proxy ?? server);
  const from = uriAt(trunk.from ?? trunk.user ?? trunk.callerId ?? DEFAULT_USER, domain);
  const callerId = trunk.callerId === undefined ? undefined : uriAt(trunk.callerId, domain);
  const phone = [callerId?.user, from.user].find((user) => user !== undefined && PHONE_NUMBER.test(user)) ?? null;
  const { callerIds = [], identity = ["p-asserted", "p-preferred"] } = trunk;
  const whatsApp = domain === WHATSAPP;
  return {
    name: trunk.name,
    server: trunk.server,
    serverHost: server.host,
    encrypted,
    domain,
    // WhatsApp requires the same URI in the Request-URI, the digest and To, which has no port.
    domainPort: trunk.domain === undefined && domain !== WHATSAPP ? server.port : undefined,
    user: trunk.user,
    authUser: trunk.authUser ?? trunk.user,
    password: trunk.password,
    realms: trunk.realms,
    from: writeUri(from),
    contact: trunk.contact,
    contactUser: trunk.user ?? from.user ?? DEFAULT_USER,
    callerId: trunk.callerId === undefined ? undefined : uriTextAt(trunk.callerId, domain),
    callerIds: whatsApp ? undefined : callerIds === "*" ? "*" : [...(phone === null ? [] : [phone]), ...callerIds],
    identity: identity === "none" ? [] : typeof identity === "string" ? [identity] : identity,
    fromIsNumber: trunk.from === undefined ? trunk.user === undefined : PHONE_NUMBER.test(from.user ?? ""),
    displayName: trunk.displayName,
    withheld: trunk.withheld ?? false,
    phone,
    register: trunk.register ?? false,
    outboundProxy: trunk.outboundProxy,
    publicAddress: trunk.publicAddress,
    rtpPorts: trunk.rtpPorts ?? [16_384, 32_767],
    codecs,
    sampleRate: codecs.some((codec) => codec === "G722" || codec === "opus") ? 16_000 : 8_000,
    srtp: trunk.srtp ?? (encrypted ? "optional" : "off"),
    tls: trunk.tls ?? {},
    mediaFrom: trunk.mediaFrom,
    signallingFrom: trunk.signallingFrom,
    maxCalls: trunk.maxCalls,
    lines: Math.min(trunk.lines ?? Infinity, trunk.maxCalls ?? Infinity),
    callsPerSecond: trunk.callsPerSecond,
    headers: trunk.headers ?? {},
    sip: { headers: trunk.callHeaders ?? [], uriHosts: trunk.callUriHosts ?? [] },
    probe: trunk.probe ?? "options",
    crlfProbe: trunk.crlfProbe ?? true,
    users: trunk.users,
    allowedPrefixes: trunk.allowedPrefixes,
    allowEmergency: trunk.allowEmergency ?? false,
    allowPremium: trunk.allowPremium ?? false,
    format: diallingFormat(trunk.numberFormat ?? "e164") ?? ((e164) => e164),
    userPhone: trunk.userPhone ?? false,
    followRedirects: trunk.followRedirects ?? false,
    transfer: trunk.transfer ?? !whatsApp,
    sessionTimers: trunk.sessionTimers ?? true,
    reliableProvisionals: trunk.reliableProvisionals ?? true,
    holdTimeoutMs: trunk.holdTimeoutMs ?? 60_000,
    mediaLossMs: trunk.mediaLossMs ?? 20_000,
    requireInboundAudio: trunk.requireInboundAudio ?? true,
    strictRtp: trunk.strictRtp ?? false,
    trace: trunk.trace ?? false,
    listen: trunk.listen,
    whatsApp,
  };
}
