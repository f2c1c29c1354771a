/** The explanation of a problem code, for people. */
export interface ProblemAdvice {
  /** When it occurs. */
  readonly means: string;
  /** What to do about it. */
  readonly fix: string;
  /** A `detail` as the server writes it. */
  readonly example: string;
}
