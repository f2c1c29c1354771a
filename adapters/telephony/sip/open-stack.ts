import type { SipChoice } from "../../../src/domain/calls/sip-choice.ts";
import type { CallerId } from "../../../src/domain/numbers/caller-id.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import { CredentialServers } from "../../sip-stack/auth/credential-servers.ts";
import { DigestClient } from "../../sip-stack/auth/digest.ts";
import type { InviteListener, InviteUsage } from "../../sip-stack/dialog/invite.ts";
import { createUserAgent } from "../../sip-stack/dialog/user-agent.ts";
import type {
  AgentReply,
  Identity,
  MayFollow,
  UserAgent,
  UserAgentOptions,
} from "../../sip-stack/dialog/user-agent-options.ts";
import type { MediaSession, StreamSettings } from "../../sip-stack/media/engine.ts";
import { type MediaAddress, mediaAddress } from "../../sip-stack/media/media-address.ts";
import { MediaTarget } from "../../sip-stack/media/media-target.ts";
import { parseUri, sipUri, writeUri } from "../../sip-stack/message/uri.ts";
import type { SrtpOffer } from "../../sip-stack/sdp/keys.ts";
import { createNegotiation } from "../../sip-stack/sdp/negotiation.ts";
import { createTransactions } from "../../sip-stack/transaction/transaction-layer.ts";
import type { AddressRule } from "../../sip-stack/transport/addresses.ts";
import { cachedDns, type Dns, nodeDns } from "../../sip-stack/transport/dns.ts";
import { createResolve } from "../../sip-stack/transport/resolver.ts";
import { createTransports } from "../../sip-stack/transport/transports.ts";
import { peerAddressCheck, trustedResolve } from "../../sip-stack/transport/trusted-resolve.ts";
import { HostLookup } from "../../untrusted-hosts/host-lookup.ts";
import { callerFields } from "./caller.ts";
import type { ResolvedTrunk } from "./config/resolve-trunk.ts";
import { AssumedPresence } from "./registration/assumed-presence.ts";
import { OptionsPresence } from "./registration/options-presence.ts";
import type { HealthChanged, Presence } from "./registration/presence.ts";
import { TrunkRegistration } from "./registration/registration.ts";

const PRODUCT = "Ringport";

/** The user who owns a trunk's SIP account. */
export interface AccountOwner {
  readonly userId: string;
  /** True if the trunk reaches only public addresses. */
  readonly onlyPublic: boolean;
}

/** Options of {@link openStack}. */
export interface SipStackOptions {
  readonly trunk: ResolvedTrunk;
  /** Default: the trunk is the operator's. */
  readonly owner?: AccountOwner | undefined;
  /** Looks up the hosts that a user or a peer names. Default: a separate lookup. */
  readonly hosts?: HostLookup | undefined;
  readonly system: System;
  readonly logger: Logger;
  /** Called when the trunk goes online or offline. */
  readonly onChange: HealthChanged;
  readonly trace: NonNullable<UserAgentOptions["trace"]>;
}

/** A call to start. */
export interface StackInvite {
  /** The number in the trunk's format. */
  readonly user: string;
  /** Default: the trunk's caller ID. */
  readonly from?: CallerId | undefined;
  /** Header fields and URI chosen for the call. */
  readonly sip?: SipChoice | undefined;
  /** The core's call id. */
  readonly callId: string;
  /** The session for the call's audio, configured with the result of the offer/answer exchange. */
  readonly session: MediaSession;
  readonly address: MediaAddress;
  readonly srtp: ResolvedTrunk["srtp"];
  /** The profile of the first offer. Default: the first one for `srtp`. */
  readonly profile?: SrtpOffer["profile"] | undefined;
  /** Called with the result of each offer/answer exchange. */
  readonly onNegotiated: (settings: StreamSettings) => void;
  /** Called if the remote audio has no address. */
  readonly onNoAddress: (detail: string) => void;
  /** Called with the reason why the address in the remote SDP is refused; with undefined if it is allowed. */
  readonly onAddressChecked: (refusal: string | undefined, address: string) => void;
  readonly listener: InviteListener;
  /** Called before each INVITE, including retransmissions; false suppresses it. */
  readonly maySend: () => boolean;
  /** True if the URI of a redirection may be followed. */
  readonly mayFollow: MayFollow;
}

/** One trunk's layers, from the sockets up to the user agent. */
export interface SipStack {
  readonly presence: Presence;
  /**
   * The addresses of our audio: the local address, and the address advertised to the peer.
   * @throws {TransportError} the trunk is unreachable
   */
  address(signal: AbortSignal): Promise<MediaAddress>;
  /** The allowed addresses of remote audio. */
  mediaRule(address: MediaAddress): AddressRule;
  /** Sends OPTIONS (RFC 3261 section 11); some servers list their codecs in the response. @throws {TransportError} */
  options(signal: AbortSignal): Promise<AgentReply>;
  /** The Request-URI of calls to this user, the number in the trunk's format. */
  uriOf(user: string): string;
  /** Starts a call. */
  invite(request: StackInvite): InviteUsage;
  close(): Promise<void>;
}

/** Opens a trunk's sockets and the layers above them. @throws {TransportError} the port of its listener is in use */
export async function openStack(options: SipStackOptions): Promise<SipStack> {
  const { trunk, owner, system, logger, hosts = new HostLookup({ system }) } = options;
  const allows = peerAddressCheck(owner?.onlyPublic ?? false);
  const nextHop = trunk.outboundProxy ?? trunk.server;
  const transports = createTransports({
    system,
    logger,
    tls: trunk.tls,
    serverName: parseUri(nextHop)?.host,
    publicAddress: trunk.publicAddress,
    listen: trunk.listen,
    crlfProbe: trunk.crlfProbe,
    allows,
  });
  // The lookup of users' hosts has its own cache, which all trunks share.
  const dns = cachedDns(userDns(hosts, owner?.userId ?? `trunk ${trunk.name}`), system, { keepMs: 0 });
  const ownDns = owner === undefined ? cachedDns(nodeDns, system) : dns;
  const servers = new CredentialServers(nextHop);
  const resolveTrusted = trustedResolve({
    resolveOwn: createResolve({ system, dns: ownDns }),
    resolve: createResolve({ system, dns }),
    allows,
    ownUri: nextHop,
    ranges: trunk.signallingFrom,
    onRefused: (uri, address) =>
      logger.warn({ trunk: trunk.name, uri, address }, "sip: a peer names an address that is not allowed"),
  });
  const resolve = servers.remembering(resolveTrusted);
  const transactions = createTransactions(transports, resolve, { system, probesFailedHops: trunk.probe === "options" });
  try {
    await transports.ready();
  } catch (fault) {
    await transactions.close();
    throw fault;
  }
  const isLooseProxy = trunk.outboundProxy !== undefined && parseUri(trunk.outboundProxy)?.params.has("lr") === true;
  const agent = createUserAgent({
    transactions,
    identity: identityOf(trunk),
    digest: new DigestClient({ user: trunk.authUser ?? "", password: trunk.password, realms: trunk.realms }, system),
    trusts: (place) => servers.includes(place),
    nextHop: (uri) => (trunk.outboundProxy === undefined && isForeign(uri, trunk) ? uri : nextHop),
    routes: isLooseProxy ? [`<${trunk.outboundProxy}>`] : [],
    sessionTimers: trunk.sessionTimers,
    reliableProvisionals: trunk.reliableProvisionals,
    followRedirects: trunk.followRedirects,
    holdTimeoutMs: trunk.holdTimeoutMs,
    system,
    logger,
    trace: trunk.trace ? options.trace : undefined,
  });
  const presence = presenceOf(options, agent);
  const mediaRule = ({ isPublic }: MediaAddress): AddressRule => ({
    ranges: trunk.mediaFrom,
    isPublic,
    onlyPublic: owner?.onlyPublic,
  });
  return {
    presence,
    async address(signal) {
      const flow = await transactions.flowTo(nextHop, signal);
      return await mediaAddress(flow, transports.sentBy(flow));
    },
    mediaRule,
    options: (signal) =>
      agent.request({ method: "OPTIONS", uri: uriOf(trunk), headers: [["Accept", "application/sdp"]] }, signal),
    uriOf: (user) => uriOf(trunk, user),
    invite: ({
      user,
      from,
      sip,
      session,
      address,
      srtp,
      profile,
      onNegotiated,
      onNoAddress,
      onAddressChecked,
      ...call
    }) => {
      let server = address.server;
      const target = new MediaTarget({
        session,
        local: address.local,
        from: mediaRule(address),
        dns,
        onNoAddress,
        onAddressChecked,
      });
      return agent.invite({
        ...call,
        target: sip?.uri ?? uriOf(trunk, user),
        caller: callerFields(trunk, from),
        headers: Object.entries(sip?.headers ?? {}),
        respondedFrom(host) {
          server = host;
        },
        negotiator: createNegotiation({
          codecs: trunk.codecs,
          srtp,
          profile,
          address: address.advertised,
          port: session.port,
          random: (bytes) => system.random(bytes),
          onNegotiated(settings, isEarly) {
            target.apply({ ...settings, signallingHosts: [server] }, isEarly);
            onNegotiated(settings);
          },
        }),
      });
    },
    async close() {
      await agent.close();
      await presence.close();
      await transactions.close();
    },
  };
}

/** True if a URI is outside the trunk's domain. Requests within the domain go to the configured next hop. */
function isForeign(text: string, { domain, domainPort }: ResolvedTrunk): boolean {
  const uri = parseUri(text);
  if (uri === undefined) return false;
  return uri.host !== domain || (uri.port !== undefined && uri.port !== domainPort);
}

function presenceOf({ trunk, system, logger, onChange }: SipStackOptions, agent: UserAgent): Presence {
  const server = trunk.outboundProxy ?? trunk.server;
  if (trunk.register && trunk.user !== undefined) {
    const account = writeUri(sipUri({ user: trunk.user, host: trunk.domain }));
    return new TrunkRegistration({
      agent,
      system,
      logger,
      registrar: uriOf(trunk),
      account,
      server,
      onChange,
    });
  }
  if (trunk.probe === "none") return new AssumedPresence(system, onChange);
  const hasPassword = trunk.password !== undefined;
  return new OptionsPresence({ agent, system, uri: uriOf(trunk), server, hasPassword, onChange });
}

/** The URI of a number at the trunk's domain, or of the domain itself. WhatsApp requires the transport in the URI. */
function uriOf({ domain, domainPort, whatsApp, userPhone }: ResolvedTrunk, user?: string): string {
  const params = new Map(whatsApp ? [["transport", "tls"]] : []);
  if (userPhone && user !== undefined) params.set("user", "phone");
  return writeUri(sipUri({ user, host: domain, port: domainPort, params }));
}

function identityOf({ from, contact, contactUser, headers }: ResolvedTrunk): Identity {
  return {
    from: `<${from}>`,
    contact(sentBy, { kind }) {
      if (contact !== undefined) return contact;
      const uri = parseUri(`sip:${sentBy}`);
      const params = new Map(kind === "udp" ? [] : [["transport", kind]]);
      return uri === undefined ? `sip:${sentBy}` : writeUri({ ...uri, user: contactUser, params });
    },
    headers: Object.entries(headers),
    product: PRODUCT,
  };
}

/**
 * Resolver for names that a user has entered or a peer sends. Addresses come from the hosts file and the DNS.
 * @param user key of the user who owns the lookups
 */
function userDns(hosts: HostLookup, user: string): Dns {
  return {
    naptr: (domain) => hosts.naptr(domain, user),
    srv: (name) => hosts.srv(name, user),
    async addresses(host) {
      const addresses = await hosts.addresses(host, user);
      return addresses.map(({ address }) => address);
    },
  };
}
