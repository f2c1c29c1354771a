import type { System } from "../../ports/system.ts";
import { Lateness } from "./lateness.ts";

/** Member of the clock: the audio of one call. */
export interface Ticking {
  /** Length of its frames, ms. Default: 20. */
  readonly frameMs?: FrameMs | undefined;
  /** Called when a frame is due. Must not wait; may add and remove members. Errors are passed to `tickFailed`. */
  tick(): void;
  /** `tick` threw; the member is already removed. */
  tickFailed(fault: unknown): void;
}

/** Supported frame lengths, ms. */
export type FrameMs = 20 | 60;

export const FRAME_MS = 20;
/** Period of the schedule, ms: the least common multiple of all frame lengths. */
const TURN_MS = 60;
/** Members per slot before another one is used: each slot in use wakes the process repeatedly. */
const SHARED = 16;
/** Maximum schedule to catch up with before yielding to other work, ms. */
const CATCH_UP_MS = 200;

interface Seat {
  readonly member: Ticking;
  /** The first of its slots; the others follow at intervals of a frame. */
  readonly slot: number;
  readonly frameMs: FrameMs;
  /** The first ms of the schedule that is this member's: later than the moment it was added. */
  readonly from: number;
}

/**
 * One wheel of 60 slots, 1 ms each, for the audio of all calls: a member with frames of 20 ms sits in every twentieth slot, one
 * with frames of 60 ms in a single slot. Many members are spread over the slots.
 *
 * The schedule is absolute (start + n ms), so nothing drifts; what a stalled event loop has missed is made up for in
 * order, frame by frame. The timer runs only while there are members.
 */
export class MediaClock {
  /** Lateness at which the frames were handed over, measured at the end of a slot. */
  readonly lateness: Lateness = new Lateness();
  readonly #system: System;
  readonly #slots: (Seat | undefined)[][] = Array.from({ length: TURN_MS }, () => []);
  /** Members per slot, the removed ones not counted. */
  readonly #load = new Uint32Array(TURN_MS);
  readonly #seats = new Map<Ticking, Seat>();
  #start = 0;
  /** The next ms of the schedule that has not been run. */
  #next = 0;
  #runningSlot = -1;
  #cancelTimer: (() => void) | undefined;
  #timerDue = 0;
  #closed = false;

  constructor(system: System) {
    this.#system = system;
  }

  /** Number of ticking members. */
  get size(): number {
    return this.#seats.size;
  }

  /** Adds a member, which ticks every `frameMs`, starting within that time. Idempotent. */
  add(member: Ticking): void {
    if (this.#closed || this.#seats.has(member)) return;
    const now = this.#system.monotonic();
    if (this.#seats.size === 0 && this.#runningSlot < 0) {
      this.#start = now;
      this.#next = 1;
    }
    const { frameMs = FRAME_MS } = member;
    const seat = { member, slot: this.#slotToJoin(frameMs), frameMs, from: Math.floor(now - this.#start) + 1 };
    this.#seats.set(member, seat);
    for (let at = seat.slot; at < TURN_MS; at += frameMs) {
      this.#load[at] = this.#loadOf(at) + 1;
      this.#slots[at]?.push(seat);
    }
    // A timer that wakes the clock early enough stays: a thousand calls may be answered at once.
    if (this.#runningSlot < 0 && (this.#cancelTimer === undefined || this.#nextDue() < this.#timerDue))
      this.#schedule();
  }

  /** Removes a member: it does not tick again, not even later in the running slot. */
  remove(member: Ticking): void {
    const seat = this.#seats.get(member);
    if (seat === undefined) return;
    this.#seats.delete(member);
    for (let at = seat.slot; at < TURN_MS; at += seat.frameMs) {
      this.#load[at] = this.#loadOf(at) - 1;
      const slot = this.#slots[at] ?? [];
      const place = slot.indexOf(seat);
      if (at === this.#runningSlot)
        slot[place] = undefined; // the loop over this slot must not lose its place
      else slot.splice(place, 1);
    }
    if (this.#seats.size === 0) this.#stopTimer();
  }

  /** Stops permanently and lets go of all members. */
  close(): void {
    this.#closed = true;
    for (const member of [...this.#seats.keys()]) this.remove(member);
  }

  /** The fullest slot with room, so that few are in use; if all are full, the emptiest. */
  #slotToJoin(frameMs: FrameMs): number {
    let fullest = -1;
    let most = -1;
    let emptiest = 0;
    let least = Infinity;
    for (let slot = 0; slot < frameMs; slot++) {
      const load = this.#loadEvery(frameMs, slot);
      if (load < SHARED && load > most) {
        fullest = slot;
        most = load;
      }
      if (load < least) {
        emptiest = slot;
        least = load;
      }
    }
    return fullest < 0 ? emptiest : fullest;
  }

  /** The load of the fullest of the slots in which a member with such frames would sit. */
  #loadEvery(frameMs: FrameMs, slot: number): number {
    let most = 0;
    for (let at = slot; at < TURN_MS; at += frameMs) most = Math.max(most, this.#loadOf(at));
    return most;
  }

  #loadOf(slot: number): number {
    return this.#load[slot] ?? 0;
  }

  /** The next ms of the schedule whose slot has members; there must be some. */
  #nextDue(): number {
    let due = this.#next;
    while (this.#loadOf(due % TURN_MS) === 0) due++;
    return due;
  }

  /** Sets the timer for the next ms whose slot has members. */
  #schedule(): void {
    this.#stopTimer();
    if (this.#seats.size === 0) return;
    this.#timerDue = this.#nextDue();
    const wait = this.#start + this.#timerDue - this.#system.monotonic();
    this.#cancelTimer = this.#system.after(Math.max(0, wait), this.#wake);
  }

  readonly #wake = (): void => {
    this.#cancelTimer = undefined;
    const until = this.#next + CATCH_UP_MS;
    while (this.#seats.size > 0 && this.#next < until && this.#start + this.#next <= this.#system.monotonic())
      this.#run(this.#next++);
    this.#schedule();
  };

  /** Ticks the members of one ms of the schedule. */
  #run(ms: number): void {
    const at = ms % TURN_MS;
    const slot = this.#slots[at];
    if (slot === undefined || slot.length === 0) return;
    this.#runningSlot = at;
    const seated = slot.length;
    let frames = 0;
    for (let i = 0; i < seated; i++) {
      const seat = slot[i];
      if (seat === undefined || ms < seat.from) continue;
      frames++;
      try {
        seat.member.tick();
      } catch (fault) {
        this.remove(seat.member);
        seat.member.tickFailed(fault);
      }
    }
    this.#runningSlot = -1;
    if (slot.includes(undefined)) this.#slots[at] = slot.filter((seat) => seat !== undefined);
    if (frames > 0) this.lateness.add(this.#system.monotonic() - this.#start - ms, frames);
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
