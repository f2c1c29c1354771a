import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecentTokens } from "../../../src/application/tokens/recent-tokens.ts";
import {
  type IssuedToken,
  issueFirstToken,
  issueToken,
  type NewToken,
  tokenAuthenticator,
} from "../../../src/application/tokens/tokens.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import { World } from "../../support/application.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

async function scene() {
  const world = await World.start();
  const { accounts } = world.storage;
  const issue = (token: Partial<NewToken> = {}): Promise<IssuedToken> =>
    issueToken(accounts, world.system, world.context.ids, { userName: "alice", label: "laptop", ...token });
  return { world, accounts, issue, authenticate: tokenAuthenticator(accounts, world.system) };
}

describe("a token", () => {
  test("consists of a prefix, 32 random bytes in base62 and a checksum", async () => {
    const { issue } = await scene();
    expect((await issue()).token).toMatch(/^rp_live_[0-9A-Za-z]{49}$/);
    expect((await issue({ demoInstanceId: "inst_x" })).token).toMatch(/^rp_demo_[0-9A-Za-z]{49}$/);
  });

  test("is different each time", async () => {
    const { issue, accounts } = await scene();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issue()));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
    expect(new Set(tokens.map(({ userId }) => userId)).size).toBe(1);
    expect(await accounts.tokens()).toHaveLength(20);
  });

  test("is issued at the first start only if none exists", async () => {
    const { world, accounts, issue } = await scene();
    const first = (userName: string) =>
      issueFirstToken(accounts, world.system, world.context.ids, { userName, label: "first start" });
    const { token, ...storedToken } = (await first("alice"))!;
    expect(await accounts.tokens()).toEqual([storedToken]);
    expect(token).toMatch(/^rp_live_/);
    expect(await first("bob")).toBeUndefined();
    expect(await issue()).not.toBeUndefined();
    expect(await accounts.tokens()).toHaveLength(2);
  });

  test("identifies its bearer", async () => {
    const { issue, authenticate } = await scene();
    const alice = await issue();
    const bob = await issue({ userName: "bob" });
    expect(await authenticate(alice.token)).toEqual({ userId: alice.userId, tokenId: alice.id });
    expect(await authenticate(bob.token)).toEqual({ userId: bob.userId, tokenId: bob.id });
    expect(alice.userId).not.toBe(bob.userId);
  });

  test("has and lists the limits from its creation", async () => {
    const { issue, authenticate } = await scene();
    const limits = { allowedPrefixes: ["+49", "+1415"], maxCallsPerDay: 200 };
    const limitedToken = await issue(limits);
    expect(limitedToken).toMatchObject(limits);
    expect(await authenticate(limitedToken.token)).toEqual({
      userId: limitedToken.userId,
      tokenId: limitedToken.id,
      ...limits,
    });
    expect(await issue()).toMatchObject({ allowedPrefixes: null, maxCallsPerDay: null });
  });

  test("is refused with invalid limits, and no record is stored", async () => {
    const { issue, accounts } = await scene();
    await expect(issue({ allowedPrefixes: ["49"] })).rejects.toThrow('allowedPrefixes contains "49": write +');
    await expect(issue({ maxCallsPerDay: 0 })).rejects.toThrow("maxCallsPerDay is 0: it must be");
    await expect(issue({ issuer: { maxCallsPerDay: -1 } })).rejects.toThrow("maxCallsPerDay is -1: it must be");
    expect(await accounts.tokens()).toEqual([]);
    expect(await accounts.users()).toEqual([]);
  });

  test("may create 50 calls a day by default if it is for a demo", async () => {
    const { issue } = await scene();
    expect(await issue({ demoInstanceId: "inst_x" })).toMatchObject({ allowedPrefixes: null, maxCallsPerDay: 50 });
    expect(await issue({ demoInstanceId: "inst_x", maxCallsPerDay: 500 })).toMatchObject({ maxCallsPerDay: 500 });
  });

  test("never allows more than its creator, whose limits it gets", async () => {
    const { issue, authenticate } = await scene();
    const { token } = await issue({ allowedPrefixes: ["+49"], maxCallsPerDay: 10 });
    const issuer = (await authenticate(token))!;
    const demo = { demoInstanceId: "inst_x", issuer };
    expect(await issue(demo)).toMatchObject({ allowedPrefixes: ["+49"], maxCallsPerDay: 10 });
    expect(await issue({ ...demo, allowedPrefixes: ["+4930"], maxCallsPerDay: 3 })).toMatchObject({
      allowedPrefixes: ["+4930"],
      maxCallsPerDay: 3,
    });
    await expect(issue({ ...demo, allowedPrefixes: ["+43"] })).rejects.toThrow('allowedPrefixes contains "+43"');
    await expect(issue({ ...demo, maxCallsPerDay: 11 })).rejects.toThrow("maxCallsPerDay is 11");
    expect(await issue({ ...demo, issuer: { maxCallsPerDay: 1_000 } })).toMatchObject({ maxCallsPerDay: 50 });
  });

  test("has the chosen scopes, or its creator's", async () => {
    const { issue, authenticate } = await scene();
    const { token, ...storedToken } = await issue({ scopes: ["call", "read"] });
    expect(storedToken.scopes).toEqual(["read", "call"]);
    const issuer = (await authenticate(token))!;
    expect(issuer.scopes).toEqual(["read", "call"]);
    expect(await issue({ issuer })).toMatchObject({ scopes: ["read", "call"] });
    expect(await issue({ issuer, scopes: ["read"] })).toMatchObject({ scopes: ["read"] });
    await expect(issue({ issuer, scopes: ["admin"] })).rejects.toThrow('scopes contains "admin"');
    const unlimitedToken = await issue();
    expect(unlimitedToken.scopes).toBeNull();
    expect(await authenticate(unlimitedToken.token)).not.toHaveProperty("scopes");
  });

  test("has its last use recorded, once a minute", async () => {
    const { world, issue, accounts, authenticate } = await scene();
    const { token, hash } = await issue();
    const lastUse = async () => (await accounts.tokenByHash(hash))!.lastUsedAt;
    expect(await lastUse()).toBeNull();
    const first = world.system.now();
    await Promise.all([authenticate(token), authenticate(token)]);
    await world.system.settle();
    expect(await lastUse()).toBe(first);
    await world.system.advance(59_999);
    await authenticate(token);
    await world.system.settle();
    expect(await lastUse()).toBe(first);
    await world.system.advance(1);
    await authenticate(token);
    await world.system.settle();
    expect(await lastUse()).toBe(first + 60_000);
  });

  test("works although its use cannot be recorded, and records none after expiry", async () => {
    const { world, issue, accounts } = await scene();
    const usedIds: string[] = [];
    const markUsed = (id: string): never => {
      usedIds.push(id);
      throw new Error("this storage cannot do that");
    };
    const authenticate = tokenAuthenticator({ ...accounts, markUsed }, world.system);
    const { token, id } = await issue({ expiresAt: world.system.now() + 1_000 });
    expect(await authenticate(token)).toBeDefined();
    expect(await authenticate(token)).toBeDefined();
    await world.system.advance(1_000);
    expect(await authenticate(token)).toBeUndefined();
    expect(usedIds).toEqual([id]);
  });

  test("is stored only as a hash", async () => {
    const { issue, accounts } = await scene();
    const { token, hash } = await issue();
    expect(hash).toBe(await sha256Hex(token));
    expect(JSON.stringify(await accounts.tokens())).not.toContain(token.slice(8, 40));
  });

  test("carries its instance if it is for a demo", async () => {
    const { issue, authenticate } = await scene();
    const { token } = await issue({ demoInstanceId: "inst_x" });
    expect(await authenticate(token)).toMatchObject({ demoInstanceId: "inst_x" });
  });

  test("ends when it expires, to the millisecond", async () => {
    const { world, issue, authenticate } = await scene();
    const { token } = await issue({ expiresAt: world.system.now() + 1_000 });
    await world.system.advance(999);
    expect(await authenticate(token)).toBeDefined();
    await world.system.advance(1);
    expect(await authenticate(token)).toBeUndefined();
  });

  test("ends when revoked; the others continue", async () => {
    const { world, issue, authenticate, accounts } = await scene();
    const [first, second] = [await issue(), await issue()];
    expect(await accounts.revokeToken(first.id, world.system.now())).toBe(true);
    expect(await accounts.revokeToken(first.id, world.system.now())).toBe(false);
    expect(await authenticate(first.token)).toBeUndefined();
    expect(await authenticate(second.token)).toBeDefined();
  });
});

describe("text that is not a token", () => {
  test("never reaches the storage if it has typing errors", async () => {
    const { world, issue, authenticate } = await scene();
    const { token } = await issue();
    world.storage.isDown = true;
    for (let at = 0; at < token.length; at++) {
      const wrongCharacter = token[at] === "x" ? "y" : "x";
      expect(
        await authenticate(token.slice(0, at) + wrongCharacter + token.slice(at + 1)),
        `position ${at}`,
      ).toBeUndefined();
    }
    for (const text of ["", token.slice(1), `${token} `, `${token}\n`, token.toUpperCase(), "rp_live_", "Bearer x"])
      expect(await authenticate(text)).toBeUndefined();
  });

  test("is unknown if it has the right form but was never issued", async () => {
    const { issue } = await scene();
    const { token } = await issue();
    const otherScene = await scene();
    expect(await otherScene.authenticate(token)).toBeUndefined();
  });
});

test("a storage that is down does not count as a wrong token", async () => {
  const { world, issue, authenticate } = await scene();
  const { token } = await issue();
  world.storage.isDown = true;
  await expect(authenticate(token)).rejects.toMatchObject({ name: "StorageUnavailable" });
});

const otherScene = scene();
fuzz(
  "arbitrary text is never accepted as a token",
  fc.asyncProperty(
    fc.oneof(fc.string({ unit: CODE_POINT }), fc.stringMatching(/^rp_(live|demo)_[0-9A-Za-z]{49}$/)),
    async (text) => {
      expect(await (await otherScene).authenticate(text)).toBeUndefined();
    },
  ),
);

describe("a token, while the storage is unavailable,", () => {
  test("stays valid for ten minutes after it was last read, and no other does", async () => {
    const { world, issue, authenticate } = await scene();
    const [knownToken, unknownToken] = [await issue(), await issue()];
    await authenticate(knownToken.token);
    world.storage.isDown = true;
    expect(await authenticate(knownToken.token)).toMatchObject({ tokenId: knownToken.id });
    await expect(authenticate(unknownToken.token)).rejects.toMatchObject({ name: "StorageUnavailable" });
    await world.system.advance(10 * 60_000 + 1);
    await expect(authenticate(knownToken.token)).rejects.toMatchObject({ name: "StorageUnavailable" });
  });

  test("is accepted after a second of silence", async () => {
    const { world, issue, authenticate } = await scene();
    const { token, id } = await issue();
    await authenticate(token);
    let onVerify = () => {};
    const verifierCalled = new Promise<void>((resolve) => {
      onVerify = resolve;
    });
    world.storage.before = () => {
      onVerify();
      return new Promise(() => {});
    };
    const authentication = authenticate(token);
    await verifierCalled; // the token is hashed in another thread
    await world.system.advance(1_000);
    expect(await authentication).toMatchObject({ tokenId: id });
  });

  test("is refused once this process has revoked it", async () => {
    const { world, accounts, issue } = await scene();
    const recentTokens = new RecentTokens(world.system);
    const authenticate = tokenAuthenticator(accounts, world.system, undefined, recentTokens);
    const { token, id } = await issue();
    await authenticate(token);
    recentTokens.forget(id);
    world.storage.isDown = true;
    await expect(authenticate(token)).rejects.toMatchObject({ name: "StorageUnavailable" });
  });

  test("is refused if revoked or expired", async () => {
    const { world, accounts, issue, authenticate } = await scene();
    const revokedToken = await issue();
    const expiringToken = await issue({ expiresAt: world.system.now() + 1_000 });
    for (const { token } of [revokedToken, expiringToken]) await authenticate(token);
    await accounts.revokeToken(revokedToken.id, world.system.now());
    expect(await authenticate(revokedToken.token)).toBeUndefined();
    world.storage.isDown = true;
    await world.system.advance(1_000);
    await expect(authenticate(revokedToken.token)).rejects.toMatchObject({ name: "StorageUnavailable" });
    expect(await authenticate(expiringToken.token)).toBeUndefined();
  });
});
