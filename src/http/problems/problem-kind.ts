import type { RefusalCode } from "../../domain/refusal.ts";

/** Codes of problem documents: the code of every refusal, and `not_ready`, which only HTTP uses. */
export type ProblemCode = RefusalCode | "not_ready";

/** The HTTP form of a code, and its explanation. */
export interface ProblemKind {
  readonly status: number;
  /** Always the same for a code (RFC 9457 §3.1.3). */
  readonly title: string;
  /** Headers of every response with this code; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Situation in which it occurs. */
  readonly meaning: string;
  /** Fix for the caller. */
  readonly fix: string;
  /** A `detail` as the server writes it. */
  readonly example: string;
}

export const RETRY_IN_1_S = { "retry-after": "1" } as const;
export const RETRY_IN_5_S = { "retry-after": "5" } as const;
