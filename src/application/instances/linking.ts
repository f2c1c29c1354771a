import { within } from "../../base/timers.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { parseBody } from "../../domain/input/input-parser.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import { PAIRING_SCHEMA } from "../../domain/instances/pairing-input.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import { type LinkCode, NetworkSilent } from "../../ports/telephony.ts";
import type { Deletions } from "../calls/deletion/instance-deletions.ts";
import type { Context } from "../context.ts";
import type {
  CreateOptions,
  InstanceUseCases,
  LinkingCode,
  LinkPageState,
  TypedLinkCode,
  WaitLimit,
} from "../use-cases.ts";
import { PerUser } from "../user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../user-limits/user-limits.ts";
import type { LineMonitor } from "./line-monitor.ts";
import type { Lines } from "./lines.ts";
import { type LinkTicket, LinkTickets } from "./link-tickets.ts";
import { instanceNotFound, ownedInstance } from "./owned-instance.ts";
import { pairingCodeOf, pairingInstruction, reasonWithoutCode } from "./pairing.ts";

/** Dependencies of {@link Linking}. */
export type LinkingContext = Pick<Context, "storage" | "system" | "telephony" | "timings" | "vault">;

/** Links phone numbers to instances, by codes that are scanned or typed on the phone. */
export class Linking implements Pick<InstanceUseCases, "configure" | "pairingCode" | "linkTicket" | "linkPage"> {
  readonly #context: LinkingContext;
  readonly #lines: Lines;
  readonly #deletions: Pick<Deletions, "isUnderWay">;
  readonly #linkTickets: LinkTickets;
  /** Pending requests from link pages, by instance. */
  readonly #linkPages = new PerUser(MAX_AT_ONCE.linkPages);

  constructor(context: LinkingContext, lines: Lines, deletions: Pick<Deletions, "isUnderWay">) {
    this.#context = context;
    this.#lines = lines;
    this.#deletions = deletions;
    this.#linkTickets = new LinkTickets(context.vault, context.system);
  }

  async configure(
    principal: Principal,
    instanceId: string,
    { signal }: Pick<WaitLimit, "signal"> = {},
  ): Promise<LinkingCode> {
    const instance = await ownedInstance(this.#context.storage, principal, instanceId);
    if (instance.status !== "CREATED") {
      this.#lines.find(instance.id)?.retry();
      throw alreadyLinked(instance);
    }
    const monitor = this.#lines.monitorOf(instance);
    if (monitor.linksAutomatically) return this.#refuseCode(instance, monitor, signal);
    const code = await this.#codeOf(monitor, signal);
    if (!code) await this.#whenStored(monitor);
    await this.#assertUnlinked(instance);
    if (code) {
      const message = instructionFor(instance, code.payload);
      return { instanceId, payload: code.payload, expiresAt: code.expiresAt, sequence: code.sequence, message };
    }
    const reason = monitor.connection.reason ?? "unknown";
    throw new Refusal("qr_unavailable", `no QR code came within ${this.#context.timings.linkCodeMs} ms: ${reason}`);
  }

  async pairingCode(
    principal: Principal,
    instanceId: string,
    input: unknown,
    { strict = false, signal }: Pick<CreateOptions, "strict" | "signal"> = {},
  ): Promise<TypedLinkCode> {
    const { phone } = parseBody(PAIRING_SCHEMA, input, { strict });
    const instance = await ownedInstance(this.#context.storage, principal, instanceId);
    if (instance.status !== "CREATED") throw alreadyLinked(instance);
    const code = await pairingCodeOf(this.#context, this.#lines, { instance, phone, signal });
    await this.#assertUnlinked(instance);
    return { instanceId, ...code, message: pairingInstruction(phone) };
  }

  async linkTicket(principal: Principal, instanceId: string): Promise<LinkTicket> {
    const instance = await ownedInstance(this.#context.storage, principal, instanceId);
    if (instance.status !== "CREATED") throw alreadyLinked(instance);
    if (this.#lines.monitorOf(instance).linksAutomatically)
      throw new Refusal("qr_unavailable", `there is no QR code: "${instance.provider}" links automatically`);
    return this.#linkTickets.issue(instance.id);
  }

  async linkPage(ticket: string, waitOptions: Pick<WaitLimit, "signal"> = {}): Promise<LinkPageState> {
    const linkTicket = await this.#linkTickets.read(ticket);
    const instance = linkTicket && (await this.#context.storage.instances.get(linkTicket.instanceId));
    if (!instance || instance.status === "DELETED") throw noLinkPage();
    if (linkTicket?.isExpired)
      throw new Refusal("link_page_expired", "this page has expired; ask its sender for a new address");
    const { id, userId, name } = instance;
    const release = this.#linkPages.take(id);
    if (!release) throw new Refusal("server_busy", "too many copies of this page are open; close it on other devices");
    try {
      return { name, linked: false, code: await this.configure({ userId }, id, waitOptions) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "instance_not_found") throw noLinkPage();
      // The reason is for the server's owner, unless the phone's owner should see it.
      if (error.code !== "instance_already_linked") {
        const { condition, reason } = this.#lines.connection(instance);
        const suffix = condition === null ? "" : `: ${reason}`;
        throw new Refusal(error.code, `there is no code at the moment${suffix}`, { cause: error });
      }
      return { name, linked: true, phone: (await this.#context.storage.instances.get(id))?.phone ?? null };
    } finally {
      release();
    }
  }

  /** The current code, or the next code; undefined if none arrives in time or the number is linked in the meantime. */
  async #codeOf(monitor: LineMonitor, signal: AbortSignal | undefined): Promise<LinkCode | undefined> {
    const { system, timings } = this.#context;
    const until = system.monotonic() + timings.linkCodeMs;
    const timeoutError = () => new NetworkSilent(`the network did not respond within ${timings.linkCodeMs} ms`);
    try {
      const bound = { system, ms: timings.linkCodeMs, timeoutError, signal };
      await within(monitor.link(), bound);
      return await within(monitor.currentCode(until - system.monotonic()), bound);
    } catch (cause) {
      throw new Refusal("qr_unavailable", `no QR code: ${reasonWithoutCode(cause, signal)}`, { cause });
    }
  }

  /** A network that links automatically shows no code; the refusal states why it has not linked yet. */
  async #refuseCode(instance: Instance, monitor: LineMonitor, signal: AbortSignal | undefined): Promise<never> {
    const { system, timings } = this.#context;
    const timeoutError = () => new NetworkSilent("the network does not respond");
    // The reason is in the connection.
    await within(monitor.probe(), { system, ms: timings.linkCodeMs, timeoutError, signal }).catch(() =>
      signal?.throwIfAborted(),
    );
    await this.#whenStored(monitor);
    await this.#assertUnlinked(instance);
    const reason = monitor.connection.reason ?? "it has not been online yet";
    throw new Refusal(
      "qr_unavailable",
      `there is no QR code: "${instance.provider}" links automatically as soon as it is online, but ${reason}`,
    );
  }

  /** Waits until all reports of the line are stored. */
  async #whenStored(monitor: LineMonitor): Promise<void> {
    const { system, timings } = this.#context;
    const timeoutError = () =>
      new StorageUnavailable(`the line's state could not be stored within ${timings.storeMs} ms`);
    await within(monitor.whenStored(), { system, ms: timings.storeMs, timeoutError });
  }

  /** @throws {Refusal} the instance is linked, or deleted */
  async #assertUnlinked(instance: Instance): Promise<void> {
    const current = await this.#context.storage.instances.get(instance.id);
    if (!current || current.status === "DELETED") {
      // The line may have been opened after the deletion; a deletion under way closes it itself.
      if (!this.#deletions.isUnderWay(instance.id)) await this.#lines.drop(instance.id);
      throw instanceNotFound(instance.id);
    }
    if (current.status !== "CREATED") throw alreadyLinked(current);
  }
}

/** Instruction for the person who holds the phone; a code that is a web address can be opened as well. */
function instructionFor(instance: Instance, payload: string): string {
  const openHint = /^https?:/.test(payload) ? `, or open ${payload} on it` : "";
  return `Scan this code with the phone of "${instance.name}" to link its number${openHint}. The code changes; request it again when it has expired.`;
}

function noLinkPage(): Refusal {
  return new Refusal("link_page_not_found", "there is no such link page; its address may be incomplete");
}

function alreadyLinked(instance: Instance): Refusal {
  return new Refusal("instance_already_linked", `instance "${instance.id}" is already linked; it needs no QR code`);
}
