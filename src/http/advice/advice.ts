/** What a person needs to know about a problem code, beyond its title. */
export interface ProblemAdvice {
  /** When it occurs. */
  readonly means: string;
  /** What to do about it. */
  readonly fix: string;
  /** A `detail` as the server writes it. */
  readonly example: string;
}
