import { describe, expect, test } from "vitest";
import { AUTHENTICATE_MS, guardedAuthenticate } from "../../../src/application/port-guards/guarded-web.ts";
import { MAX_CHECKS_AT_ONCE, TOKEN_CHECK_MS, TokenWatches } from "../../../src/http/stream/token-watches.ts";
import type { Authenticate } from "../../../src/ports/authenticator.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const principal = { userId: "usr_1" };
const log = silentLogger;

const tokenWatches = (authenticate: Authenticate, system: ManualSystem): TokenWatches =>
  new TokenWatches({ authenticate: guardedAuthenticate(authenticate, { system, log }), system, log });

test("a token is checked every 500 ms until it is invalid", async () => {
  const system = new ManualSystem();
  let checkCount = 0;
  let revokedCount = 0;
  const results = [principal, new Error("the storage is down"), principal, undefined];
  const authenticate = async () => {
    const result = results[checkCount++];
    if (result instanceof Error) throw result;
    return result;
  };
  tokenWatches(authenticate, system).watch("t", principal, () => revokedCount++);
  await system.advance(4 * TOKEN_CHECK_MS - 1);
  expect([checkCount, revokedCount]).toEqual([3, 0]); // an unavailable storage does not revoke the token
  await system.advance(1);
  expect([checkCount, revokedCount]).toEqual([4, 1]);
  await system.advance(60_000);
  expect([checkCount, revokedCount, system.waiting]).toEqual([4, 1, 0]);
});

test("one query checks all tokens, each once", async () => {
  const system = new ManualSystem();
  const checkedTokens: (readonly string[])[] = [];
  const revokedNames: string[] = [];
  const checkAll = async (tokens: readonly string[]) => {
    checkedTokens.push(tokens);
    return tokens.map((token) => (token === "bad" ? undefined : principal));
  };
  const authenticate = Object.assign(async () => principal, { all: checkAll });
  const watches = tokenWatches(authenticate, system);
  for (const [name, token] of Object.entries({ one: "good", two: "bad", three: "good", four: "bad" }))
    watches.watch(token, principal, () => revokedNames.push(name));
  await system.advance(TOKEN_CHECK_MS);
  expect([checkedTokens, revokedNames]).toEqual([[["good", "bad"]], ["two", "four"]]);
});

test("an unavailable storage revokes no token", async () => {
  const system = new ManualSystem();
  let revokedCount = 0;
  const authenticate = Object.assign(async () => principal, {
    all: async () => {
      throw new Error("the storage is down");
    },
  });
  const stop = tokenWatches(authenticate, system).watch("t", principal, () => revokedCount++);
  await system.advance(10 * TOKEN_CHECK_MS);
  expect(revokedCount).toBe(0);
  stop();
});

test("a token of another user is revoked; an ended watch is not notified", async () => {
  const system = new ManualSystem();
  const notifiedNames: string[] = [];
  const watches = tokenWatches(async () => ({ userId: "usr_2" }), system);
  watches.watch("t", principal, () => notifiedNames.push("one"));
  const stop = watches.watch("t", principal, () => notifiedNames.push("other"));
  await system.advance(TOKEN_CHECK_MS - 1);
  stop();
  await system.advance(10_000);
  expect(notifiedNames).toEqual(["one"]);
  expect(system.waiting).toBe(0);
});

test("a caller without a token is not watched", () => {
  const system = new ManualSystem();
  const authenticate = async () => undefined;
  tokenWatches(authenticate, system).watch(undefined, principal, () => {})();
  expect(system.waiting).toBe(0);
});

const faultyChecks: readonly (readonly [string, () => unknown])[] = [
  [
    "throws at once",
    () => {
      throw new Error("no session store");
    },
  ],
  ["returns a plain value", () => principal],
  ["rejects", () => Promise.reject(new Error("no session store"))],
  ["never settles", () => new Promise(() => {})],
];

test.for(faultyChecks)("a check that %s stops the checks of no other token", async ([, result]) => {
  const system = new ManualSystem();
  const revokedNames: string[] = [];
  const checks = new Map([["odd", 0]]);
  const authenticate = ((token: string) => {
    checks.set(token, (checks.get(token) ?? 0) + 1);
    if (token === "odd") return result();
    return Promise.resolve(checks.get(token)! < 3 ? principal : undefined);
  }) as Authenticate;
  const watches = tokenWatches(authenticate, system);
  const stop = watches.watch("odd", principal, () => revokedNames.push("odd"));
  watches.watch("fine", principal, () => revokedNames.push("fine"));
  await system.advance(3 * TOKEN_CHECK_MS);
  expect(revokedNames).toEqual(["fine"]);
  await system.advance(20 * AUTHENTICATE_MS);
  expect([revokedNames, checks.get("odd")! > 2]).toEqual([["fine"], true]); // it is retried after each failure
  stop();
});

test("a token whose check hangs is skipped; the others are checked individually", async () => {
  const system = new ManualSystem();
  const revokedTokens: string[] = [];
  const checkOne = async (token: string) =>
    token === "odd" ? new Promise<never>(() => {}) : token === "good" ? principal : undefined;
  const authenticate = Object.assign(checkOne, {
    all: (tokens: readonly string[]) => Promise.all(tokens.map(checkOne)),
  });
  const watches = tokenWatches(authenticate, system);
  for (const token of ["odd", "good", "bad"]) watches.watch(token, principal, () => revokedTokens.push(token));
  await system.advance(TOKEN_CHECK_MS + AUTHENTICATE_MS);
  expect(revokedTokens).toEqual(["bad"]);
});

test("a list with too few principals revokes no token; each token is checked individually", async () => {
  const system = new ManualSystem();
  const revokedTokens: string[] = [];
  const authenticate = Object.assign(async (token: string) => (token === "bad" ? undefined : principal), {
    all: async () => [principal], // as a query returns it: only the tokens that it has found
  });
  const watches = tokenWatches(authenticate, system);
  for (const token of ["one", "two", "bad"]) watches.watch(token, principal, () => revokedTokens.push(token));
  await system.advance(TOKEN_CHECK_MS);
  expect(revokedTokens).toEqual(["bad"]);
});

describe("many tokens", () => {
  const TOKEN_COUNT = 2_500;
  const tokens = Array.from({ length: TOKEN_COUNT }, (_, n) => `token ${n}`);

  /** Queries to an authentication without `all`, and its running checks; each takes 200 ms. */
  function slowChecks(system: ManualSystem, result: (token: string) => Promise<typeof principal | undefined>) {
    const checks = { running: 0, maxRunning: 0 };
    const authenticate = async (token: string) => {
      checks.maxRunning = Math.max(checks.maxRunning, ++checks.running);
      await new Promise<void>((resolve) => void system.after(200, resolve));
      checks.running--;
      return result(token);
    };
    return { checks, authenticate };
  }

  test("are checked in turns, each of them", async () => {
    const system = new ManualSystem();
    const revokedTokens = new Set<string>();
    const { checks, authenticate } = slowChecks(system, async () => undefined);
    const watches = tokenWatches(authenticate, system);
    for (const token of tokens) watches.watch(token, principal, () => revokedTokens.add(token));
    await system.advance(TOKEN_CHECK_MS + (200 * TOKEN_COUNT) / MAX_CHECKS_AT_ONCE);
    expect([revokedTokens.size, checks.maxRunning]).toEqual([TOKEN_COUNT, MAX_CHECKS_AT_ONCE]);
  });

  test("leave room for the checks of requests, and are checked in order, while each check hangs", async () => {
    const system = new ManualSystem();
    const checkedTokens = new Set<string>();
    const authenticate = guardedAuthenticate(
      async (token) => {
        checkedTokens.add(token);
        return token === "of a request" ? principal : new Promise<never>(() => {});
      },
      { system, log },
    );
    const watches = new TokenWatches({ authenticate, system, log });
    for (const token of tokens) watches.watch(token, principal, () => {});
    for (let round = 0; round < TOKEN_COUNT / MAX_CHECKS_AT_ONCE; round++) {
      expect(await authenticate("of a request")).toEqual(principal);
      await system.advance(TOKEN_CHECK_MS + AUTHENTICATE_MS);
    }
    expect(checkedTokens.size).toBe(TOKEN_COUNT + 1);
  });

  test("are checked in turns if the check of all fails", async () => {
    const system = new ManualSystem();
    const revokedTokens = new Set<string>();
    const { checks, authenticate } = slowChecks(system, async () => undefined);
    const watches = tokenWatches(Object.assign(authenticate, { all: async () => [] }), system);
    for (const token of tokens) watches.watch(token, principal, () => revokedTokens.add(token));
    await system.advance(TOKEN_CHECK_MS + (200 * TOKEN_COUNT) / MAX_CHECKS_AT_ONCE);
    expect([revokedTokens.size, checks.maxRunning]).toEqual([TOKEN_COUNT, MAX_CHECKS_AT_ONCE]);
  });
});

test("a client that cannot be closed stops no check", async () => {
  const system = new ManualSystem();
  const revokedNames: string[] = [];
  const watches = tokenWatches(async () => undefined, system);
  watches.watch("t", principal, () => {
    throw new Error("the socket is gone");
  });
  watches.watch("t", principal, () => revokedNames.push("other"));
  await system.advance(TOKEN_CHECK_MS);
  expect(revokedNames).toEqual(["other"]);
});
