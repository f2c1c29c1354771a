import type { CodecName } from "../../../sip-stack/media/codecs/codec.ts";
import type { StreamServerOptions } from "../../../sip-stack/transport/stream-listener.ts";
import type { TlsOptions } from "../../../sip-stack/transport/tls.ts";

/**
 * A connection to the telephone network: a provider's trunk, a PBX, WhatsApp Business. Only `name` and `server` are
 * required.
 */
export interface Trunk {
  /** Instances choose it with `provider: "sip/<name>"`: lower-case letters, digits and hyphens. */
  readonly name: string;
  /**
   * The next hop of every request, whatever `domain` is: `sip:sip.example.com`, `sip:10.0.0.5:5070;transport=tcp`,
   * `sips:…`.
   */
  readonly server: string;
  /** The domain of Request-URI, To and From. Default: the host of `server`, in the Request-URI with its port. */
  readonly domain?: string | undefined;
  /** Our account: the user part of From and Contact. */
  readonly user?: string | undefined;
  /** The user name in digest authentication. Default: `user`. */
  readonly authUser?: string | undefined;
  /** The account's password. */
  readonly password?: string | undefined;
  /**
   * The only realms that the password is for, as challenges name them. Default: the first realms that the trunk's
   * servers name.
   */
  readonly realms?: readonly string[] | undefined;
  /** The caller in From: a SIP URI or a user. Default: `user`. */
  readonly from?: string | undefined;
  /** The number that the callee sees, if the trunk lets us choose, in the fields that `identity` names. */
  readonly callerId?: string | undefined;
  /**
   * Numbers that an instance (`callerId`) or a call (`from`) may choose instead: `["+12025550100", "+1202555*"]`, or
   * `"*"` for any. Default: none.
   */
  readonly callerIds?: readonly string[] | "*" | undefined;
  /** The header fields that carry `callerId`, one or a list of them. Default: p-asserted and p-preferred. */
  readonly identity?: TrunkIdentity | readonly TrunkIdentity[] | "none" | undefined;
  /** The caller's name, in From and in the `identity` fields. */
  readonly displayName?: string | undefined;
  /** Withholds the caller from the callee: an anonymous From and `Privacy: id`. Default: false. */
  readonly withheld?: boolean | undefined;
  /** Registers with the server and keeps the registration alive. Default: false, even with a password. */
  readonly register?: boolean | undefined;
  /** The SIP URI of an outbound proxy for all requests. */
  readonly outboundProxy?: string | undefined;
  /**
   * Our address as others see it behind a NAT: an IP address or a host name, with or without a port. Default: what the
   * server reports, otherwise the socket's own.
   */
  readonly publicAddress?: string | undefined;
  /**
   * The SIP URI of our Contact, at which the peer reaches us. Default: `user` at `publicAddress`, or at the socket's
   * own address.
   */
  readonly contact?: string | undefined;
  /** First and last UDP port for audio. Default: 16384 to 32767. */
  readonly rtpPorts?: readonly [first: number, last: number] | undefined;
  /**
   * Codecs in order of preference: `PCMU`, `PCMA`, `G722`, `opus`; the last two carry speech up to 7 kHz. Default:
   * PCMU, PCMA.
   */
  readonly codecs?: readonly TrunkCodec[] | undefined;
  /** SDES-SRTP: never, if the peer supports it, or always. Default: off; with a TLS server optional. */
  readonly srtp?: "off" | "optional" | "required" | undefined;
  /** TLS options for connections to the server. */
  readonly tls?: TrunkTls | undefined;
  /**
   * The only networks that audio is sent to and accepted from, in CIDR notation: `["203.0.113.0/24"]`. Default: every
   * address, except those in private networks if the server's address is public.
   */
  readonly mediaFrom?: readonly string[] | undefined;
  /**
   * The only networks that a call's requests go to besides the server, in CIDR notation. Default: as for `mediaFrom`.
   */
  readonly signallingFrom?: readonly string[] | undefined;
  /** Maximum number of concurrent calls; others wait in their queues. Default: no limit. */
  readonly maxCalls?: number | undefined;
  /**
   * Maximum number of concurrent calls per instance, 1 to 100, if the queue's `lines` allow as many. Default:
   * `maxCalls`.
   */
  readonly lines?: number | undefined;
  /** Maximum number of new calls per second; others wait. Default: no limit. */
  readonly callsPerSecond?: number | undefined;
  /** Header fields added to every INVITE. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Names of the header fields that a call may set (`sip.headers`): `["X-Order", "X-Tenant-*"]`. Default: none. */
  readonly callHeaders?: readonly string[] | undefined;
  /**
   * Hosts of the SIP URIs that a call may name instead of a number's (`target.sipUri`): `["pbx.example.com"]`, with the
   * port if the URI has one. Default: none.
   */
  readonly callUriHosts?: readonly string[] | undefined;
  /** Check for a trunk that does not register. Default: OPTIONS every 30 s. */
  readonly probe?: "options" | "none" | undefined;
  /** Over UDP, sends an empty line from a separate port, to notice at once that a server is gone. Default: true. */
  readonly crlfProbe?: boolean | undefined;
  /** The ids of the users whose instances may use it, or `*`. Default: the server's first user only. */
  readonly users?: readonly string[] | "*" | undefined;
  /**
   * Prefixes of the only numbers that it calls: `["+49", "+1415"]`. Default: every number except those of the next two
   * options.
   */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** Calls emergency numbers too: `+49112`, `+1911`. Default: false. */
  readonly allowEmergency?: boolean | undefined;
  /** Calls premium-rate and satellite numbers too: +1 900, +49 900, +870, +881, +882, +883, +979. Default: false. */
  readonly allowPremium?: boolean | undefined;
  /**
   * The format of the number in the Request-URI: `e164` (+12025550100), `digits` (12025550100), or a template such as
   * `0{national:49}`. Default: e164.
   */
  readonly numberFormat?: string | undefined;
  /**
   * Marks the called user as a telephone number, `;user=phone`, in Request-URI and To (RFC 3261 section 19.1.1).
   * Default: false.
   */
  readonly userPhone?: boolean | undefined;
  /** Follows the redirects 301 and 302, at most five times. Default: false. */
  readonly followRedirects?: boolean | undefined;
  /**
   * Agents may transfer calls to other numbers, by REFER (RFC 3515). Default: true; false for WhatsApp Business, which
   * has no transfers.
   */
  readonly transfer?: boolean | undefined;
  /** Offers session timers (RFC 4028). Default: true. */
  readonly sessionTimers?: boolean | undefined;
  /** Offers reliable provisional responses (100rel and PRACK, RFC 3262). Default: true. */
  readonly reliableProvisionals?: boolean | undefined;
  /** Time on hold after which a call is hung up, ms. Default: 60,000. */
  readonly holdTimeoutMs?: number | undefined;
  /**
   * Time without RTP and RTCP after which OPTIONS asks the peer whether it still has the call; if not, the call ends,
   * ms. Default: 20,000.
   */
  readonly mediaLossMs?: number | undefined;
  /** A call fails if we end it without any remote RTP and RTCP, unless the peer only receives. Default: true. */
  readonly requireInboundAudio?: boolean | undefined;
  /**
   * Accepts audio only from the address in the remote SDP, not from any other address that it arrives from. Default:
   * false.
   */
  readonly strictRtp?: boolean | undefined;
  /** Adds every message of a call to its timeline, with secrets masked. Default: false. */
  readonly trace?: boolean | undefined;
  /** Also accepts connections from the peer, which WhatsApp Business requires: a port, and a certificate for TLS. */
  readonly listen?: TrunkListener | undefined;
}

/**
 * The header field for the caller's number: From, P-Asserted-Identity, P-Preferred-Identity (RFC 3325) or
 * Remote-Party-ID.
 */
export type TrunkIdentity = "from" | "p-asserted" | "p-preferred" | "remote-party-id";

/** A trunk's audio codec. */
export type TrunkCodec = CodecName;

/** TLS options for connections to the server. */
export type TrunkTls = TlsOptions;

/** The port that the peer connects to. */
export type TrunkListener = StreamServerOptions;
