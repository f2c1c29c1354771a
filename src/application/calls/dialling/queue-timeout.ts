import type { Call } from "../../../domain/calls/call.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import type { Context } from "../../context.ts";
import type { Lines } from "../../instances/lines.ts";
import { storedTime } from "../../stored-times.ts";
import { WallClock } from "../../wall-clock.ts";
import { failCall, type StoredCallsContext } from "../stored-calls.ts";

type QueueTimeoutContext = Pick<Context, "log" | "storage" | "system" | "timings"> & StoredCallsContext;

const BATCH_SIZE = 100;
const RETRY_MS = 5_000;
/** Interval at which calls are checked that wait only for the pace of a line, or for the calls before them. */
const FULL_CHECK_MS = 60_000;

/**
 * Fails calls that have waited for their instance too long. One timer, armed for the oldest waiting call.
 *
 * The waiting time follows from the creation time and the wall clock. If the wall clock was set in the meantime, each waiting
 * call gets a due time on the monotonic clock, once.
 */
export class QueueTimeout {
  readonly #context: QueueTimeoutContext;
  readonly #lines: Lines;
  readonly #wallClock: WallClock;
  /** Due times of calls from before the wall clock was set, by id; on the monotonic clock, ms. */
  readonly #dueTimes = new Map<string, number>();
  #cancel: (() => void) | undefined;
  /** Change of the wall clock since due times were given, ms. */
  #clockChangeMs = 0;
  /** All overdue calls that are at least as old as this one wait for a line that takes calls. */
  #lastChecked: Pick<Call, "id" | "createdAt"> | undefined;
  /** Time of the next check of all calls, by the monotonic clock, ms. */
  #fullCheckAt = 0;
  /** Time at which the timer fires, by the monotonic clock, ms. */
  #firesAt = 0;
  #isStopped = false;

  constructor(context: QueueTimeoutContext, lines: Lines) {
    this.#context = context;
    this.#lines = lines;
    this.#wallClock = new WallClock(context.system);
  }

  async start(): Promise<void> {
    // The clock may have been set back while no process ran.
    await this.#fixDue(0);
    await this.#arm(0);
  }

  /** A call waits: it was created, or its claim was given back. */
  onQueued(call: Call): void {
    if (this.#lastChecked && call.createdAt <= this.#lastChecked.createdAt) this.#lastChecked = undefined;
    const at = this.#dueTimes.get(call.id) ?? this.#context.system.monotonic() + this.#remainingMs(call.createdAt);
    if (!this.#cancel || at < this.#firesAt) this.#armAt(at);
  }

  /** A line no longer takes calls: waiting calls may have reached their time limit. */
  lineDown(): void {
    if (!this.#lastChecked) return;
    this.#lastChecked = undefined;
    const at = this.#context.system.monotonic() + RETRY_MS;
    if (!this.#cancel || at < this.#firesAt) this.#armAt(at);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** @param notBefore by the monotonic clock, ms */
  async #arm(notBefore: number): Promise<void> {
    const { storage, system } = this.#context;
    const lastChecked = this.#lastChecked;
    const oldest = lastChecked
      ? (await storage.calls.waitingSince(Number.MAX_SAFE_INTEGER, 1, lastChecked))[0]?.createdAt
      : await storage.calls.oldestWaiting();
    if (oldest === undefined) return lastChecked && this.#armAt(this.#fullCheckAt);
    // The oldest one may have its own due time; such calls are few, and exist only for a while.
    const wait =
      this.#dueTimes.size > 0 ? Math.min(this.#nextDue() - system.monotonic(), RETRY_MS) : this.#remainingMs(oldest);
    const at = Math.max(notBefore, system.monotonic() + wait);
    this.#armAt(lastChecked ? Math.min(at, this.#fullCheckAt) : at);
  }

  /** Time a call created at `createdAt` may still wait, by the wall clock, ms. */
  #remainingMs(createdAt: number): number {
    const { system, timings } = this.#context;
    const now = system.now();
    return storedTime("calls.created_at", createdAt, now) + timings.queueTimeoutMs - now;
  }

  #nextDue(): number {
    let next = Infinity;
    for (const at of this.#dueTimes.values()) next = Math.min(next, at);
    return next;
  }

  #armAt(at: number): void {
    if (this.#isStopped) return;
    const { system } = this.#context;
    this.#cancel?.();
    this.#firesAt = at;
    this.#cancel = system.after(Math.max(0, at - system.monotonic()), () => void this.#expire());
  }

  async #expire(): Promise<void> {
    const { system, log } = this.#context;
    this.#cancel = undefined;
    this.#clockChangeMs += this.#wallClock.takeJumpMs();
    try {
      await this.#fixDue(this.#clockChangeMs);
      this.#clockChangeMs = 0;
      const remainingCount = await this.#expireDue();
      await this.#expireByAge();
      await this.#arm(system.monotonic() + (remainingCount > 0 ? RETRY_MS : 1));
    } catch (error) {
      log.warn({ err: error }, "waiting calls could not be checked; trying again");
      this.#armAt(system.monotonic() + RETRY_MS);
    }
  }

  /**
   * Gives due times to calls whose creation time is unreliable: to all that wait if the wall clock was set, otherwise to
   * calls that were created "in the future". A call that may be from before or after the jump counts as younger.
   */
  async #fixDue(clockChangeMs: number): Promise<void> {
    const { system, timings, storage } = this.#context;
    const now = system.now();
    let after: Pick<Call, "id" | "createdAt"> | undefined =
      clockChangeMs === 0 ? { id: "~", createdAt: now } : undefined;
    for (;;) {
      const batch = await storage.calls.waitingSince(Number.MAX_SAFE_INTEGER, BATCH_SIZE, after);
      for (const { id, createdAt } of batch) {
        if (this.#dueTimes.has(id)) continue;
        const ages = [now - createdAt, now - clockChangeMs - createdAt].filter((age) => age >= 0);
        const age = ages.length > 0 ? Math.min(...ages) : 0;
        this.#dueTimes.set(id, system.monotonic() + timings.queueTimeoutMs - age);
      }
      after = batch.at(-1);
      if (batch.length < BATCH_SIZE) return;
    }
  }

  /** Fails calls by their due time; resolves with the number that stay. */
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

  /** Fails calls by their creation time. Calls that stay are not read again each time: a change that lets them fail is reported. */
  async #expireByAge(): Promise<void> {
    const { system, timings, storage } = this.#context;
    const createdBefore = system.now() - timings.queueTimeoutMs;
    if (!this.#lastChecked || system.monotonic() >= this.#fullCheckAt) {
      this.#lastChecked = undefined;
      this.#fullCheckAt = system.monotonic() + FULL_CHECK_MS;
    }
    const before = this.#lastChecked;
    let last = before;
    let hasRemaining = before !== undefined;
    for (;;) {
      const batch = await storage.calls.waitingSince(createdBefore, BATCH_SIZE, last);
      for (const call of batch) if (!this.#dueTimes.has(call.id) && !(await this.#fail(call))) hasRemaining = true;
      last = batch.at(-1) ?? last;
      if (batch.length < BATCH_SIZE) break;
    }
    // Unless a line went down in the meantime.
    if (this.#lastChecked === before) this.#lastChecked = hasRemaining ? last : undefined;
  }

  /** Resolves with true if the call was failed; a call queued behind another one on a working line stays. */
  async #fail(call: Call): Promise<boolean> {
    const monitor = this.#lines.find(call.instanceId);
    if (monitor?.canDial && !monitor.number.linePause) return false;
    const instance = await this.#context.storage.instances.get(call.instanceId);
    if (!instance || instance.status === "DELETED") return failCall(this.#context, call, "instance_deleted", null);
    const cause = monitor?.number.linePause?.reason ?? this.#lines.connection(instance).reason;
    const [reason, detail]: [FailedReason, string] =
      instance.status === "CREATED"
        ? ["instance_not_linked", (monitor?.linksAutomatically && cause) || "no phone number was linked in time"]
        : ["instance_offline", cause ?? "the line was offline"];
    return failCall(this.#context, call, reason, detail);
  }
}
