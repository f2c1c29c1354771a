import { errorText } from "../../../../src/base/error.ts";

/** The result of one trunk-check step. */
export interface CheckStep {
  readonly name: "configuration" | "dns" | "connection" | "options" | "address" | "registration" | "codecs" | "call";
  /** `skipped`: there was no address to check. */
  readonly state: "works" | "skipped" | "broken";
  /** The finding, a sentence without a full stop. */
  readonly detail: string;
  /** The fix; null if none is needed. A step that works may have one as a hint. */
  readonly fix: string | null;
}

export function passedStep(name: CheckStep["name"], detail: string, fix: string | null = null): CheckStep {
  return { name, state: "works", detail, fix };
}

export function skippedStep(name: CheckStep["name"], detail: string, fix: string | null = null): CheckStep {
  return { name, state: "skipped", detail, fix };
}

export function brokenStep(name: CheckStep["name"], detail: string, fix: string): CheckStep {
  return { name, state: "broken", detail, fix };
}

/** The message of a thrown value, on one line. */
export function faultMessage(fault: unknown): string {
  return errorText(fault).replace(/\s*\n\s*/g, " ");
}
