/** Replies of a model in one call, unless something else is configured. */
export const DEFAULT_TURNS = 100;
/** Tokens of one call, unless something else is configured. */
export const DEFAULT_TOKENS = 200_000;
