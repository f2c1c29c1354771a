import { describe, expect, test } from "vitest";
import { checkedScopes, hasScope, TOKEN_SCOPES, type TokenScope } from "../../../src/domain/access/token-scope.ts";

describe("the scopes of a new token", () => {
  test("are all by default, or the issuer's", () => {
    expect(checkedScopes(undefined, undefined)).toBeUndefined();
    expect(checkedScopes(undefined, ["read"])).toEqual(["read"]);
  });

  test("are stored once each, in a fixed order", () => {
    expect(checkedScopes(["call", "read", "call"], undefined)).toEqual(["read", "call"]);
  });

  test("that do not exist are refused by name", () => {
    for (const scopes of [["write"], [], "read", [null]] as unknown as TokenScope[][])
      expect(() => checkedScopes(scopes, undefined)).toThrow(/^scopes is .*: it must be a list of read, call, admin;/);
  });

  test("never exceed the issuer's", () => {
    expect(() => checkedScopes(["read", "admin"], ["read", "call"])).toThrow(
      'scopes contains "admin", which the issuer does not have: use read, call',
    );
  });
});

test("a principal without scopes may do everything", () => {
  for (const scope of TOKEN_SCOPES) {
    expect(hasScope(undefined, scope)).toBe(true);
    expect(hasScope([scope], scope)).toBe(true);
    expect(
      hasScope(
        TOKEN_SCOPES.filter((other) => other !== scope),
        scope,
      ),
    ).toBe(false);
  }
});
