import type { Ask, BranchStep } from "./script.ts";

/** Meaning of the callee's keys or words as the answer to a question. */
export type CalleeReply =
  /** `text` is stored under the name of the question. */
  | { readonly kind: "match"; readonly steps: readonly BranchStep[]; readonly text: string }
  /** The question has no such answer. */
  | { readonly kind: "no_match" }
  /** Another key may follow. */
  | { readonly kind: "partial" };

const NO_MATCH: CalleeReply = { kind: "no_match" };
const PARTIAL: CalleeReply = { kind: "partial" };

/** The keys pressed so far, after one more key: `*` restarts a number, `#` ends it. */
export function withKey({ digits }: Ask, pressedKeys: string, key: string): string {
  if (digits === undefined) return pressedKeys + key;
  if (key === "*") return "";
  return key === "#" ? pressedKeys : pressedKeys + key;
}

/** Meaning of the keys pressed so far. @param key the latest key */
export function answerByKeys(question: Ask, pressedKeys: string, key: string): CalleeReply {
  const { digits, branches } = question;
  if (digits !== undefined) {
    const { length } = pressedKeys;
    if (length === digits.max || (key === "#" && length >= digits.min)) return wholeNumber(question, pressedKeys);
    return key === "#" ? NO_MATCH : PARTIAL;
  }
  if (branches.some(({ keys }) => keys.some((other) => other !== pressedKeys && other.startsWith(pressedKeys))))
    return PARTIAL;
  const branch = branchOf(question, pressedKeys);
  if (branch === undefined && branches.length > 0) return NO_MATCH;
  return { kind: "match", steps: branch?.steps ?? [], text: pressedKeys };
}

/** Meaning of the keys if no further key follows. */
export function answerByKeysAlone(question: Ask, pressedKeys: string): CalleeReply {
  const { digits } = question;
  if (digits !== undefined && pressedKeys.length >= digits.min) return wholeNumber(question, pressedKeys);
  const branch = branchOf(question, pressedKeys);
  return branch === undefined ? NO_MATCH : { kind: "match", steps: branch.steps, text: pressedKeys };
}

/** Meaning of words. @param text {@link comparable} text */
export function answerByWords({ branches, digits }: Ask, text: string): CalleeReply {
  for (const { words, steps } of branches) {
    const word = words.find((phrase) => ` ${text} `.includes(` ${phrase} `));
    if (word !== undefined) return { kind: "match", steps, text: word };
  }
  return digits === undefined && branches.length === 0 ? { kind: "match", steps: [], text } : NO_MATCH;
}

function wholeNumber(question: Ask, pressedKeys: string): CalleeReply {
  const steps = branchOf(question, pressedKeys)?.steps ?? question.otherwise ?? [];
  return { kind: "match", steps, text: pressedKeys };
}

function branchOf({ branches }: Ask, pressedKeys: string): Ask["branches"][number] | undefined {
  return branches.find(({ keys }) => keys.includes(pressedKeys));
}
