/** One way into the telephone network: a provider's trunk, a PBX, WhatsApp Business. Only `name` and `server` are required. */
export interface Trunk {
  /** Instances choose it with `provider: "sip/<name>"`: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** The next hop of every request, whatever `domain` is: `sip:sip.example.com`, `sip:10.0.0.5:5070;transport=tcp`, `sips:…`. */
  readonly server: string;
  /** What stands behind the @ of Request-URI, To and From. Default: the host of `server`, in the Request-URI with its port. */
  readonly domain?: string | undefined;
  /** Our account: the user part of From and Contact. */
  readonly user?: string | undefined;
  /** The user of the digest. Default: `user`. */
  readonly authUser?: string | undefined;
  readonly password?: string | undefined;
  /** The only realms that the password is for, as challenges name them. Default: those that the trunk's servers ask for first. */
  readonly realms?: readonly string[] | undefined;
  /** Who calls: a SIP URI or a user. Default: `user`. */
  readonly from?: string | undefined;
  /** The number that the callee sees, if the trunk lets us choose, in the fields that `identity` names. */
  readonly callerId?: string | undefined;
  /** Numbers that an instance (`callerId`) or a call (`from`) may choose in its place: `["+12025550100", "+1202555*"]`, or `"*"` for any. Default: none. */
  readonly callerIds?: readonly string[] | "*" | undefined;
  /** The fields that carry `callerId`, one or a list of them. Default: p-asserted and p-preferred. */
  readonly identity?: TrunkIdentity | readonly TrunkIdentity[] | "none" | undefined;
  /** The caller's name, in From and in the fields of `identity`. */
  readonly displayName?: string | undefined;
  /** Withholds the caller from the callee: an anonymous From and `Privacy: id`. Default: false. */
  readonly withheld?: boolean | undefined;
  /** Registers with the server and keeps the registration alive. Default: false, also with a password. */
  readonly register?: boolean | undefined;
  /** Every request goes there first: a SIP URI. */
  readonly outboundProxy?: string | undefined;
  /** Our address as others see it behind a NAT: an IP address or a host name, with or without a port. Default: what the server reports, else the socket's own. */
  readonly publicAddress?: string | undefined;
  /** Where the far side reaches us: the SIP URI of our Contact. Default: `user` at `publicAddress`, or at the socket's own address. */
  readonly contact?: string | undefined;
  /** First and last UDP port for audio. Default: 16384 to 32767. */
  readonly rtpPorts?: readonly [first: number, last: number] | undefined;
  /** In the order of preference: `PCMU`, `PCMA`, `G722`, `opus`; the last two carry speech up to 7 kHz. Default: PCMU, PCMA. */
  readonly codecs?: readonly TrunkCodec[] | undefined;
  /** SDES-SRTP: never, where the far side does it, or nothing else. Default: off; with a TLS server optional. */
  readonly srtp?: "off" | "optional" | "required" | undefined;
  readonly tls?: TrunkTls | undefined;
  /**
   * The only networks that audio is sent to and taken from, in CIDR notation: `["203.0.113.0/24"]`. Default: every address,
   * but none of a private network if the server's address is public.
   */
  readonly mediaFrom?: readonly string[] | undefined;
  /** The only networks that requests of a call go to besides the server, in CIDR notation. Default: as for `mediaFrom`. */
  readonly signallingFrom?: readonly string[] | undefined;
  /** Most calls at a time; others wait in their queues. Default: no limit. */
  readonly maxCalls?: number | undefined;
  /** Most new calls per second; others wait. Default: no limit. */
  readonly callsPerSecond?: number | undefined;
  /** Sent with every INVITE. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How we know that the trunk is there, where it is not by a registration. Default: OPTIONS every 30 s. */
  readonly probe?: "options" | "none" | undefined;
  /** Over UDP, sends an empty line from a port of its own, so that a server that is gone is noticed at once. Default: true. */
  readonly crlfProbe?: boolean | undefined;
  /** The ids of the users whose instances may call over it, or `*`. Default: the server's first user only. */
  readonly users?: readonly string[] | "*" | undefined;
  /** Beginnings of the only numbers that it calls: `["+49", "+1415"]`. Default: every number but those of the next two. */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** Calls emergency numbers too: `+49112`, `+1911`. Default: false. */
  readonly allowEmergency?: boolean | undefined;
  /** Calls premium-rate and satellite numbers too: +1 900, +49 900, +870, +881, +882, +883, +979. Default: false. */
  readonly allowPremium?: boolean | undefined;
  /** How the number is written in the Request-URI: `e164` (+12025550100), `digits` (12025550100), or a template such as `0{national:49}`. Default: e164. */
  readonly numberFormat?: string | undefined;
  /** Marks what is called as a telephone number, `;user=phone`, in Request-URI and To (RFC 3261 section 19.1.1). Default: false. */
  readonly userPhone?: boolean | undefined;
  /** Follows 301 and 302 to where they point, at most five times. Default: false. */
  readonly followRedirects?: boolean | undefined;
  /** Offers session timers (RFC 4028). Default: true. */
  readonly sessionTimers?: boolean | undefined;
  /** Offers reliable provisional responses (100rel and PRACK, RFC 3262). Default: true. */
  readonly reliableProvisionals?: boolean | undefined;
  /** A callee who holds us for longer is hung up, ms. Default: 60,000. */
  readonly holdTimeoutMs?: number | undefined;
  /** How long a call may bring neither RTP nor RTCP before it counts as dead, ms. Default: 20,000. */
  readonly mediaLossMs?: number | undefined;
  /** A call that ends without any RTP and RTCP of a far side that was to send fails. Default: true. */
  readonly requireInboundAudio?: boolean | undefined;
  /** Takes audio only from the address that the far side's SDP names, not from where its audio comes. Default: false. */
  readonly strictRtp?: boolean | undefined;
  /** Puts every message of a call into its timeline, secrets masked. Default: false. */
  readonly trace?: boolean | undefined;
  /** Takes connections from the far side as well, as WhatsApp Business wants: a port, and a certificate for TLS. */
  readonly listen?: TrunkListener | undefined;
}

/** Where the caller's number stands: From, P-Asserted-Identity, P-Preferred-Identity (RFC 3325) or Remote-Party-ID. */
export type TrunkIdentity = "from" | "p-asserted" | "p-preferred" | "remote-party-id";

/** How audio may be coded on a trunk. */
export type TrunkCodec = "PCMU" | "PCMA" | "G722" | "opus";

/** TLS towards the server. */
export interface TrunkTls {
  /** Who signs the server's certificate: PEM text, or the path of a file. Default: the runtime's authorities. */
  readonly ca?: string | undefined;
  /** The name in the server's certificate. Default: the host that is connected to: of `outboundProxy`, else of `server`. */
  readonly servername?: string | undefined;
  /** Takes any certificate. For tests. */
  readonly insecure?: boolean | undefined;
  /** Our own certificate and its key, where the server wants them: PEM text, or the path of a file. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Where the far side connects to. */
export interface TrunkListener {
  readonly transport: "udp" | "tcp" | "tls";
  readonly port: number;
  /** Default: all addresses. */
  readonly address?: string | undefined;
}
