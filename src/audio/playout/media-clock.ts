import type { System } from "../../ports/system.ts";
import { Lateness } from "./lateness.ts";

/** Member of the clock: the audio of one call. */
export interface ClockMember {
  /** Length of its frames, ms. Default: 20. */
  readonly frameMs?: FrameMs | undefined;
  /** Called when a frame is due. Must not wait; may add and remove members. Errors are passed to `tickFailed`. */
  tick(): void;
  /** Called when `tick` has thrown; the member is already removed. */
  tickFailed(fault: unknown): void;
}

/** Supported frame lengths, ms. */
export type FrameMs = 20 | 60;

export const FRAME_MS = 20;
/** Period of the schedule, ms: the least common multiple of all frame lengths. */
const TURN_MS = 60;
/** Number of members per slot before another slot is used: each slot in use wakes the process repeatedly. */
const SLOT_CAPACITY = 16;
/** Maximum time to catch up on before yielding to other work, ms. */
const CATCH_UP_MS = 200;

interface Entry {
  readonly member: ClockMember;
  /** The first of its slots; the others follow at intervals of a frame. */
  readonly slot: number;
  readonly frameMs: FrameMs;
  /** First ms of the schedule at which the member ticks, after it was added. */
  readonly fromMs: number;
}

/**
 * One wheel of 60 slots, 1 ms each, for the audio of all calls: a member with frames of 20 ms ticks in every twentieth
 * slot, a member with frames of 60 ms in a single slot. Many members are spread over the slots.
 *
 * The schedule is absolute (start + n ms), so nothing drifts; the frames that a stalled event loop missed are made up
 * for in order. The timer runs only while there are members.
 */
export class MediaClock {
  /** Lateness of the frames, measured at the end of a slot. */
  readonly lateness: Lateness = new Lateness();
  /** The same since it was last reset. */
  readonly recentLateness: Lateness = new Lateness();
  readonly #system: System;
  readonly #slots: (Entry | undefined)[][] = Array.from({ length: TURN_MS }, () => []);
  /** Members per slot, without removed members. */
  readonly #load = new Uint32Array(TURN_MS);
  readonly #entries = new Map<ClockMember, Entry>();
  #start = 0;
  /** The next ms of the schedule that has not been run. */
  #nextMs = 0;
  #runningSlot = -1;
  #cancelTimer: (() => void) | undefined;
  #timerDueAt = 0;
  #isClosed = false;

  constructor(system: System) {
    this.#system = system;
  }

  /** Number of ticking members. */
  get size(): number {
    return this.#entries.size;
  }

  /** Adds a member, which ticks every `frameMs`, starting within that time. Idempotent. */
  add(member: ClockMember): void {
    if (this.#isClosed || this.#entries.has(member)) return;
    const now = this.#system.monotonic();
    if (this.#entries.size === 0 && this.#runningSlot < 0) {
      this.#start = now;
      this.#nextMs = 1;
    }
    const { frameMs = FRAME_MS } = member;
    const entry = { member, slot: this.#slotToJoin(frameMs), frameMs, fromMs: Math.floor(now - this.#start) + 1 };
    this.#entries.set(member, entry);
    for (let at = entry.slot; at < TURN_MS; at += frameMs) {
      this.#load[at] = this.#loadOf(at) + 1;
      this.#slots[at]?.push(entry);
    }
    // A timer that wakes the clock early enough is kept: a thousand calls may be answered at once.
    if (this.#runningSlot < 0 && (this.#cancelTimer === undefined || this.#nextDueAt() < this.#timerDueAt))
      this.#schedule();
  }

  /** Removes a member: it does not tick again, not even later in the running slot. */
  remove(member: ClockMember): void {
    const entry = this.#entries.get(member);
    if (entry === undefined) return;
    this.#entries.delete(member);
    for (let at = entry.slot; at < TURN_MS; at += entry.frameMs) {
      this.#load[at] = this.#loadOf(at) - 1;
      const slot = this.#slots[at] ?? [];
      const index = slot.indexOf(entry);
      if (at === this.#runningSlot)
        slot[index] = undefined; // the loop over this slot must not lose its place
      else slot.splice(index, 1);
    }
    if (this.#entries.size === 0) this.#stopTimer();
  }

  /** Stops permanently and removes all members. */
  close(): void {
    this.#isClosed = true;
    for (const member of [...this.#entries.keys()]) this.remove(member);
  }

  /** The fullest slot with room, so that few slots are in use; if all are full, the emptiest. */
  #slotToJoin(frameMs: FrameMs): number {
    let fullestSlot = -1;
    let maxLoad = -1;
    let emptiestSlot = 0;
    let minLoad = Infinity;
    for (let slot = 0; slot < frameMs; slot++) {
      const load = this.#loadEvery(frameMs, slot);
      if (load < SLOT_CAPACITY && load > maxLoad) {
        fullestSlot = slot;
        maxLoad = load;
      }
      if (load < minLoad) {
        emptiestSlot = slot;
        minLoad = load;
      }
    }
    return fullestSlot < 0 ? emptiestSlot : fullestSlot;
  }

  /** The highest load among the slots that a member with such frames would use. */
  #loadEvery(frameMs: FrameMs, slot: number): number {
    let maxLoad = 0;
    for (let at = slot; at < TURN_MS; at += frameMs) maxLoad = Math.max(maxLoad, this.#loadOf(at));
    return maxLoad;
  }

  #loadOf(slot: number): number {
    return this.#load[slot] ?? 0;
  }

  /** The next ms of the schedule whose slot has members; there must be some. */
  #nextDueAt(): number {
    let dueMs = this.#nextMs;
    while (this.#loadOf(dueMs % TURN_MS) === 0) dueMs++;
    return dueMs;
  }

  /** Sets the timer for the next ms whose slot has members. */
  #schedule(): void {
    this.#stopTimer();
    if (this.#entries.size === 0) return;
    this.#timerDueAt = this.#nextDueAt();
    const waitMs = this.#start + this.#timerDueAt - this.#system.monotonic();
    this.#cancelTimer = this.#system.after(Math.max(0, waitMs), this.#wake);
  }

  readonly #wake = (): void => {
    this.#cancelTimer = undefined;
    const limit = this.#nextMs + CATCH_UP_MS;
    while (this.#entries.size > 0 && this.#nextMs < limit && this.#start + this.#nextMs <= this.#system.monotonic())
      this.#run(this.#nextMs++);
    this.#schedule();
  };

  /** Ticks the members of one ms of the schedule. */
  #run(ms: number): void {
    const at = ms % TURN_MS;
    const slot = this.#slots[at];
    if (slot === undefined || slot.length === 0) return;
    this.#runningSlot = at;
    const count = slot.length;
    let frames = 0;
    for (let i = 0; i < count; i++) {
      const entry = slot[i];
      if (entry === undefined || ms < entry.fromMs) continue;
      frames++;
      try {
        entry.member.tick();
      } catch (fault) {
        this.remove(entry.member);
        entry.member.tickFailed(fault);
      }
    }
    this.#runningSlot = -1;
    if (slot.includes(undefined)) this.#slots[at] = slot.filter((entry) => entry !== undefined);
    if (frames === 0) return;
    const lateMs = this.#system.monotonic() - this.#start - ms;
    this.lateness.add(lateMs, frames);
    this.recentLateness.add(lateMs, frames);
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
