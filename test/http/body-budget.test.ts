import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyBudget, type BodyShare, SMALL_BODY } from "../../src/http/bodies/body-budget.ts";
import { fuzz } from "../support/fuzz.ts";

const KB = 1024;
const budget = () => new BodyBudget({ allBodiesBytes: 400 * KB, userBodiesBytes: 200 * KB });
const [ada, bob, eve] = [{ userId: "ada" }, { userId: "bob" }, { userId: "eve" }];
const busy = expect.objectContaining({ code: "server_busy", headers: { connection: "close" } });

function refused(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a user's budget", () => {
  test("the budget refuses a body beyond it, but no body of another user", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    expect(refused(() => bodies.share(ada).grow(65 * KB))).toEqual(busy);
    bodies.share(bob).grow(100 * KB);
  });

  test("the budget has room after a release", () => {
    const bodies = budget();
    const held = bodies.share(ada);
    held.grow(200 * KB);
    held.release();
    held.release();
    bodies.share(ada).grow(200 * KB);
    expect(refused(() => bodies.share(ada).grow(65 * KB))).toEqual(busy);
  });

  test("small bodies have a budget of the same size, apart from large ones", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    for (let small = 0; small < 4; small++) bodies.share(ada).grow(50 * KB);
    expect(refused(() => bodies.share(ada).grow(1))).toEqual(busy);
    bodies.share(bob).grow(1);
  });

  test("a refused growth leaves the share of the body unchanged", () => {
    const bodies = budget();
    const held = bodies.share(ada);
    held.grow(120 * KB);
    expect(refused(() => held.grow(201 * KB))).toEqual(busy);
    bodies.share(ada).grow(80 * KB);
    expect(refused(() => held.grow(120 * KB + 1))).toEqual(busy);
  });
});

describe("a demo token", () => {
  test("the largest body is 1 MiB for a demo token, and unbounded for its user", () => {
    const bodies = new BodyBudget({ userBodiesBytes: 64 << 20, allBodiesBytes: 256 << 20 });
    expect(bodies.maxBytes({ userId: "ada", demoInstanceId: "inst_1" })).toBe(1 << 20);
    expect(bodies.maxBytes({ userId: "ada" })).toBe(64 << 20);
  });

  const demo = { userId: "ada", demoInstanceId: "inst_1" };

  test("a demo token has a quarter of its user's budgets, and counts towards them", () => {
    const bodies = new BodyBudget({ allBodiesBytes: 1_600 * KB, userBodiesBytes: 400 * KB });
    bodies.share(demo).grow(100 * KB);
    expect(refused(() => bodies.share(demo).grow(SMALL_BODY + 1))).toEqual(busy);
    for (let small = 0; small < 2; small++) bodies.share(demo).grow(50 * KB);
    expect(refused(() => bodies.share(demo).grow(1))).toEqual(busy);
    bodies.share({ ...demo, demoInstanceId: "inst_2" }).grow(100 * KB);
    bodies.share(ada).grow(200 * KB);
    expect(refused(() => bodies.share(ada).grow(SMALL_BODY + 1))).toEqual(busy);
  });

  test("a demo token has one large body at a time, whatever its size", () => {
    const bodies = new BodyBudget({ allBodiesBytes: 1_600 * KB, userBodiesBytes: 800 * KB });
    const large = bodies.share(demo);
    large.grow(SMALL_BODY + 1);
    large.grow(SMALL_BODY + 2);
    const other = bodies.share(demo);
    other.grow(SMALL_BODY);
    expect(refused(() => other.grow(SMALL_BODY + 1))).toEqual(busy);
    bodies.share({ ...demo, demoInstanceId: "inst_2" }).grow(SMALL_BODY + 1);
    bodies.share(ada).grow(SMALL_BODY + 1);
    large.release();
    other.grow(SMALL_BODY + 1);
  });

  test("the budget has room after a release", () => {
    const bodies = budget();
    const held = bodies.share(demo);
    held.grow(50 * KB);
    held.release();
    bodies.share(demo).grow(50 * KB);
    expect(refused(() => bodies.share(demo).grow(1))).toEqual(busy);
  });
});

test("four users with full budgets leave room for the uploads of others", () => {
  const MB = KB * KB;
  const bodies = new BodyBudget({ allBodiesBytes: 256 * MB, userBodiesBytes: 64 * MB });
  for (let user = 0; user < 4; user++)
    for (let body = 0; body < 4; body++) refused(() => bodies.share({ userId: `greedy-${user}` }).grow(16 * MB));
  bodies.share(ada).grow(16 * MB);
  bodies.share(bob).grow(8 * MB);
  bodies.share(eve).grow(100 * KB);
});

test("the largest body fits alone", () => {
  const bodies = budget();
  expect(bodies.maxBytes(ada)).toBe(200 * KB);
  bodies.share(ada).grow(bodies.maxBytes(ada));
  const demo = { userId: "bob", demoInstanceId: "inst_1" };
  expect(bodies.maxBytes(demo)).toBe(50 * KB);
  bodies.share(demo).grow(bodies.maxBytes(demo));
  expect(new BodyBudget({ allBodiesBytes: 300 * KB, userBodiesBytes: 200 * KB }).maxBytes(ada)).toBe(150 * KB);
});

describe("the budget of all users", () => {
  test("a used-up budget refuses every large body and no small one", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    bodies.share(bob).grow(100 * KB);
    expect(refused(() => bodies.share(eve).grow(SMALL_BODY + 1))).toEqual(busy);
    bodies.share(eve).grow(SMALL_BODY);
  });

  test("a small body counts once it becomes large", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    bodies.share(bob).grow(40 * KB);
    const growing = bodies.share(eve);
    growing.grow(SMALL_BODY);
    growing.grow(100 * KB);
    expect(refused(() => growing.grow(100 * KB + 1))).toEqual(busy);
  });
});

fuzz(
  "no order of growing and giving back holds more than the budgets, or loses a byte",
  fc.property(
    fc.array(
      fc.record({
        body: fc.nat({ max: 5 }),
        bytes: fc.option(fc.nat({ max: 250 * KB }), { nil: undefined }),
      }),
      { maxLength: 60 },
    ),
    (steps) => {
      const bodies = budget();
      const users = ["ada", "bob", "eve"];
      const open = new Map<number, { share: BodyShare; user: string; held: number }>();
      for (const { body, bytes } of steps) {
        const user = users[body % 3]!;
        const one = open.get(body) ?? { share: bodies.share({ userId: user }), user, held: 0 };
        open.set(body, one);
        if (bytes === undefined) {
          one.share.release();
          open.delete(body);
        } else if (!refused(() => one.share.grow(Math.max(bytes, one.held)))) one.held = Math.max(bytes, one.held);
        const all = [...open.values()];
        const large = all.filter(({ held }) => held > SMALL_BODY).reduce((sum, { held }) => sum + held, 0);
        expect(large).toBeLessThanOrEqual(400 * KB);
        for (const name of users)
          for (const isLarge of [true, false]) {
            const of = all.filter(({ user, held }) => user === name && held > SMALL_BODY === isLarge);
            expect(of.reduce((sum, { held }) => sum + held, 0)).toBeLessThanOrEqual(200 * KB);
          }
      }
      for (const { share } of open.values()) share.release();
      bodies.share(ada).grow(200 * KB);
      bodies.share(bob).grow(100 * KB);
    },
  ),
);
