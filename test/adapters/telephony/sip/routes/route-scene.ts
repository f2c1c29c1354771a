import type { Route } from "../../../../../adapters/telephony/sip/config/route-config.ts";
import type { Trunk } from "../../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../../adapters/telephony/sip/index.ts";
import type { System } from "../../../../../src/ports/system.ts";
import type { LegEvent, Telephony } from "../../../../../src/ports/telephony.ts";
import { TestNetwork } from "../../../../../src/testing/telephony-network.ts";
import { type FarEnd, type Script, startFarEnd } from "../../../../support/sip/far-end.ts";
import { methodOf } from "../../../../support/sip/sip-text.ts";

const TIMEOUT_MS = 5_000;

/** A trunk in a route: its callees or its server, and its options. */
export interface RouteTrunkOptions extends Partial<Trunk> {
  /** The script of every callee; unused with a `server`. Default: answers. */
  readonly callee?: Script;
}

/** The route `world` over the trunks `first`, `second`, … with their servers. */
export interface RouteScene {
  readonly network: TestNetwork;
  /** The server of each trunk. */
  readonly farEnds: readonly FarEnd[];
  /** The network of each trunk alone. */
  readonly separateNetworks: readonly TestNetwork[];
  close(): Promise<void>;
}

const NAMES = ["first", "second", "third"];

export async function routeScene(
  trunkOptions: readonly RouteTrunkOptions[],
  { system, route }: { readonly system?: System; readonly route?: Partial<Route> } = {},
): Promise<RouteScene> {
  const farEnds = await Promise.all(trunkOptions.map(({ callee = {} }) => startFarEnd({ callees: { "*": callee } })));
  const trunks = trunkOptions.map(
    ({ callee: _, ...options }, i): Trunk => ({ name: NAMES[i]!, server: farEnds[i]!.uri, ...options }),
  );
  const world: Route = { name: "world", trunks: trunks.map(({ name }) => ({ trunk: name })), ...route };
  const networks = sip({ trunks, routes: [world], system, media: "thread" });
  const [network, ...otherNetworks] = networks.map((telephony: Telephony) => {
    return new TestNetwork({ telephony, close: async () => {} }, TIMEOUT_MS);
  });
  return {
    network: network!,
    farEnds,
    separateNetworks: otherNetworks,
    async close() {
      await Promise.all([network!, ...otherNetworks].map((testNetwork) => testNetwork.close()));
      await Promise.all(farEnds.map((end) => end.close()));
    },
  };
}

/** Number of received INVITEs, including retransmissions. */
export const invites = ({ requests }: FarEnd): number =>
  requests.filter((request) => methodOf(request) === "INVITE").length;

/** The route events in a call's timeline. */
export const routeEvents = (events: readonly LegEvent[]): unknown[] =>
  events.flatMap((event) => (event.type === "noted" && event.fact.event === "route" ? [event.fact.data] : []));
