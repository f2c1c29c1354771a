import { errorText } from "../../../../src/base/error-text.ts";
/** One thing that was tried about a trunk. */
export interface CheckStep {
  readonly name: "configuration" | "dns" | "connection" | "options" | "address" | "registration" | "codecs" | "call";
  /** `skipped`: there was nothing to try. */
  readonly state: "works" | "skipped" | "broken";
  /** What was found; a sentence, without its full stop. */
  readonly detail: string;
  /** What to do about it; null if nothing needs to be done. A step that works may have an advice. */
  readonly fix: string | null;
}

export function works(name: CheckStep["name"], detail: string, fix: string | null = null): CheckStep {
  return { name, state: "works", detail, fix };
}

export function skipped(name: CheckStep["name"], detail: string, fix: string | null = null): CheckStep {
  return { name, state: "skipped", detail, fix };
}

export function broken(name: CheckStep["name"], detail: string, fix: string): CheckStep {
  return { name, state: "broken", detail, fix };
}

/** The message of whatever was thrown, on one line. */
export function messageOf(fault: unknown): string {
  return errorText(fault).replace(/\s*\n\s*/g, " ");
}
