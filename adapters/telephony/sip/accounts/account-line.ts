import { errorText } from "../../../../src/base/error.ts";
import { within } from "../../../../src/base/timers.ts";
import { mayBePublic } from "../../../../src/domain/public-address.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import {
  DialError,
  type DialOptions,
  type InstanceRef,
  type Leg,
  type Line,
  type LineHealth,
  type LineHost,
} from "../../../../src/ports/telephony.ts";
import type { MediaEngine } from "../../../sip-stack/media/engine.ts";
import { parseHostPort } from "../../../sip-stack/message/uri.ts";
import type { HostLookup } from "../../../user-hosts/host-lookup.ts";
import { LinkAttempt } from "../../linking/link-attempt.ts";
import type { ShownCodes } from "../../linking/link-codes.ts";
import { resolveTrunk } from "../config/resolve-trunk.ts";
import type { Trunk } from "../config/trunk.ts";
import { SipLine } from "../line.ts";
import { offline } from "../registration/presence.ts";
import { SipTrunk } from "../trunk.ts";
import { type AccountDefaults, type AccountFaults, encodeAccount, type SipAccount, trunkOf } from "./account.ts";
import type { AccountTarget, AccountVerdict } from "./account-page.ts";
import type { TryLimit } from "./try-limit.ts";

/** Time a server may take to respond about an account, ms; after that the account is refused. */
const TRY_MS = 15_000;

const NOT_PUBLIC = "is not on the public Internet; only the operator of this server can allow others";

/** Options of {@link AccountLine}. */
export interface AccountLineOptions {
  readonly instance: InstanceRef;
  readonly host: LineHost;
  readonly system: System;
  readonly logger: Logger;
  readonly media: () => Promise<MediaEngine>;
  readonly codes: ShownCodes<AccountTarget>;
  readonly tries: TryLimit;
  /** The servers that may be entered; undefined for any. */
  readonly servers: readonly string[] | undefined;
  /** True if accounts may reach private addresses. */
  readonly allowPrivate: boolean;
  readonly defaults: AccountDefaults;
  /** Looks up the hosts of accounts. */
  readonly hosts: HostLookup;
  /** Called when the line is closed. */
  readonly closed: (line: AccountLine) => void;
}

/** A linked account: its trunk, and the line on it. */
interface Linked {
  readonly trunk: SipTrunk;
  readonly line: SipLine;
}

/** An instance's line over a SIP account that its owner has entered on the page behind the QR code. */
export class AccountLine implements Line, AccountTarget {
  readonly #options: AccountLineOptions;
  #attempt: LinkAttempt<AccountTarget>;
  #linked: Linked | undefined;
  /** Reason why the stored account is not used. */
  #unusable: string | undefined;
  #entering: Promise<AccountVerdict> | undefined;
  #closed = false;

  constructor(options: AccountLineOptions) {
    this.#options = options;
    this.#attempt = new LinkAttempt(options.codes, this);
  }

  get name(): string {
    return this.#options.instance.name;
  }

  get instanceId(): string {
    return this.#options.instance.id;
  }

  publicUrl(): string {
    return this.#options.host.publicUrl();
  }

  code(code: Parameters<LineHost["code"]>[0]): void {
    this.#options.host.code(code);
  }

  /** Links again with a stored account. */
  resume(account: SipAccount): void {
    if (this.#closed) return;
    const checked = this.#check(account);
    if ("trunk" in checked) void this.#start(this.#trunk(account, checked.trunk), { known: false });
    else
      this.#unusable = `the account can no longer be used: ${sentence(checked.faults)}; delete the instance, or ask the operator`;
  }

  async link(): Promise<void> {
    if (!this.#closed && this.#linked === undefined && this.#unusable === undefined) this.#attempt.requestCode();
  }

  async enter(account: SipAccount): Promise<AccountVerdict> {
    if (this.#closed || this.#linked !== undefined) return { verdict: "gone" };
    const checked = this.#check(account);
    if ("faults" in checked) return { verdict: "faulty", faults: checked.faults };
    if (this.#entering !== undefined) return { verdict: "later", waitMs: 1_000 };
    const attempt = this.#options.tries.begin(this.#options.instance.userId, account);
    if ("waitMs" in attempt) return { verdict: "later", waitMs: attempt.waitMs };
    let outcome: "right" | "wrong" = "wrong";
    // Closing and unlinking wait for this, so that a line is never half linked.
    this.#entering = this.#try(account, checked.trunk)
      .then((result) => {
        if (result.verdict === "linked") outcome = "right";
        return result;
      })
      .finally(() => {
        this.#entering = undefined;
        attempt.end(outcome);
      });
    return this.#entering;
  }

  async probe(): Promise<LineHealth> {
    if (this.#linked) return this.#linked.line.probe();
    if (this.#unusable !== undefined) return offline(this.#unusable, true);
    return offline(this.#closed ? "closed" : "not linked");
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    if (this.#linked) return this.#linked.line.dial(to, options, signal);
    throw new DialError("unreachable", this.#unusable ?? "the line is not linked");
  }

  async unlink(): Promise<void> {
    // A loop, because another attempt may have started in the meantime.
    while (this.#entering !== undefined) await this.#entering.catch(() => {});
    const linked = this.#linked;
    this.#linked = this.#unusable = undefined;
    this.#attempt.stop();
    await stop(linked);
    this.#attempt = new LinkAttempt(this.#options.codes, this); // a new attempt counts its codes from 1
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#attempt.stop();
    await this.#entering?.catch(() => {});
    await stop(this.#linked);
    this.#options.closed(this);
  }

  #check(account: SipAccount): { trunk: Trunk } | { faults: AccountFaults } {
    const { servers, defaults } = this.#options;
    const host = parseHostPort(account.server)?.host ?? "";
    if (account.user === "") return { faults: { user: "is missing" } };
    const checked = trunkOf(account, defaults);
    if ("faults" in checked) return checked;
    if (!isAllowed(account.server, servers))
      return { faults: { server: `is not an allowed server; allowed here: ${servers?.join(", ")}` } };
    if (this.#onlyPublic(account) && !mayBePublic(host)) return { faults: { server: NOT_PUBLIC } };
    return checked;
  }

  async #try(account: SipAccount, trunk: Trunk): Promise<AccountVerdict> {
    const { host } = this.#options;
    const tried = this.#trunk(account, trunk);
    try {
      const health = await this.#ask(tried);
      if (health.state === "offline") return await dropped(tried, { verdict: "refused", reason: health.reason });
      if (this.#closed) return await dropped(tried, { verdict: "gone" });
      await host.linked(tried.phone, encodeAccount(account));
    } catch (fault) {
      await tried.close();
      throw fault;
    }
    this.#attempt.stop();
    await this.#start(tried, { known: true });
    return { verdict: "linked", phone: tried.phone };
  }

  /** Asks the server about the account. */
  #ask(trunk: SipTrunk): Promise<LineHealth> {
    const late = () =>
      new Error(`the server did not answer for ${TRY_MS / 1000} s; check its name, its port and the transport`);
    return within(trunk.ask(), { system: this.#options.system, ms: TRY_MS, late }).catch((fault: unknown) =>
      offline(errorText(fault)),
    );
  }

  #trunk(account: SipAccount, trunk: Trunk): SipTrunk {
    const { instance, system, logger, media, hosts } = this.#options;
    const owner = { userId: instance.userId, onlyPublic: this.#onlyPublic(account) };
    return new SipTrunk({ trunk: resolveTrunk(trunk), owner, hosts, system, logger, media });
  }

  /**
   * A server that the operator has listed may be in a private network, and may redirect to others there, as with a
   * trunk.
   */
  #onlyPublic({ server }: SipAccount): boolean {
    const { allowPrivate, servers } = this.#options;
    return !allowPrivate && !isListed(server, servers);
  }

  /** Opens a line on the trunk; it reports that it is online, and that it is linked unless the host already knows. */
  async #start(trunk: SipTrunk, { known }: { known: boolean }): Promise<void> {
    const { host } = this.#options;
    const line = new SipLine({ host, carrier: trunk, known, closed: () => {} });
    this.#linked = { trunk, line };
    await line.link();
  }
}

async function dropped(trunk: SipTrunk, verdict: AccountVerdict): Promise<AccountVerdict> {
  await trunk.close();
  return verdict;
}

async function stop(linked: Linked | undefined): Promise<void> {
  await linked?.line.close();
  await linked?.trunk.close();
}

function sentence(faults: AccountFaults): string {
  return Object.entries(faults)
    .map(([field, fault]) => `${field} ${fault}`)
    .join("; ");
}

/** True if the operator has listed this exact server, not just its domain. */
export function isListed(server: string, patterns: readonly string[] | undefined): boolean {
  return isAllowed(server, patterns?.filter((pattern) => !pattern.startsWith("*.")) ?? []);
}

/**
 * True if an account may use this server.
 * @param patterns `sip.example.com` for the host itself, `*.example.com` for its subdomains; undefined for any
 */
function isAllowed(server: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  const host = parseHostPort(server)?.host.replace(/\.$/, "");
  if (host === undefined) return false;
  return patterns.some((pattern) => {
    const allowed = pattern.toLowerCase().replace(/^\[|\]$/g, "");
    return allowed.startsWith("*.") ? host.endsWith(allowed.slice(1)) : host === allowed;
  });
}
