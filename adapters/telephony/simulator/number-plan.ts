import type { ReleaseCause } from "../../../src/ports/telephony.ts";

/**
 * One thing a far end does. Times are ms, scaled by `timeScale`; up to the answer they run on the system's clock, from
 * then on on the clock of the audio. After the last step the far end goes on as it is: it rings, or it listens.
 */
export type FarEndStep =
  | { readonly do: "wait"; readonly ms: number }
  /** The phone rings. */
  | { readonly do: "ring" }
  /** Accepts the call; with `audio: "none"` not one frame ever comes from there. */
  | { readonly do: "answer"; readonly audio?: "none" }
  /** Speaks; with `ms` exactly so long, cut or filled up with silence. */
  | { readonly do: "say"; readonly text: string; readonly ms?: number }
  /** A tone; its length is never scaled. */
  | { readonly do: "beep"; readonly hz: number; readonly ms: number }
  /** Presses keys: 100 ms of tone, 100 ms of pause each, never scaled. */
  | { readonly do: "press"; readonly keys: string }
  /** The line of the calling instance is gone without a goodbye, and back after `ms`. */
  | { readonly do: "lose_line"; readonly ms: number }
  | { readonly do: "end"; readonly cause: ReleaseCause; readonly detail: string };

/** What is at the other end of a number. */
export interface FarEndScript {
  /** What it does, for people. */
  readonly title: string;
  readonly steps: readonly FarEndStep[];
}

const RING: readonly FarEndStep[] = [{ do: "wait", ms: 200 }, { do: "ring" }];
const RING_FOR_A_SECOND: readonly FarEndStep[] = [...RING, { do: "wait", ms: 800 }];
const ANSWER: readonly FarEndStep[] = [...RING_FOR_A_SECOND, { do: "answer" }];

/** Any number that is not in the plan. */
export const ANY_NUMBER: FarEndScript = { title: "answers and listens", steps: ANSWER };

/** What happens when a number is called. */
export const NUMBER_PLAN: Readonly<Record<string, FarEndScript>> = {
  "+12025550100": ANY_NUMBER,
  "+12025550101": {
    title: "is busy",
    steps: [
      { do: "wait", ms: 200 },
      { do: "end", cause: "busy", detail: "simulator: busy" },
    ],
  },
  "+12025550102": { title: "rings and never answers", steps: RING },
  "+12025550103": {
    title: "declines after 1 s",
    steps: [...RING_FOR_A_SECOND, { do: "end", cause: "declined", detail: "simulator: declined" }],
  },
  "+12025550104": {
    title: "hangs up 2 s after answering",
    steps: [
      ...ANSWER,
      { do: "wait", ms: 2_000 },
      { do: "end", cause: "callee_hung_up", detail: "simulator: the callee hung up" },
    ],
  },
  "+12025550105": {
    title: "voicemail: a greeting of 4 s, a beep, then it listens",
    steps: [
      ...ANSWER,
      { do: "say", text: "Hello, nobody is here. Please leave your message after the tone.", ms: 4_000 },
      { do: "beep", hz: 1_000, ms: 400 },
    ],
  },
  "+12025550106": {
    title: "answers, speaks a sentence, then listens",
    steps: [...ANSWER, { do: "wait", ms: 300 }, { do: "say", text: "Hello, this is the simulated phone speaking." }],
  },
  "+12025550107": {
    title: "answers and presses 1 2 3 4 #",
    steps: [...ANSWER, { do: "wait", ms: 500 }, { do: "press", keys: "1234#" }],
  },
  "+12025550108": {
    title: "does not exist",
    steps: [
      { do: "wait", ms: 200 },
      { do: "end", cause: "number_invalid", detail: "simulator: no such number" },
    ],
  },
  "+12025550109": {
    title: "accepts, but no audio ever comes",
    steps: [...RING_FOR_A_SECOND, { do: "answer", audio: "none" }],
  },
  "+12025550110": {
    title: "answers after 10 s",
    steps: [...RING, { do: "wait", ms: 9_800 }, { do: "answer" }],
  },
  "+12025550111": {
    title: "answers; 2 s later the line is offline without a goodbye, and back 3 s after that",
    steps: [...ANSWER, { do: "wait", ms: 2_000 }, { do: "lose_line", ms: 3_000 }],
  },
};

/** The script for a number. */
export function farEndScript(number: string): FarEndScript {
  return Object.hasOwn(NUMBER_PLAN, number) ? (NUMBER_PLAN[number] ?? ANY_NUMBER) : ANY_NUMBER;
}
