/** Steps of the `scripted` agent. */
export interface Script {
  readonly steps: readonly ScriptStep[];
}

export type ScriptStep = Say | Ask | HangUp | Transfer;

interface Say {
  readonly do: "say";
  readonly text: string;
}

/** Speaks a question and waits for the answer. */
export interface Ask {
  readonly do: "ask";
  /** Name under which the answer is stored, and by which other steps refer to the question; undefined for none. */
  readonly name: string | undefined;
  readonly text: string;
  /** Accepts any number with this many digits. If undefined, the answer is one of the branches, or any single key. */
  readonly digits: { readonly min: number; readonly max: number } | undefined;
  readonly branches: readonly Branch[];
  /** Steps for an answer that matches no branch. */
  readonly otherwise: readonly BranchStep[] | undefined;
  /** Steps if there is still no answer after the question has been repeated. */
  readonly noAnswer: readonly BranchStep[] | undefined;
}

export interface HangUp {
  readonly do: "hang_up";
}

/** Transfers the call; if that fails, the script continues. */
export interface Transfer {
  readonly do: "transfer";
  /** E.164. */
  readonly to: string;
}

/** The steps that follow certain answers. */
export interface Branch {
  /** Keys: `1`, `42`, `#`. */
  readonly keys: readonly string[];
  /** Words or phrases, as `comparable` text. */
  readonly words: readonly string[];
  readonly steps: readonly BranchStep[];
}

/** A step of a branch. After the last one, the script continues after the question. */
export type BranchStep =
  | Say
  | HangUp
  | Transfer
  | { readonly do: "ask_again" }
  /** `to` is the name of a question. */
  | { readonly do: "go_to"; readonly to: string };

/** True if a question can only be answered in words. */
export function needsWords({ digits, branches }: Ask): boolean {
  return digits === undefined && branches.length > 0 && branches.every(({ keys }) => keys.length === 0);
}
