import type { Call } from "../../../domain/calls/call.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import { MAX_POSTPONEMENT_MS } from "../../../domain/dialling-rules/calling-hours.ts";
import type { Context } from "../../context.ts";
import type { Lines } from "../../instances/lines.ts";
import { WallClock } from "../../wall-clock.ts";
import { queueTimeOf } from "../call-clock.ts";
import { failCall, type StoredCallsContext } from "../stored-calls.ts";
import { byAge, byExpiry, OverdueCalls } from "./overdue-calls.ts";

type QueueTimeoutContext = Pick<Context, "log" | "processPauses" | "storage" | "system" | "timings"> &
  StoredCallsContext;

const BATCH_SIZE = 100;
const RETRY_MS = 5_000;

/**
 * Fails calls that have waited too long for their instance. Uses one timer, armed for the call whose time ends first.
 *
 * The waiting time follows from the stored times and the wall clock. If the wall clock was changed in the meantime,
 * each waiting call gets a due time on the monotonic clock, once.
 */
export class QueueTimeout {
  readonly #context: QueueTimeoutContext;
  readonly #lines: Lines;
  readonly #wallClock: WallClock;
  /** Due times of calls created before the wall clock was changed, by id; on the monotonic clock, ms. */
  readonly #dueTimes = new Map<string, number>();
  readonly #byAge: OverdueCalls;
  readonly #byExpiry: OverdueCalls;
  #cancel: (() => void) | undefined;
  /** Change of the wall clock since due times were given, ms. */
  #clockChangeMs = 0;
  /** Time at which the timer fires, on the monotonic clock, ms. */
  #firesAt = 0;
  #isStopped = false;

  constructor(context: QueueTimeoutContext, lines: Lines) {
    this.#context = context;
    this.#lines = lines;
    this.#wallClock = new WallClock(context.system);
    const { storage, system, timings } = context;
    this.#byAge = new OverdueCalls(system, byAge(storage.calls, timings));
    this.#byExpiry = new OverdueCalls(system, byExpiry(storage.calls));
  }

  async start(): Promise<void> {
    // The clock may have been set back while no process ran.
    await this.#setDueTimes(0);
    await this.#arm(0);
  }

  /** Called when a call starts to wait: it was created, or returned to the queue. */
  onQueued(call: Call): void {
    const overdueCalls = call.expiresAt === undefined ? this.#byAge : this.#byExpiry;
    overdueCalls.add(call);
    const at = this.#dueTimes.get(call.id) ?? this.#context.system.monotonic() + overdueCalls.remainingMs(call);
    if (!this.#cancel || at < this.#firesAt) this.#armAt(at);
  }

  /** Called when a line no longer takes calls: waiting calls may have reached their time limit. */
  onLineDown(): void {
    const ordersWithRemaining = [this.#byAge, this.#byExpiry].filter(({ hasRemaining }) => hasRemaining);
    if (ordersWithRemaining.length === 0) return;
    for (const overdueCalls of ordersWithRemaining) overdueCalls.checkAll();
    const at = this.#context.system.monotonic() + RETRY_MS;
    if (!this.#cancel || at < this.#firesAt) this.#armAt(at);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Sets the timer for the next call. @param notBefore on the monotonic clock, ms */
  async #arm(notBefore: number): Promise<void> {
    const { system } = this.#context;
    let next = Infinity;
    for (const overdueCalls of [this.#byAge, this.#byExpiry]) {
      const remainingMs = await overdueCalls.msUntilNext();
      if (remainingMs !== undefined) {
        // The first call may have its own due time; such calls are few, and exist only for a while.
        const waitMs =
          this.#dueTimes.size > 0 ? Math.min(this.#nextDueAt() - system.monotonic(), RETRY_MS) : remainingMs;
        next = Math.min(next, Math.max(notBefore, system.monotonic() + waitMs));
      }
      if (overdueCalls.hasRemaining) next = Math.min(next, overdueCalls.fullCheckAt);
    }
    if (next < Infinity) this.#armAt(next);
  }

  #nextDueAt(): number {
    let next = Infinity;
    for (const at of this.#dueTimes.values()) next = Math.min(next, at);
    return next;
  }

  /** Sets the timer, which reads the clocks on the way: no line is probed while calls wait for one that is offline. */
  #armAt(at: number): void {
    if (this.#isStopped) return;
    const { system, timings, processPauses } = this.#context;
    this.#cancel?.();
    this.#firesAt = at;
    const remainingMs = Math.max(0, at - system.monotonic());
    this.#cancel = system.after(Math.min(remainingMs, timings.probeMs), () => {
      processPauses.readClocks();
      if (remainingMs <= timings.probeMs) void this.#expire();
      else this.#armAt(at);
    });
  }

  async #expire(): Promise<void> {
    const { system, log } = this.#context;
    this.#cancel = undefined;
    this.#clockChangeMs += this.#wallClock.takeJumpMs();
    try {
      await this.#setDueTimes(this.#clockChangeMs);
      this.#clockChangeMs = 0;
      const remainingCount = await this.#expireDue();
      for (const overdueCalls of [this.#byAge, this.#byExpiry])
        await overdueCalls.expire(async (call) => this.#dueTimes.has(call.id) || (await this.#fail(call)));
      await this.#arm(system.monotonic() + (remainingCount > 0 ? RETRY_MS : 1));
    } catch (error) {
      log.warn({ err: error }, "waiting calls could not be checked; trying again");
      this.#armAt(system.monotonic() + RETRY_MS);
    }
  }

  /**
   * Gives due times to calls whose creation time is unreliable: to all waiting calls if the wall clock was changed,
   * otherwise to calls that were created "in the future". A call that may be from before or after the jump is taken to
   * be from after it.
   */
  async #setDueTimes(clockChangeMs: number): Promise<void> {
    const { system, timings, storage } = this.#context;
    const now = system.now();
    let after: Pick<Call, "id" | "createdAt"> | undefined =
      clockChangeMs === 0 ? { id: "~", createdAt: now } : undefined;
    for (;;) {
      const batch = await storage.calls.waitingSince(Number.MAX_SAFE_INTEGER, BATCH_SIZE, after);
      for (const call of batch) {
        const { id, createdAt } = call;
        if (this.#dueTimes.has(id)) continue;
        const ages = [now - createdAt, now - clockChangeMs - createdAt].filter((age) => age >= 0);
        const age = ages.length > 0 ? Math.min(...ages) : 0;
        this.#dueTimes.set(id, system.monotonic() + queueTimeOf(call, timings) - age);
      }
      after = batch.at(-1);
      if (batch.length < BATCH_SIZE) return;
    }
  }

  /** Fails calls by their due time; resolves with the number of calls that keep waiting. */
  async #expireDue(): Promise<number> {
    const { system, storage } = this.#context;
    let remainingCount = 0;
    for (const [id, at] of this.#dueTimes) {
      if (at > system.monotonic()) continue;
      const call = await storage.calls.get(id);
      if (call?.status === "QUEUED" && (call.owner !== null || !(await this.#fail(call)))) remainingCount++;
      else this.#dueTimes.delete(id);
    }
    return remainingCount;
  }

  /** Fails the call; resolves with false if it is queued behind another on a working line, and so keeps waiting. */
  async #fail(call: Call): Promise<boolean> {
    const monitor = this.#lines.find(call.instanceId);
    const takesCalls = monitor?.canDial === true && !monitor.number.linePause;
    if (takesCalls && !this.#isPostponed(call)) return false;
    const instance = await this.#context.storage.instances.get(call.instanceId);
    if (!instance || instance.status === "DELETED") return failCall(this.#context, call, "instance_deleted", null);
    const cause = monitor?.number.linePause?.reason ?? this.#lines.connection(instance).reason;
    const [reason, detail]: [FailedReason, string] =
      instance.status === "CREATED"
        ? ["instance_not_linked", (monitor?.linksAutomatically && cause) || "no phone number was linked in time"]
        : takesCalls
          ? ["outside_calling_hours", "its calling hours have not begun"]
          : ["instance_offline", cause ?? "the line was offline"];
    const expiry = `the call expired after ${queueTimeOf(call, this.#context.timings)} ms (expiresAfterMs)`;
    return failCall(this.#context, call, reason, call.expiresAt === undefined ? detail : `${detail}; ${expiry}`);
  }

  /**
   * True if the call waits for its calling hours; the queue decides about it before its time ends, unless the clock was
   * changed.
   */
  #isPostponed({ notBefore = 0 }: Call): boolean {
    const now = this.#context.system.now();
    return notBefore > now && notBefore <= now + MAX_POSTPONEMENT_MS;
  }
}
