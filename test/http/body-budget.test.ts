import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyBudget, type BodyShare, SMALL_BODY } from "../../src/http/bodies/body-budget.ts";
import { fuzz } from "../support/fuzz.ts";

const KB = 1024;
const budget = () => new BodyBudget({ allBodiesBytes: 400 * KB, userBodiesBytes: 200 * KB });
const [ada, bob, eve] = [{ userId: "ada" }, { userId: "bob" }, { userId: "eve" }];
const busyRefusal = expect.objectContaining({ code: "server_busy", headers: { connection: "close" } });

function refusalOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a user's budget", () => {
  test("the budget refuses a body beyond it, but not another user's body", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    expect(refusalOf(() => bodies.share(ada).grow(65 * KB))).toEqual(busyRefusal);
    bodies.share(bob).grow(100 * KB);
  });

  test("the budget has room after a release", () => {
    const bodies = budget();
    const share = bodies.share(ada);
    share.grow(200 * KB);
    share.release();
    share.release();
    bodies.share(ada).grow(200 * KB);
    expect(refusalOf(() => bodies.share(ada).grow(65 * KB))).toEqual(busyRefusal);
  });

  test("small bodies have a budget of the same size, apart from large ones", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    for (let n = 0; n < 4; n++) bodies.share(ada).grow(50 * KB);
    expect(refusalOf(() => bodies.share(ada).grow(1))).toEqual(busyRefusal);
    bodies.share(bob).grow(1);
  });

  test("a refused growth leaves the body's share unchanged", () => {
    const bodies = budget();
    const share = bodies.share(ada);
    share.grow(120 * KB);
    expect(refusalOf(() => share.grow(201 * KB))).toEqual(busyRefusal);
    bodies.share(ada).grow(80 * KB);
    expect(refusalOf(() => share.grow(120 * KB + 1))).toEqual(busyRefusal);
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
    expect(refusalOf(() => bodies.share(demo).grow(SMALL_BODY + 1))).toEqual(busyRefusal);
    for (let n = 0; n < 2; n++) bodies.share(demo).grow(50 * KB);
    expect(refusalOf(() => bodies.share(demo).grow(1))).toEqual(busyRefusal);
    bodies.share({ ...demo, demoInstanceId: "inst_2" }).grow(100 * KB);
    bodies.share(ada).grow(200 * KB);
    expect(refusalOf(() => bodies.share(ada).grow(SMALL_BODY + 1))).toEqual(busyRefusal);
  });

  test("a demo token has one large body at a time, whatever its size", () => {
    const bodies = new BodyBudget({ allBodiesBytes: 1_600 * KB, userBodiesBytes: 800 * KB });
    const largeBody = bodies.share(demo);
    largeBody.grow(SMALL_BODY + 1);
    largeBody.grow(SMALL_BODY + 2);
    const otherBody = bodies.share(demo);
    otherBody.grow(SMALL_BODY);
    expect(refusalOf(() => otherBody.grow(SMALL_BODY + 1))).toEqual(busyRefusal);
    bodies.share({ ...demo, demoInstanceId: "inst_2" }).grow(SMALL_BODY + 1);
    bodies.share(ada).grow(SMALL_BODY + 1);
    largeBody.release();
    otherBody.grow(SMALL_BODY + 1);
  });

  test("the budget has room after a release", () => {
    const bodies = budget();
    const share = bodies.share(demo);
    share.grow(50 * KB);
    share.release();
    bodies.share(demo).grow(50 * KB);
    expect(refusalOf(() => bodies.share(demo).grow(1))).toEqual(busyRefusal);
  });
});

test("four users with full budgets leave room for the uploads of others", () => {
  const MB = KB * KB;
  const bodies = new BodyBudget({ allBodiesBytes: 256 * MB, userBodiesBytes: 64 * MB });
  for (let user = 0; user < 4; user++)
    for (let body = 0; body < 4; body++) refusalOf(() => bodies.share({ userId: `greedy-${user}` }).grow(16 * MB));
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
    expect(refusalOf(() => bodies.share(eve).grow(SMALL_BODY + 1))).toEqual(busyRefusal);
    bodies.share(eve).grow(SMALL_BODY);
  });

  test("a small body counts once it becomes large", () => {
    const bodies = budget();
    bodies.share(ada).grow(200 * KB);
    bodies.share(bob).grow(40 * KB);
    const growingBody = bodies.share(eve);
    growingBody.grow(SMALL_BODY);
    growingBody.grow(100 * KB);
    expect(refusalOf(() => growingBody.grow(100 * KB + 1))).toEqual(busyRefusal);
  });
});

fuzz(
  "no order of growth and release exceeds the budgets, or loses a byte",
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
      const openBodies = new Map<number, { share: BodyShare; user: string; heldBytes: number }>();
      for (const { body, bytes } of steps) {
        const user = users[body % 3]!;
        const entry = openBodies.get(body) ?? { share: bodies.share({ userId: user }), user, heldBytes: 0 };
        openBodies.set(body, entry);
        if (bytes === undefined) {
          entry.share.release();
          openBodies.delete(body);
        } else if (!refusalOf(() => entry.share.grow(Math.max(bytes, entry.heldBytes))))
          entry.heldBytes = Math.max(bytes, entry.heldBytes);
        const entries = [...openBodies.values()];
        const largeBytes = entries
          .filter(({ heldBytes }) => heldBytes > SMALL_BODY)
          .reduce((sum, { heldBytes }) => sum + heldBytes, 0);
        expect(largeBytes).toBeLessThanOrEqual(400 * KB);
        for (const name of users)
          for (const isLarge of [true, false]) {
            const userBodies = entries.filter(
              ({ user, heldBytes }) => user === name && heldBytes > SMALL_BODY === isLarge,
            );
            expect(userBodies.reduce((sum, { heldBytes }) => sum + heldBytes, 0)).toBeLessThanOrEqual(200 * KB);
          }
      }
      for (const { share } of openBodies.values()) share.release();
      bodies.share(ada).grow(200 * KB);
      bodies.share(bob).grow(100 * KB);
    },
  ),
);
