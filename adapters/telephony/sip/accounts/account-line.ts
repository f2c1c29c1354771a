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
import type { HostLookup } from "../../../untrusted-hosts/host-lookup.ts";
import { LinkAttempt } from "../../linking/link-attempt.ts";
import type { PendingLinkCodes } from "../../linking/pending-link-codes.ts";
import { resolveTrunk } from "../config/resolve-trunk.ts";
import type { Trunk } from "../config/trunk-config.ts";
import { SipLine } from "../line.ts";
import { offline } from "../registration/presence.ts";
import { SipTrunk } from "../sip-trunk.ts";
import type { AccountTarget, AccountVerdict } from "./account-page.ts";
import type { AccountAttemptLimiter } from "./attempt-limiter.ts";
import { type AccountDefaults, type AccountFaults, encodeAccount, type SipAccount, trunkOf } from "./sip-account.ts";

/** Time limit for the server's response about an account, ms; after it the account is refused. */
const ATTEMPT_TIMEOUT_MS = 15_000;

const NOT_PUBLIC = "is not on the public Internet; only the operator of this server can allow others";

/** Options of {@link AccountLine}. */
export interface AccountLineOptions {
  readonly instance: InstanceRef;
  readonly host: LineHost;
  readonly system: System;
  readonly logger: Logger;
  readonly media: () => Promise<MediaEngine>;
  readonly codes: PendingLinkCodes<AccountTarget>;
  readonly attemptLimiter: AccountAttemptLimiter;
  /** The servers that may be entered; undefined for any. */
  readonly servers: readonly string[] | undefined;
  /** True if accounts may reach private addresses. */
  readonly allowPrivate: boolean;
  readonly defaults: AccountDefaults;
  /** Looks up the accounts' hosts. */
  readonly hosts: HostLookup;
  /** Called when the line is closed. */
  readonly onClosed: (line: AccountLine) => void;
}

/** A linked account: its trunk, and the line on it. */
interface LinkedAccount {
  readonly trunk: SipTrunk;
  readonly line: SipLine;
}

/** An instance's line over a SIP account that its owner has entered on the page behind the QR code. */
export class AccountLine implements Line, AccountTarget {
  readonly instance: InstanceRef;
  readonly host: LineHost;
  readonly #options: AccountLineOptions;
  #attempt: LinkAttempt<AccountTarget>;
  #linkedAccount: LinkedAccount | undefined;
  /** Reason why the stored account is not used. */
  #unusableReason: string | undefined;
  #pendingEntry: Promise<AccountVerdict> | undefined;
  #isClosed = false;

  constructor(options: AccountLineOptions) {
    this.instance = options.instance;
    this.host = options.host;
    this.#options = options;
    this.#attempt = new LinkAttempt(options.codes, this);
  }

  /** Links again with a stored account. */
  resume(account: SipAccount): void {
    if (this.#isClosed) return;
    const check = this.#check(account);
    if ("trunk" in check) void this.#openLine(this.#trunk(account, check.trunk), { isLinkStored: false });
    else
      this.#unusableReason = `the account can no longer be used: ${faultsText(check.faults)}; delete the instance, or ask the operator`;
  }

  async link(): Promise<void> {
    if (!this.#isClosed && this.#linkedAccount === undefined && this.#unusableReason === undefined)
      this.#attempt.requestCode();
  }

  async enter(account: SipAccount): Promise<AccountVerdict> {
    if (this.#isClosed || this.#linkedAccount !== undefined) return { verdict: "unavailable" };
    const check = this.#check(account);
    if ("faults" in check) return { verdict: "invalid", faults: check.faults };
    if (this.#pendingEntry !== undefined) return { verdict: "wait", waitMs: 1_000 };
    const attempt = this.#options.attemptLimiter.begin(this.#options.instance.userId, account);
    if ("waitMs" in attempt) return { verdict: "wait", waitMs: attempt.waitMs };
    let outcome: "accepted" | "rejected" = "rejected";
    // Closing and unlinking wait for this, so that a line is never half linked.
    this.#pendingEntry = this.#tryAccount(account, check.trunk)
      .then((result) => {
        if (result.verdict === "linked") outcome = "accepted";
        return result;
      })
      .finally(() => {
        this.#pendingEntry = undefined;
        attempt.end(outcome);
      });
    return this.#pendingEntry;
  }

  async probe(): Promise<LineHealth> {
    if (this.#linkedAccount) return this.#linkedAccount.line.probe();
    if (this.#unusableReason !== undefined) return offline(this.#unusableReason, true);
    return offline(this.#isClosed ? "closed" : "not linked");
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    if (this.#linkedAccount) return this.#linkedAccount.line.dial(to, options, signal);
    throw new DialError("unreachable", this.#unusableReason ?? "the line is not linked");
  }

  async unlink(): Promise<void> {
    // A loop, because another attempt may have started in the meantime.
    while (this.#pendingEntry !== undefined) await this.#pendingEntry.catch(() => {});
    const linkedAccount = this.#linkedAccount;
    this.#linkedAccount = this.#unusableReason = undefined;
    this.#attempt.stop();
    await stop(linkedAccount);
    this.#attempt = new LinkAttempt(this.#options.codes, this); // a new attempt counts its codes from 1
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#attempt.stop();
    await this.#pendingEntry?.catch(() => {});
    await stop(this.#linkedAccount);
    this.#options.onClosed(this);
  }

  #check(account: SipAccount): { trunk: Trunk } | { faults: AccountFaults } {
    const { servers, defaults } = this.#options;
    const host = parseHostPort(account.server)?.host ?? "";
    if (account.user === "") return { faults: { user: "is missing" } };
    const result = trunkOf(account, defaults);
    if ("faults" in result) return result;
    if (!isAllowed(account.server, servers))
      return { faults: { server: `is not an allowed server; allowed here: ${servers?.join(", ")}` } };
    if (this.#onlyPublic(account) && !mayBePublic(host)) return { faults: { server: NOT_PUBLIC } };
    return result;
  }

  async #tryAccount(account: SipAccount, trunk: Trunk): Promise<AccountVerdict> {
    const { host } = this.#options;
    const candidate = this.#trunk(account, trunk);
    try {
      const health = await this.#checkAccount(candidate);
      if (health.state === "offline") return await discard(candidate, { verdict: "refused", reason: health.reason });
      if (this.#isClosed) return await discard(candidate, { verdict: "unavailable" });
      await host.linked(candidate.phone, encodeAccount(account));
    } catch (error) {
      await candidate.close();
      throw error;
    }
    this.#attempt.stop();
    await this.#openLine(candidate, { isLinkStored: true });
    return { verdict: "linked", phone: candidate.phone };
  }

  /** Asks the server about the account. */
  #checkAccount(trunk: SipTrunk): Promise<LineHealth> {
    const createTimeoutError = () =>
      new Error(
        `the server did not respond for ${ATTEMPT_TIMEOUT_MS / 1000} s; check its name, its port and the transport`,
      );
    return within(trunk.checkHealth(), {
      system: this.#options.system,
      ms: ATTEMPT_TIMEOUT_MS,
      timeoutError: createTimeoutError,
    }).catch((fault: unknown) => offline(errorText(fault)));
  }

  #trunk(account: SipAccount, trunk: Trunk): SipTrunk {
    const { instance, system, logger, media, hosts } = this.#options;
    const owner = { userId: instance.userId, onlyPublic: this.#onlyPublic(account) };
    return new SipTrunk({ trunk: resolveTrunk(trunk), owner, hosts, system, logger, media });
  }

  /**
   * True if only public addresses are allowed. A server that the operator has listed may be in a private network, and
   * may redirect to others there, as with a trunk.
   */
  #onlyPublic({ server }: SipAccount): boolean {
    const { allowPrivate, servers } = this.#options;
    return !allowPrivate && !isListed(server, servers);
  }

  /**
   * Opens a line on the trunk. The line reports that it is online and, unless the host has stored the link, that it
   * is linked.
   */
  async #openLine(trunk: SipTrunk, { isLinkStored }: { isLinkStored: boolean }): Promise<void> {
    const { host } = this.#options;
    const line = new SipLine({ host, carrier: trunk, isLinkStored, onClosed: () => {} });
    this.#linkedAccount = { trunk, line };
    await line.link();
  }
}

async function discard(trunk: SipTrunk, verdict: AccountVerdict): Promise<AccountVerdict> {
  await trunk.close();
  return verdict;
}

async function stop(linkedAccount: LinkedAccount | undefined): Promise<void> {
  await linkedAccount?.line.close();
  await linkedAccount?.trunk.close();
}

function faultsText(faults: AccountFaults): string {
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
    const allowedHost = pattern.toLowerCase().replace(/^\[|\]$/g, "");
    return allowedHost.startsWith("*.") ? host.endsWith(allowedHost.slice(1)) : host === allowedHost;
  });
}
