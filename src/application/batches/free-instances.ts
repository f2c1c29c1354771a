import { protectionInForce } from "../../domain/dialling-rules/number-protection.ts";
import { linesInForce } from "../../domain/instances/queue-capacity.ts";
import type { Context } from "../context.ts";
import type { LineMonitor } from "../instances/line-monitor.ts";
import type { Lines } from "../instances/lines.ts";
import { storedTime } from "../stored-times.ts";

/** Time until a busy queue is tried again if no event comes first, ms. */
const BUSY_MS = 5_000;
/** Fraction of the best answer rate below which an instance is used only while the others are busy. */
const WEAK_SHARE = 0.5;
/** Number of calls from which an instance's answer rate is meaningful. */
const MIN_CALLS = 10;

/** The instance for the next call, or the time until one may be free, ms; neither if only an event can free one. */
export interface FreeInstance {
  readonly instanceId?: string | undefined;
  readonly waitMs?: number | undefined;
}

interface Use {
  active: number;
  /** Turn of its last call. */
  lastTurn: number;
  /** No call before this time, on the monotonic clock, ms. */
  busyUntil: number;
  calls: number;
  answeredCalls: number;
}

/** Chooses among the instances of batches: one with a free line whose pace allows a call and whose turn it is. */
export class FreeInstances {
  readonly #context: Pick<Context, "policy" | "system">;
  readonly #lines: Pick<Lines, "find">;
  readonly #uses = new Map<string, Use>();
  readonly #deletedIds = new Set<string>();
  #turnCount = 0;

  constructor(context: Pick<Context, "policy" | "system">, lines: Pick<Lines, "find">) {
    this.#context = context;
    this.#lines = lines;
  }

  /** The instance to use next: strong instances before weak ones, then the instance that has waited longest. */
  next(ids: readonly string[]): FreeInstance {
    let waitMs: number | undefined;
    const readyInstances: { readonly id: string; readonly use: Use }[] = [];
    for (const id of ids) {
      const monitor = this.#lines.find(id);
      const use = this.#use(id);
      if (!monitor?.canDial || this.#deletedIds.has(id) || use.active >= this.#linesOf(monitor)) continue;
      const ms = this.#waitMsOf(monitor, use);
      if (ms <= 0) readyInstances.push({ id, use });
      else waitMs = Math.min(waitMs ?? ms, ms);
    }
    const bestRate = Math.max(...readyInstances.map(({ use }) => answerRate(use)));
    const isWeak = ({ use }: { readonly use: Use }): boolean => answerRate(use) < WEAK_SHARE * bestRate;
    const [first] = readyInstances.sort(
      (a, b) => Number(isWeak(a)) - Number(isWeak(b)) || a.use.lastTurn - b.use.lastTurn,
    );
    return first ? { instanceId: first.id } : { waitMs };
  }

  /** Takes one of the instance's lines for a call. */
  take(id: string): void {
    const use = this.#use(id);
    use.active++;
    use.lastTurn = ++this.#turnCount;
  }

  /** Gives back the line of a call that was not placed. */
  giveBack(id: string): void {
    this.#use(id).active--;
  }

  /** Frees the line of an ended call. */
  release(id: string, isAnswered: boolean): void {
    const use = this.#use(id);
    use.active--;
    use.busyUntil = 0;
    use.calls++;
    if (isAnswered) use.answeredCalls++;
  }

  /** Skips an instance for a while, because its queue is full. */
  backOff(id: string): void {
    this.#use(id).busyUntil = this.#context.system.monotonic() + BUSY_MS;
  }

  /** Uses an instance again, because its queue may have room. */
  wake(id: string): void {
    this.#use(id).busyUntil = 0;
  }

  /** Skips a deleted instance from now on. */
  markDeleted(id: string): void {
    this.#deletedIds.add(id);
  }

  isDeleted(id: string): boolean {
    return this.#deletedIds.has(id);
  }

  #use(id: string): Use {
    let use = this.#uses.get(id);
    if (!use) {
      use = { active: 0, lastTurn: 0, busyUntil: 0, calls: 0, answeredCalls: 0 };
      this.#uses.set(id, use);
    }
    return use;
  }

  /** Time until its number may dial, ms; 0 or less: now. */
  #waitMsOf(monitor: LineMonitor, { busyUntil }: Use): number {
    const { system, policy } = this.#context;
    const { number, instance, telephony } = monitor;
    const { paceMs = 0 } = protectionInForce(policy, telephony.capabilities.protection);
    const now = system.monotonic();
    const paceEndsAt = number.lastDial ? number.lastDial.at + paceMs : 0;
    const pauseMs = instance.pause
      ? storedTime("instances.pause", instance.pause.until, system.now()) - system.now()
      : 0;
    return Math.max(busyUntil - now, (number.linePause?.until ?? 0) - now, paceEndsAt - now, pauseMs);
  }

  #linesOf({ telephony }: LineMonitor): number {
    return linesInForce(this.#context.policy, telephony.capabilities.lines);
  }
}

function answerRate({ calls, answeredCalls: answered }: Use): number {
  return calls < MIN_CALLS ? 1 : answered / calls;
}
