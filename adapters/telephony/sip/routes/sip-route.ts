import type { System } from "../../../../src/ports/system.ts";
import { DialError, type Leg, type LineHealth } from "../../../../src/ports/telephony.ts";
import { type Carrier, type CarrierDialOptions, type HealthListener, LinkedLines } from "../carrier.ts";
import type { Route } from "../config/route-config.ts";
import { ONLINE, offline, sameHealth } from "../registration/presence.ts";
import type { SipTrunk } from "../sip-trunk.ts";
import { chosenTrunks } from "./chosen-trunks.ts";
import { RouteAttempts } from "./route-attempts.ts";
import { RouteLeg } from "./route-leg.ts";

/** Options of {@link SipRoute}. */
interface SipRouteOptions {
  readonly route: Route;
  /** The trunks of the route, by name. */
  readonly trunks: ReadonlyMap<string, SipTrunk>;
  /** Sample rate of its legs, Hz. */
  readonly sampleRate: number;
  readonly system: System;
}

/** A route in use: it is online if any of its trunks is, and tries them one after another. */
export class SipRoute implements Carrier {
  readonly #options: SipRouteOptions;
  readonly #lines = new LinkedLines(() => this.checkHealth());
  readonly #members: readonly Member[];
  /** The last reported health. */
  #health: LineHealth | undefined;

  constructor(options: SipRouteOptions) {
    this.#options = options;
    this.#members = [...options.trunks].map(([name, trunk]) => new Member(name, trunk, () => this.#report()));
    for (const member of this.#members) member.trunk.subscribe(member);
  }

  get phone(): string | null {
    const phones = new Set(this.#members.map(({ trunk }) => trunk.phone));
    const [phone] = phones;
    return phones.size === 1 ? (phone ?? null) : null;
  }

  subscribe(line: HealthListener): void {
    this.#lines.subscribe(line);
  }

  unsubscribe(line: HealthListener): void {
    this.#lines.unsubscribe(line);
  }

  async checkHealth(): Promise<LineHealth> {
    const probes = this.#members.map(async ({ name, trunk }) => ({ name, health: await trunk.checkHealth() }));
    const onlineProbes = probes.map(async (probe) => {
      if ((await probe).health.state === "offline") throw new Error("offline");
    });
    return Promise.any(onlineProbes).then(
      () => ONLINE,
      async () => healthOf(await Promise.all(probes)),
    );
  }

  async dial(to: string, options: CarrierDialOptions, signal: AbortSignal, onEnded: (leg: Leg) => void): Promise<Leg> {
    const { route, trunks, sampleRate, system } = this.#options;
    const attempts = new RouteAttempts(chosenTrunks(route, to, system), (name, attemptSignal) => {
      const trunk = trunks.get(name);
      if (trunk === undefined) throw new DialError("unreachable", `unknown trunk "${name}"`);
      return trunk.dial(to, { ...options, sampleRate }, attemptSignal, () => {});
    });
    const first = await attempts.next(signal);
    if (first === undefined) throw attempts.refusal();
    return new RouteLeg({ first, attempts, onEnded });
  }

  async close(): Promise<void> {
    for (const member of this.#members) member.trunk.unsubscribe(member);
  }

  #report(): void {
    const reports = this.#members.flatMap(({ name, lastHealth }) =>
      lastHealth === undefined ? [] : [{ name, health: lastHealth }],
    );
    const health = healthOf(reports);
    if (health.state === "offline" && reports.length < this.#members.length) return; // another trunk may be online
    if (sameHealth(this.#health, health)) return;
    this.#health = health;
    this.#lines.report(health);
  }
}

/** One of a route's trunks, with its last reported health. */
class Member implements HealthListener {
  readonly name: string;
  readonly trunk: SipTrunk;
  lastHealth: LineHealth | undefined;
  readonly #onChange: () => void;

  constructor(name: string, trunk: SipTrunk, onChange: () => void) {
    this.name = name;
    this.trunk = trunk;
    this.#onChange = onChange;
  }

  healthChanged(health: LineHealth): void {
    this.lastHealth = health;
    this.#onChange();
  }
}

/** Online if any member is; otherwise the reasons of all members, lasting if each of them is. */
function healthOf(trunks: readonly { readonly name: string; readonly health: LineHealth }[]): LineHealth {
  const reasons: string[] = [];
  let lasting = true;
  for (const { name, health } of trunks) {
    if (health.state === "online") return ONLINE;
    reasons.push(`trunk ${name}: ${health.reason}`);
    lasting &&= health.lasting === true;
  }
  return offline(reasons.join("; "), lasting && reasons.length > 0);
}
