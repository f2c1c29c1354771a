import { ConfigurationError } from "../../../src/base/error.ts";
import { type Logger, silentLogger } from "../../../src/ports/logger.ts";
import type { Network } from "../../../src/ports/network-pages.ts";
import { realSystem, type System } from "../../../src/ports/system.ts";
import type { Telephony } from "../../../src/ports/telephony.ts";
import type { MediaPlace } from "../../sip-stack/media/create-engine.ts";
import { MAX_MEDIA_THREADS, type MediaEngine } from "../../sip-stack/media/engine.ts";
import { HostLookup } from "../../untrusted-hosts/host-lookup.ts";
import { type SipAccountsOptions, sipAccounts } from "./accounts/sip-accounts.ts";
import { faultText, parseTrunks } from "./config/parse-trunks.ts";
import { type ResolvedTrunk, resolveTrunk } from "./config/resolve-trunk.ts";
import type { Route } from "./config/route-config.ts";
import { sharedCallerIds, sharedSipRule, sharedUsers } from "./config/shared-options.ts";
import type { Trunk } from "./config/trunk-config.ts";
import { loadRefusals, type RefusalOf } from "./destinations/trunk-destinations.ts";
import { sipNetwork } from "./network.ts";
import { routeRefusal } from "./routes/chosen-trunks.ts";
import { type Shared, shareResource } from "./shared-resource.ts";
import type { SipTrunk } from "./sip-trunk.ts";

/** Options of {@link sip}. */
export interface SipOptions {
  readonly trunks: readonly Trunk[];
  /** Routes over several of the trunks, each a separate network; they come before the trunks. Default: none. */
  readonly routes?: readonly Route[] | undefined;
  /** Adds the network `sip`, in which each owner of an instance enters their own SIP account. Default: false. */
  readonly accounts?: boolean | SipAccountsOptions | undefined;
  readonly system?: System | undefined;
  readonly logger?: Logger | undefined;
  /**
   * The thread that carries the calls' audio: the application's `thread`, or a `worker`, which the application's load
   * does not disturb. Default: `auto`, a worker if there is more than one processor.
   */
  readonly media?: MediaPlace | undefined;
  /**
   * Maximum number of workers for the calls' audio, 1 to 127. Default: one fewer than the processors, at least 1.
   */
  readonly mediaThreads?: number | undefined;
}

/**
 * Telephony over SIP trunks: one network for each route and each trunk, named `sip/<name>`, the routes first. They
 * share the trunks and the media engine, which close along with the last network. No socket is opened before the first
 * line.
 *
 * ```ts
 * createRingport({ telephony: sip({ trunks: [{ name: "acme", server: "sip:sip.acme.example" }] }) });
 * ```
 *
 * @throws {ConfigurationError} naming every fault of every trunk and route at once
 */
export function sip(options: SipOptions): readonly Network[] {
  const { system = realSystem, logger = silentLogger } = options;
  const { trunks, routes, faults } = parseTrunks({ trunks: options.trunks, routes: options.routes });
  if (trunks === undefined)
    throw new ConfigurationError(
      `the SIP trunks are invalid:\n${faults.map((fault) => `- ${faultText(fault)}`).join("\n")}`,
    );
  const { mediaThreads: threads } = options;
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= MAX_MEDIA_THREADS))
    throw new ConfigurationError(
      `mediaThreads is ${threads}: it must be a whole number from 1 to ${MAX_MEDIA_THREADS}`,
    );
  const accounts = options.accounts === true ? {} : options.accounts || undefined;
  let engine: MediaEngine | undefined;
  const media = shareResource(routes.length + trunks.length + (accounts ? 1 : 0), async () => {
    const { createEngine } = await import("../../sip-stack/media/create-engine.ts");
    engine = await createEngine({ system, logger, place: options.media, threads });
    return engine;
  });
  const parts = { system, logger, media, hosts: new HostLookup({ system }) };
  const mountedTrunks = new Map(trunks.map((trunk) => [trunk.name, mountedTrunk(trunk, routes, parts)]));
  const networks: Network[] = [
    ...routes.map((route) => routeNetwork(route, mountedTrunks, parts)),
    ...[...mountedTrunks.values()].map((trunk) => trunkNetwork(trunk, parts)),
  ];
  if (accounts) networks.push(sipAccounts(accounts, parts));
  // All networks share the threads, so only one of them reports these.
  return networks.map((network, i) => (i > 0 ? network : { ...network, audioThreads: () => engine?.threads() ?? [] }));
}

interface Parts {
  readonly system: System;
  readonly logger: Logger;
  readonly media: Shared<MediaEngine>;
  readonly hosts: HostLookup;
}

/** A trunk, for its own network and for its routes. */
interface MountedTrunk {
  readonly trunk: ResolvedTrunk;
  readonly rule: () => Promise<RefusalOf>;
  readonly carrier: Shared<SipTrunk>;
}

function mountedTrunk(options: Trunk, routes: readonly Route[], { system, logger, media, hosts }: Parts): MountedTrunk {
  const trunk = resolveTrunk(options);
  const trunkRoutes = routes.filter(({ trunks }) => trunks.some((entry) => entry.trunk === trunk.name));
  return {
    trunk,
    rule: loadRefusals(trunk, `trunk ${trunk.name}`),
    carrier: shareResource(1 + trunkRoutes.length, async () => {
      const { SipTrunk } = await import("./sip-trunk.ts");
      return new SipTrunk({ trunk, system, logger, hosts, media: () => media.open() });
    }),
  };
}

function trunkNetwork({ trunk, rule, carrier }: MountedTrunk, { system, media }: Parts): Telephony {
  return sipNetwork({
    name: trunk.name,
    label: `trunk ${trunk.name}`,
    users: trunk.users ?? "first",
    sampleRate: trunk.sampleRate,
    callerIds: trunk.callerIds,
    lines: trunk.lines,
    transfers: trunk.transfer,
    sip: trunk.sip,
    system,
    open: () => carrier.open(),
    refuses: async (phoneNumber) => (await rule())(phoneNumber),
    async close() {
      await carrier.release();
      await media.release();
    },
  });
}

function routeNetwork(
  route: Route,
  mountedTrunks: ReadonlyMap<string, MountedTrunk>,
  { system, media }: Parts,
): Telephony {
  const routeTrunks = [...mountedTrunks].filter(([name]) => route.trunks.some(({ trunk }) => trunk === name));
  const trunks = routeTrunks.map(([, { trunk }]) => trunk);
  const sampleRate = Math.max(...trunks.map((trunk) => trunk.sampleRate));
  const carrier = shareResource(1, async () => {
    const [{ SipRoute }, openedCarriers] = await Promise.all([
      import("./routes/sip-route.ts"),
      Promise.all(routeTrunks.map(async ([name, trunk]) => [name, await trunk.carrier.open()] as const)),
    ]);
    return new SipRoute({ route, trunks: new Map(openedCarriers), sampleRate, system });
  });
  return sipNetwork({
    name: route.name,
    label: `route ${route.name}`,
    users: sharedUsers(trunks) ?? [],
    sampleRate,
    callerIds: sharedCallerIds(trunks),
    lines: trunks.reduce((sum, { lines }) => sum + lines, 0),
    transfers: trunks.some((trunk) => trunk.transfer),
    sip: sharedSipRule(trunks),
    system,
    open: () => carrier.open(),
    refuses: (phoneNumber) =>
      routeRefusal(route, phoneNumber, async (trunk) => (await mountedTrunks.get(trunk)?.rule())?.(phoneNumber)),
    async close() {
      await carrier.release();
      await Promise.all(routeTrunks.map(([, trunk]) => trunk.carrier.release()));
      await media.release();
    },
  });
}
