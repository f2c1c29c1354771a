import type { MarkedText } from "../terminal/marked-line.ts";

/** Result of one check of the machine; `missing` stands for something optional. */
export interface Finding extends MarkedText {
  /** True if no call can be placed without it. */
  readonly essential: boolean;
}

export function works(name: string, detail: string): Finding {
  return { name, state: "works", detail, fix: null, essential: true };
}

/** The finding for something optional that is missing. */
export function missing(name: string, detail: string, fix: string | null = null): Finding {
  return { name, state: "missing", detail, fix, essential: false };
}

/** The finding for something that must be fixed first. */
export function broken(name: string, detail: string, fix: string): Finding {
  return { name, state: "broken", detail, fix, essential: true };
}

/** The message of a thrown value, on one line. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return (message || code || String(error)).replace(/\s*\n\s*/g, " ");
}
