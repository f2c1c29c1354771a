import type { ReleaseCause } from "../../../src/ports/telephony.ts";

/**
 * One step of a callee's script. Times are ms, scaled by `timeScale`, on the system's clock until the answer and on the
 * audio clock after it. After the last step the callee keeps its state: it continues ringing or listening.
 */
export type CalleeStep =
  | { readonly do: "wait"; readonly ms: number }
  /** The phone rings. */
  | { readonly do: "ring" }
  /** Answers the call; with `audio: "none"` the callee never sends a frame. */
  | { readonly do: "answer"; readonly audio?: "none" }
  /** Speaks; `ms` is the exact length, reached by cutting or adding silence. */
  | { readonly do: "say"; readonly text: string; readonly ms?: number }
  /** Plays a tone; its length is not scaled. */
  | { readonly do: "beep"; readonly hz: number; readonly ms: number }
  /** Waits until the caller has spoken and then been silent this long; not scaled. */
  | { readonly do: "listen"; readonly quietMs: number }
  /** Waits until the caller has spoken for this long, pauses up to half a second included; not scaled. */
  | { readonly do: "overhear"; readonly spokenMs: number }
  /** Presses keys: for each, 100 ms of tone and 100 ms of pause, not scaled. */
  | { readonly do: "press"; readonly keys: string }
  /** The caller's line drops without a signal, and is back after `ms`. */
  | { readonly do: "lose_line"; readonly ms: number }
  | { readonly do: "end"; readonly cause: ReleaseCause; readonly detail: string };

/** Behaviour of a number's callee. */
export interface CalleeScript {
  /** A phrase for users: `is busy`. */
  readonly title: string;
  readonly steps: readonly CalleeStep[];
}

const RING: readonly CalleeStep[] = [{ do: "wait", ms: 200 }, { do: "ring" }];
const RING_FOR_A_SECOND: readonly CalleeStep[] = [...RING, { do: "wait", ms: 800 }];
const ANSWER: readonly CalleeStep[] = [...RING_FOR_A_SECOND, { do: "answer" }];

const BUSY: readonly CalleeStep[] = [
  { do: "beep", hz: 425, ms: 500 },
  // Silence of unscaled length, like the tone.
  { do: "beep", hz: 0, ms: 500 },
];

/** Listens to the end of a question, thinks for a moment and presses keys. */
function afterQuestion(keys: string): CalleeStep[] {
  return [
    { do: "listen", quietMs: 900 },
    { do: "press", keys },
  ];
}

/** Listens to the end of a question and answers it with words. */
function answer(text: string): CalleeStep[] {
  return [
    { do: "listen", quietMs: 900 },
    { do: "say", text },
  ];
}

/** The script of every number that is not in the plan. */
export const ANY_NUMBER: CalleeScript = { title: "answers and listens", steps: ANSWER };

/** The scripts of the simulated numbers. */
export const NUMBER_PLAN: ReadonlyMap<string, CalleeScript> = new Map(
  Object.entries<CalleeScript>({
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
      title: "voicemail: a 4 s greeting, a beep, then listens",
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
      title: "answers, but never sends audio",
      steps: [...RING_FOR_A_SECOND, { do: "answer", audio: "none" }],
    },
    "+12025550110": {
      title: "answers after 10 s",
      steps: [...RING, { do: "wait", ms: 9_800 }, { do: "answer" }],
    },
    "+12025550111": {
      title: "answers; 2 s later the caller's line drops without a signal, for 3 s",
      steps: [...ANSWER, { do: "wait", ms: 2_000 }, { do: "lose_line", ms: 3_000 }],
    },
    "+12025550112": {
      title: "answers questions by keys: 1, 2, 1 and 5, one after each",
      steps: [...ANSWER, ...["1", "2", "1", "5"].flatMap(afterQuestion)],
    },
    "+12025550113": {
      title: "voicemail without a beep: a greeting of about 9 s, then listens",
      steps: [
        ...ANSWER,
        {
          do: "say",
          text: "You have reached the voicemail of the simulated phone. Nobody can take your call at the moment. Please leave your name, your number and your message, and somebody will call you back.",
          ms: 9_000,
        },
      ],
    },
    "+12025550114": {
      title: "is a fax machine",
      steps: [...ANSWER, { do: "wait", ms: 500 }, { do: "beep", hz: 2_100, ms: 3_000 }],
    },
    "+12025550115": {
      title: "answers with the busy tone of the network",
      steps: [...ANSWER, ...Array.from({ length: 20 }, () => BUSY).flat()],
    },
    "+12025550120": {
      title: "answers questions with words: yes, Monday, two, and thank you",
      steps: [
        ...ANSWER,
        ...["Yes, that is right.", "On Monday, please.", "We are two people.", "Thank you, goodbye."].flatMap(answer),
      ],
    },
    "+12025550121": {
      title: "interrupts the first sentence, and answers yes to the next",
      steps: [
        ...ANSWER,
        { do: "overhear", spokenMs: 1_500 },
        { do: "say", text: "Please wait a moment." },
        ...answer("Yes, that is right."),
      ],
    },
    "+12025550122": {
      title: "says hello, then nothing more",
      steps: [...ANSWER, { do: "wait", ms: 300 }, { do: "say", text: "Hello?" }],
    },
    "+12025550123": {
      title: "says uh-huh into the caller's words, and answers yes",
      steps: [
        ...ANSWER,
        { do: "overhear", spokenMs: 1_200 },
        { do: "say", text: "Uh-huh." },
        { do: "overhear", spokenMs: 1_000 },
        { do: "say", text: "Uh-huh." },
        ...answer("Yes, that is right."),
      ],
    },
  }),
);

/** The script of a number. */
export function calleeScript(number: string): CalleeScript {
  return NUMBER_PLAN.get(number) ?? ANY_NUMBER;
}
