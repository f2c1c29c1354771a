import { parseHostPort } from "../../../sip-stack/message/uri.ts";
import type { TransportKind } from "../../../sip-stack/transport/transport.ts";
import { parseTrunks } from "../config/parse-trunks.ts";
import type { Trunk, TrunkCodec, TrunkTls } from "../config/trunk-config.ts";

/** A SIP account, as entered by its owner. */
export interface SipAccount {
  /** `sip.example.com`, `192.0.2.5:5070`. */
  readonly server: string;
  readonly transport: TransportKind;
  readonly user: string;
  readonly password?: string | undefined;
  readonly authUser?: string | undefined;
  readonly domain?: string | undefined;
  readonly callerId?: string | undefined;
  readonly register: boolean;
}

/** The operator's settings for all accounts. */
export interface AccountDefaults {
  readonly publicAddress?: string | undefined;
  readonly rtpPorts?: readonly [first: number, last: number] | undefined;
  readonly codecs?: readonly TrunkCodec[] | undefined;
  readonly srtp?: Trunk["srtp"];
  readonly tls?: TrunkTls | undefined;
  readonly mediaLossMs?: number | undefined;
  readonly requireInboundAudio?: boolean | undefined;
  readonly strictRtp?: boolean | undefined;
  readonly holdTimeoutMs?: number | undefined;
  /** Maximum number of concurrent calls per account, 1 to 100. Default: no limit. */
  readonly lines?: number | undefined;
  /** The numbers that may be called; see the options of a {@link Trunk}. */
  readonly allowedPrefixes?: Trunk["allowedPrefixes"];
  readonly allowEmergency?: boolean | undefined;
  readonly allowPremium?: boolean | undefined;
}

/** The invalid fields of an account, each with the reason. */
export type AccountFaults = Readonly<Partial<Record<keyof SipAccount, string>>>;

const NAME = "account";
const FIELDS: readonly (keyof SipAccount)[] = ["server", "user", "password", "authUser", "domain", "callerId"];

/** The account as a trunk, or its faults. */
export function trunkOf(account: SipAccount, defaults: AccountDefaults): { trunk: Trunk } | { faults: AccountFaults } {
  const { server, transport, ...otherOptions } = account;
  if (parseHostPort(server) === undefined) return { faults: { server: SERVER_TEXT } };
  const input = { ...defaults, ...otherOptions, name: NAME, server: `sip:${server};transport=${transport}` };
  const { trunks, faults } = parseTrunks([input]);
  const trunk = trunks?.[0];
  if (trunk) return { trunk };
  const accountFaults: Partial<Record<keyof SipAccount, string>> = {};
  for (const { field, detail } of faults ?? [])
    accountFaults[FIELDS.find((name) => name === field) ?? "server"] ??= detail;
  return { faults: accountFaults };
}

const SERVER_TEXT = "must be a host name or an address, with or without a port: sip.example.com or 192.0.2.5:5070";

/** The account as credentials to store. */
export function encodeAccount(account: SipAccount): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(account));
}

/** The account in stored credentials; undefined if they are not a SIP account. */
export function decodeAccount(credentials: Uint8Array): SipAccount | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(credentials)) as Partial<SipAccount> | null;
    const { server, transport, user, register } = value ?? {};
    const isSupported = transport === "udp" || transport === "tcp" || transport === "tls";
    if (typeof server !== "string" || typeof user !== "string" || typeof register !== "boolean" || !isSupported)
      return undefined;
    return value as SipAccount;
  } catch {
    return undefined;
  }
}
