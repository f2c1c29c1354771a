import type { Ask, BranchStep } from "./script.ts";

/** Meaning of the callee's keys or words as the answer to a question. */
export type CalleeReply =
  /** `text` is kept under the name of the question. */
  | { readonly is: "known"; readonly steps: readonly BranchStep[]; readonly text: string }
  /** The question has no such answer. */
  | { readonly is: "unknown" }
  /** Another key may follow. */
  | { readonly is: "begun" };

const UNKNOWN: CalleeReply = { is: "unknown" };
const BEGUN: CalleeReply = { is: "begun" };

/** The keys of the answer after another key press: `*` restarts a number, `#` ends it. */
export function withKey({ digits }: Ask, pressed: string, key: string): string {
  if (digits === undefined) return pressed + key;
  if (key === "*") return "";
  return key === "#" ? pressed : pressed + key;
}

/** Meaning of the keys so far. @param key the latest of them */
export function answerByKeys(question: Ask, pressed: string, key: string): CalleeReply {
  const { digits, branches } = question;
  if (digits !== undefined) {
    const { length } = pressed;
    if (length === digits.max || (key === "#" && length >= digits.min)) return wholeNumber(question, pressed);
    return key === "#" ? UNKNOWN : BEGUN;
  }
  if (branches.some(({ keys }) => keys.some((other) => other !== pressed && other.startsWith(pressed)))) return BEGUN;
  const branch = branchOf(question, pressed);
  if (branch === undefined && branches.length > 0) return UNKNOWN;
  return { is: "known", steps: branch?.steps ?? [], text: pressed };
}

/** Meaning of the keys if no further key follows. */
export function answerByKeysAlone(question: Ask, pressed: string): CalleeReply {
  const { digits } = question;
  if (digits !== undefined && pressed.length >= digits.min) return wholeNumber(question, pressed);
  const branch = branchOf(question, pressed);
  return branch === undefined ? UNKNOWN : { is: "known", steps: branch.steps, text: pressed };
}

/** Meaning of words. @param text {@link comparable} text */
export function answerByWords({ branches, digits }: Ask, text: string): CalleeReply {
  for (const { words, steps } of branches) {
    const word = words.find((phrase) => ` ${text} `.includes(` ${phrase} `));
    if (word !== undefined) return { is: "known", steps, text: word };
  }
  return digits === undefined && branches.length === 0 ? { is: "known", steps: [], text } : UNKNOWN;
}

function wholeNumber(question: Ask, pressed: string): CalleeReply {
  const steps = branchOf(question, pressed)?.steps ?? question.otherwise ?? [];
  return { is: "known", steps, text: pressed };
}

function branchOf({ branches }: Ask, pressed: string): Ask["branches"][number] | undefined {
  return branches.find(({ keys }) => keys.includes(pressed));
}
