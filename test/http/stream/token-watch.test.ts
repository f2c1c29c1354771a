import { expect, test } from "vitest";
import { TokenWatch } from "../../../src/http/stream/token-watch.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const principal = { userId: "usr_1" };

test("a token is looked at every 5 s, until it is not good any more", async () => {
  const system = new ManualSystem();
  let asked = 0;
  let revoked = 0;
  const answers = [principal, new Error("the storage is down"), principal, undefined];
  const authenticate = async () => {
    const answer = answers[asked++];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  new TokenWatch({ token: "t", principal, authenticate, system, log: silentLogger }, () => revoked++);
  await system.advance(19_999);
  expect([asked, revoked]).toEqual([3, 0]); // a storage that cannot tell has not said no
  await system.advance(1);
  expect([asked, revoked]).toEqual([4, 1]);
  await system.advance(60_000);
  expect([asked, revoked]).toEqual([4, 1]);
});

test("another user's answer is none, and nobody is told after the end", async () => {
  const system = new ManualSystem();
  const told: string[] = [];
  const watch = (name: string) =>
    new TokenWatch(
      { token: "t", principal, authenticate: async () => ({ userId: "usr_2" }), system, log: silentLogger },
      () => told.push(name),
    );
  watch("one");
  const other = watch("other");
  await system.advance(4_000);
  other.stop();
  await system.advance(10_000);
  expect(told).toEqual(["one"]);
  expect(system.waiting).toBe(0);
});
