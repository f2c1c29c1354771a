import { ClosedError } from "../../../../src/base/error.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { Network } from "../../../../src/ports/network-pages.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { InstanceRef, Line, LineHost } from "../../../../src/ports/telephony.ts";
import type { MediaEngine } from "../../../sip-stack/media/engine.ts";
import type { HostLookup } from "../../../untrusted-hosts/host-lookup.ts";
import { PendingLinkCodes } from "../../linking/pending-link-codes.ts";
import { loadRefusals } from "../destinations/trunk-destinations.ts";
import type { Shared } from "../shared-resource.ts";
import type { AccountLine } from "./account-line.ts";
import { type AccountTarget, accountPage } from "./account-page.ts";
import { AccountAttemptLimiter } from "./attempt-limiter.ts";
import { type AccountDefaults, decodeAccount } from "./sip-account.ts";

/** Time for which a code stays valid after its page has been opened, ms: time to find the password. */
const RESERVE_MS = 15 * 60_000;

/** Options for the accounts that users enter themselves. */
export interface SipAccountsOptions {
  /** The servers that may be entered: `sip.example.com`, `*.example.com`. Default: any. */
  readonly servers?: readonly string[] | undefined;
  /**
   * Accounts may reach private addresses too: this machine and its networks. Otherwise only servers that `servers`
   * lists without `*` may. Default: false.
   */
  readonly allowPrivate?: boolean | undefined;
  /** Settings for all accounts. */
  readonly defaults?: AccountDefaults | undefined;
}

/** Dependencies of {@link sipAccounts}. */
export interface SipAccountsParts {
  readonly system: System;
  readonly logger: Logger;
  readonly media: Shared<MediaEngine>;
  /** Looks up the hosts that users enter, and the hosts named by their servers. */
  readonly hosts: HostLookup;
}

/**
 * Creates the network `sip`: each instance has its own SIP account, which its owner enters on the page behind the QR
 * code. The core stores the account encrypted, as credentials.
 */
export function sipAccounts(options: SipAccountsOptions, { system, logger, media, hosts }: SipAccountsParts): Network {
  const codes = new PendingLinkCodes<AccountTarget>({ system, path: "/sip/link", reserveMs: RESERVE_MS });
  const attemptLimiter = new AccountAttemptLimiter(system);
  const { allowedPrefixes, allowEmergency = false, allowPremium = false } = options.defaults ?? {};
  const rule = loadRefusals({ allowedPrefixes, allowEmergency, allowPremium }, "the network of SIP accounts");
  const lines = new Set<AccountLine>();
  let closing: Promise<void> | undefined;

  async function open(instance: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line> {
    const assertOpen = (): void => {
      signal.throwIfAborted();
      if (closing !== undefined) throw new ClosedError("the network of SIP accounts is closed");
    };
    assertOpen();
    const [credentials, { AccountLine }] = await Promise.all([host.credentials.load(), import("./account-line.ts")]);
    assertOpen();
    const line: AccountLine = new AccountLine({
      instance,
      host,
      system,
      logger,
      media: () => media.open(),
      codes,
      attemptLimiter,
      hosts,
      servers: options.servers,
      allowPrivate: options.allowPrivate ?? false,
      defaults: options.defaults ?? {},
      onClosed: (closedLine) => lines.delete(closedLine),
    });
    lines.add(line);
    // The caller has the line before its first report.
    if (credentials !== undefined) system.after(0, () => resume(line, host, credentials));
    return line;
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.close()));
    await media.release();
  }

  return {
    name: "sip",
    capabilities: {
      ...{ dtmf: "event", inboundAudioCertain: false, transfers: true },
      lines: options.defaults?.lines ?? Infinity,
    },
    open,
    refuses: async (phoneNumber) => (await rule())(phoneNumber),
    close: () => (closing ??= close()),
    pages: { prefix: "sip", page: (path, request) => accountPage(codes, logger, path, request) },
  };
}

function resume(line: AccountLine, host: LineHost, credentials: Uint8Array): void {
  const account = decodeAccount(credentials);
  if (account === undefined) host.unlinked("the stored credentials are not a SIP account; link again");
  else line.resume(account);
}
