import type { Trunk } from "./trunk-config.ts";

/** Options of {@link whatsappBusiness}, which also accepts the other options of a {@link Trunk}. */
export interface WhatsAppBusinessOptions extends Partial<Omit<Trunk, "server" | "domain" | "from" | "password">> {
  /** The business number that is registered for calling, E.164: `+15550009999`. */
  readonly phoneNumber: string;
  /** The SIP server's host name, as configured in the number's settings: `sip.example.com`. */
  readonly hostname: string;
  /** The number's `sip_user_password`. */
  readonly password: string;
  /** The port from the number's settings that WhatsApp connects to. Default: 5061. */
  readonly port?: number | undefined;
  /**
   * The certificate of `hostname` and its key, PEM text or paths. If both are set, a TLS listener accepts WhatsApp's
   * own connections, over which WhatsApp reports that a callee has hung up; otherwise a hang-up can only be inferred
   * from silence.
   */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * A trunk for WhatsApp Business Calling in SIP mode, as Meta requires it: TLS to wa.meta.vc, no registration, our
 * number at the configured host name in From, the number without its plus in the digest, SDES-SRTP, Opus, no session
 * timers. In the number's settings, `srtp_key_exchange_protocol` must be `SDES`.
 *
 * ```ts
 * sip({ trunks: [whatsappBusiness({ phoneNumber: "+15550009999", hostname: "sip.example.com", password })] });
 * ```
 */
export function whatsappBusiness(options: WhatsAppBusinessOptions): Trunk {
  const { phoneNumber, hostname, password, port = 5061, certificate, key, ...otherOptions } = options;
  const hasListener = certificate !== undefined && key !== undefined;
  return {
    name: "whatsapp-business",
    server: "sip:wa.meta.vc:5061;transport=tls",
    domain: "wa.meta.vc",
    user: phoneNumber,
    authUser: phoneNumber.replace(/^\+/, ""),
    password,
    from: `sip:${phoneNumber}@${hostname}`,
    contact: `sip:${phoneNumber}@${hostname}:${port};transport=tls`,
    codecs: ["opus"],
    srtp: "required",
    sessionTimers: false,
    ...(hasListener ? { listen: { transport: "tls", port } } : {}),
    ...otherOptions,
    ...(certificate === undefined && key === undefined ? {} : { tls: { ...otherOptions.tls, cert: certificate, key } }),
  };
}
