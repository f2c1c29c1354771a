import { protectionInForce } from "../../domain/dialling-rules/number-protection.ts";
import { linesInForce } from "../../domain/instances/queue-capacity.ts";
import type { Context } from "../context.ts";
import type { LineMonitor } from "../instances/line-monitor.ts";
import type { Lines } from "../instances/lines.ts";
import { storedTime } from "../stored-times.ts";

/** Time until a busy queue is tried again without a sign that it has room, ms. */
const BUSY_MS = 5_000;
/** An instance whose share of answered calls is below this part of the best one's waits until the others are busy. */
const WEAK_SHARE = 0.5;
/** Calls before an instance's share of answered calls counts. */
const MIN_CALLS = 10;

/** The instance for the next call, or the time until one may be free, ms; neither if an event will tell. */
export interface FreeInstance {
  readonly instanceId?: string | undefined;
  readonly waitMs?: number | undefined;
}

interface Use {
  active: number;
  /** Order of its last call. */
  lastTurn: number;
  /** No call before this time, by the monotonic clock, ms. */
  busyUntil: number;
  calls: number;
  answered: number;
}

/** The instances that batches call from: which has a free line, is at its pace, and whose turn it is. */
export class FreeInstances {
  readonly #context: Pick<Context, "policy" | "system">;
  readonly #lines: Pick<Lines, "find">;
  readonly #uses = new Map<string, Use>();
  readonly #lostIds = new Set<string>();
  #turns = 0;

  constructor(context: Pick<Context, "policy" | "system">, lines: Pick<Lines, "find">) {
    this.#context = context;
    this.#lines = lines;
  }

  /** The instance that is used next: a strong one before a weak one, then the one that has waited longest. */
  next(ids: readonly string[]): FreeInstance {
    let waitMs: number | undefined;
    const ready: { readonly id: string; readonly use: Use }[] = [];
    for (const id of ids) {
      const monitor = this.#lines.find(id);
      const use = this.#use(id);
      if (!monitor?.canDial || this.#lostIds.has(id) || use.active >= this.#linesOf(monitor)) continue;
      const ms = this.#waitMsOf(monitor, use);
      if (ms <= 0) ready.push({ id, use });
      else waitMs = Math.min(waitMs ?? ms, ms);
    }
    const best = Math.max(...ready.map(({ use }) => answerRate(use)));
    const isWeak = ({ use }: { readonly use: Use }): boolean => answerRate(use) < WEAK_SHARE * best;
    const [first] = ready.sort((a, b) => Number(isWeak(a)) - Number(isWeak(b)) || a.use.lastTurn - b.use.lastTurn);
    return first ? { instanceId: first.id } : { waitMs };
  }

  /** A call takes one of its lines. */
  take(id: string): void {
    const use = this.#use(id);
    use.active++;
    use.lastTurn = ++this.#turns;
  }

  /** A call that took a line was not placed. */
  giveBack(id: string): void {
    this.#use(id).active--;
  }

  /** A call has ended. */
  release(id: string, isAnswered: boolean): void {
    const use = this.#use(id);
    use.active--;
    use.busyUntil = 0;
    use.calls++;
    if (isAnswered) use.answered++;
  }

  /** Its queue has no room. */
  rest(id: string): void {
    this.#use(id).busyUntil = this.#context.system.monotonic() + BUSY_MS;
  }

  /** Its queue may have room again. */
  wake(id: string): void {
    this.#use(id).busyUntil = 0;
  }

  /** It was deleted. */
  lose(id: string): void {
    this.#lostIds.add(id);
  }

  isLost(id: string): boolean {
    return this.#lostIds.has(id);
  }

  #use(id: string): Use {
    let use = this.#uses.get(id);
    if (!use) {
      use = { active: 0, lastTurn: 0, busyUntil: 0, calls: 0, answered: 0 };
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
    const paced = number.lastDial ? number.lastDial.at + paceMs : 0;
    const paused = instance.pause
      ? storedTime("instances.pause", instance.pause.until, system.now()) - system.now()
      : 0;
    return Math.max(busyUntil - now, (number.linePause?.until ?? 0) - now, paced - now, paused);
  }

  #linesOf({ telephony }: LineMonitor): number {
    return linesInForce(this.#context.policy, telephony.capabilities.lines);
  }
}

function answerRate({ calls, answered }: Use): number {
  return calls < MIN_CALLS ? 1 : answered / calls;
}
