import { shown } from "../../base/shown.ts";

/**
 * Scopes of a token: `read` reads all of its user's records and changes none, `call` creates, ends and streams calls,
 * `admin` changes instances and webhooks and erases recordings. No scope includes another scope (RFC 6749 §3.3).
 */
export const TOKEN_SCOPES = ["read", "call", "admin"] as const;
/** One of {@link TOKEN_SCOPES}. */
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** True if a token with these scopes has the scope; a token without a list of scopes may do everything. */
export function hasScope(scopes: readonly TokenScope[] | undefined, scope: TokenScope): boolean {
  return scopes === undefined || scopes.includes(scope);
}

/** True for the name of a scope. */
export function isTokenScope(value: unknown): value is TokenScope {
  return (TOKEN_SCOPES as readonly unknown[]).includes(value);
}

/**
 * The scopes of a new token, each once, in the order of {@link TOKEN_SCOPES}; undefined: all of them.
 * @param issuer the scopes of the token's creator, which limit those of the new token
 * @throws {RangeError} that names the value and the fix
 */
export function checkedScopes(
  scopes: readonly TokenScope[] | undefined,
  issuer: readonly TokenScope[] | undefined,
): readonly TokenScope[] | undefined {
  if (scopes === undefined) return issuer;
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every(isTokenScope))
    throw new RangeError(
      `scopes is ${shown(scopes)}: it must be a list of ${TOKEN_SCOPES.join(", ")}; omit it for all of them`,
    );
  const excessScope = scopes.find((scope) => !hasScope(issuer, scope));
  if (excessScope !== undefined)
    throw new RangeError(`scopes contains "${excessScope}", which the issuer does not have: use ${issuer?.join(", ")}`);
  return TOKEN_SCOPES.filter((scope) => scopes.includes(scope));
}
