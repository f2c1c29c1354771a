import type { Timings } from "../domain/timings.ts";
import type { Logger } from "../ports/logger.ts";
import { type Lease, LeaseLost, type Storage, StorageUnavailable } from "../ports/storage.ts";
import type { System } from "../ports/system.ts";
import { DEADLINE_PASSED, type Deadlines } from "../ports/telephony.ts";

/** Share of the lease's duration after which no call is dialled without a renewal. */
const DIAL_SHARE = 0.6;
/** Share of the duration after which an unrenewed lease is lost: the rest is for the hang-ups. */
const SEND_SHARE = 0.85;
/** Interval between checks of who owns a database without a lease, ms. */
const VERIFY_MS = 1_000;

/** Dependencies of a {@link ServerLease}. */
export interface ServerLeaseOptions {
  readonly system: System;
  readonly storage: Pick<Storage, "lease" | "verifyOwner">;
  readonly timings: Pick<Timings, "leaseRenewMs">;
  readonly log: Logger;
}

/**
 * This process's right to act as the server of its database. Without a lease, it lasts until a check finds another
 * server; a lease is renewed, and lost when another server has taken it or when no renewal has succeeded in time. The
 * loss is permanent: only a new application on the reopened storage owns the database again.
 */
export class ServerLease {
  readonly #options: ServerLeaseOptions;
  readonly #deadlines = { dial: Infinity, send: Infinity };
  readonly #loss = new AbortController();
  readonly #fencedParts = new WeakMap<object, object>();
  #hasEnded = false;
  #isFailing = false;
  #cancelRenewal: () => void = () => {};
  #cancelExpiry: () => void = () => {};
  /** Called when dialling is allowed again after renewals had failed. */
  onDialAllowed: () => void = () => {};

  constructor(options: ServerLeaseOptions) {
    this.#options = options;
  }

  /** Time until which this process may act; always the same object. */
  get deadlines(): Deadlines {
    return this.#deadlines;
  }

  /** Aborted with the error, a {@link LeaseLost} if another server has taken it, when the lease is lost. */
  get lostSignal(): AbortSignal {
    return this.#loss.signal;
  }

  /** True if a call may be placed now. */
  get canDial(): boolean {
    return this.#options.system.monotonic() < this.#deadlines.dial;
  }

  /** True if this process is the owner, as far as it knows. */
  get isHeld(): boolean {
    return this.#options.system.monotonic() < this.#deadlines.send;
  }

  /** Starts renewing the lease of the open storage, beginning immediately. @throws {StorageUnavailable} */
  async start(): Promise<void> {
    const { lease } = this.#options.storage;
    if (!lease) {
      this.#verifyLater();
      return;
    }
    this.#deadlines.dial = this.#deadlines.send = -Infinity;
    const sentAt = this.#options.system.monotonic();
    await lease.renew();
    this.#extend(lease, sentAt);
    this.#renewLater(lease);
  }

  /**
   * The storage, or one of its stores, as this lease's application uses it: a write that is refused because another
   * server has taken the lease also ends the lease here. After {@link end} no call reaches the storage, because another
   * application may be using it by then.
   */
  fence<Part extends object>(part: Part): Part {
    const proxy = this.#fencedParts.get(part) ?? new Proxy({}, { get: (_, name) => this.#fencedMember(part, name) });
    this.#fencedParts.set(part, proxy);
    return proxy as Part;
  }

  /** Reports the lease as lost. Only the first report counts. */
  lose(error: StorageUnavailable): void {
    if (this.#loss.signal.aborted || this.#hasEnded) return;
    this.#stopTimers();
    this.#deadlines.dial = this.#deadlines.send = -Infinity;
    this.#options.log.error({ err: error }, "this server no longer owns its database; its calls and lines end");
    this.#loss.abort(error);
  }

  /** Stops renewing the lease and using the storage. */
  end(): void {
    this.#stopTimers();
    this.#hasEnded = true;
  }

  #fencedMember(part: object, name: string | symbol): unknown {
    const member: unknown = Reflect.get(part, name);
    if (typeof member === "object" && member !== null) return this.fence(member);
    if (typeof member !== "function") return member;
    return async (...args: unknown[]) => {
      if (this.#hasEnded) throw new StorageUnavailable("this application has stopped");
      try {
        return await member.apply(part, args);
      } catch (error) {
        if (error instanceof LeaseLost) this.lose(error);
        throw error;
      }
    };
  }

  #verifyLater(): void {
    const { system, storage } = this.#options;
    if (storage.verifyOwner === undefined) return;
    this.#cancelRenewal = system.after(VERIFY_MS, () => {
      this.#verifyLater();
      storage.verifyOwner?.().catch((error: unknown) => {
        if (error instanceof LeaseLost) this.lose(error); // other errors do not reveal the owner
      });
    });
  }

  /** Schedules the next renewal, which does not wait for the previous one, whose connection may be dead. */
  #renewLater(lease: Lease): void {
    const { system, timings } = this.#options;
    this.#cancelRenewal = system.after(timings.leaseRenewMs, () => {
      this.#renewLater(lease);
      const sentAt = system.monotonic();
      lease.renew().then(
        () => this.#extend(lease, sentAt),
        (error: unknown) => this.#onRenewalFailed(error),
      );
    });
  }

  /** @param sentAt when the renewal was sent: the database carried it out later */
  #extend({ ms }: Lease, sentAt: number): void {
    const { system, log } = this.#options;
    const send = sentAt + SEND_SHARE * ms;
    if (this.lostSignal.aborted || this.#hasEnded || send <= this.#deadlines.send) return;
    // Timers of a process that was stopped fire late, and in any order.
    if (Number.isFinite(this.#deadlines.send) && !this.isHeld) {
      this.#expire();
      return;
    }
    const wasBlocked = !this.canDial;
    this.#deadlines.send = send;
    this.#deadlines.dial = sentAt + DIAL_SHARE * ms;
    this.#cancelExpiry();
    this.#cancelExpiry = system.after(send - system.monotonic(), () => this.#expire());
    if (this.#isFailing) log.info({}, "the lease on the database is renewed again");
    this.#isFailing = false;
    if (wasBlocked && this.canDial) this.onDialAllowed();
  }

  #onRenewalFailed(error: unknown): void {
    if (error instanceof LeaseLost) this.lose(error);
    if (this.#isFailing || this.lostSignal.aborted || this.#hasEnded) return;
    this.#isFailing = true;
    this.#options.log.warn({ err: error }, "the lease on the database could not be renewed; trying again");
  }

  #expire(): void {
    this.lose(new StorageUnavailable(DEADLINE_PASSED));
  }

  #stopTimers(): void {
    this.#cancelRenewal();
    this.#cancelExpiry();
  }
}
