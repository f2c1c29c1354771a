/** Default limit on model replies in one call. */
export const DEFAULT_TURNS = 100;
/** Default limit on tokens in one call. */
export const DEFAULT_TOKENS = 200_000;

/** Limits of one call. */
export interface AgentCallLimits {
  /** Number of model replies. */
  readonly turns: number;
  /** Number of tokens in all replies, if the server reports them. */
  readonly tokens: number;
}

/** Counts the replies and tokens of a call. */
export class CallBudget {
  readonly #limits: AgentCallLimits;
  #turnCount = 0;
  #tokens = 0;

  constructor(limits: AgentCallLimits) {
    this.#limits = limits;
  }

  /** The limit that has been reached, as text for the operator; undefined if none has. */
  get exhausted(): string | undefined {
    const { turns, tokens } = this.#limits;
    if (this.#turnCount >= turns) return `the agent was at its limit of ${turns} replies (maxTurns)`;
    return this.#tokens >= tokens ? `the agent was at its limit of ${tokens} tokens (maxTokens)` : undefined;
  }

  /** Counts a reply. */
  reply(): void {
    this.#turnCount++;
  }

  /** Counts tokens. */
  spend(tokens: number): void {
    this.#tokens += tokens;
  }
}
