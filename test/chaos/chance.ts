import { random } from "../support/random.ts";

/** Seeded chance: the same seeds make the same choices. */
export class Chance {
  /** Returns a number from 0 up to but not including 1. */
  readonly next: () => number;

  constructor(...seeds: readonly number[]) {
    this.next = random(seeds.reduce((state, seed) => Math.imul(state ^ seed, 0x9e3779b1) ^ (state >>> 13), 0x2545f491));
  }

  /** A whole number in a range, both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  boolean(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }
}
