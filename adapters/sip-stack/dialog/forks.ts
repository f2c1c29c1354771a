import type { SipResponse } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import type { DialogUsage } from "./dialog-usage.ts";

/** The most early dialogs of one INVITE; a 2xx creates one beyond it. */
const MOST_FORKS = 16;

/**
 * The dialogs of one INVITE, by remote tag: several while it rings, one once it is answered (RFC 3261 section 12.1).
 */
export class Forks {
  readonly #dialogs = new Map<string, DialogUsage>();

  get size(): number {
    return this.#dialogs.size;
  }

  get(tag: string | undefined): DialogUsage | undefined {
    return this.#dialogs.get(tag ?? "");
  }

  /** The dialog of this response, created for the first response with its tag. Undefined: it creates none. */
  of(response: SipResponse, create: () => DialogUsage): DialogUsage | undefined {
    const tag = tagOf(response.headers.get("To")) ?? "";
    const known = this.#dialogs.get(tag);
    if (known !== undefined) return known;
    const early = response.status < 200;
    if (early && (tag === "" || this.#dialogs.size >= MOST_FORKS)) return undefined;
    const usage = create();
    this.#dialogs.set(tag, usage);
    return usage;
  }

  /** Drops one dialog; nothing is sent. */
  drop(usage: DialogUsage | undefined): void {
    if (usage === undefined) return;
    usage.close();
    this.#dialogs.delete(usage.dialog.remoteTag);
  }

  /** Drops all but one; nothing is sent. */
  keepOnly(kept: DialogUsage | undefined): void {
    for (const usage of this.#dialogs.values()) if (usage !== kept) this.drop(usage);
  }
}
