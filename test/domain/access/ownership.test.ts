import { describe, expect, test } from "vitest";
import { mayUse, mayUseInstance, mayUseInstanceId, visiblePart } from "../../../src/domain/access/ownership.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";

const user: Principal = { userId: "user-1" };
const demo: Principal = { userId: "user-1", demoInstanceId: "inst-1" };

describe("a principal", () => {
  test.each([
    [user, "user-1", "inst-1", true],
    [user, "user-1", "inst-2", true],
    [user, "user-2", "inst-1", false],
    [demo, "user-1", "inst-1", true],
    [demo, "user-1", "inst-2", false],
    [demo, "user-2", "inst-1", false],
  ])("%o uses a record of %s on %s: %s", (principal, userId, instanceId, isAllowed) => {
    expect(mayUse(principal, { userId, instanceId })).toBe(isAllowed);
    expect(mayUseInstance(principal, { id: instanceId, userId })).toBe(isAllowed);
  });

  test("of a demo token is limited to one instance, for any owner", () => {
    expect(mayUseInstanceId(user, "inst-2")).toBe(true);
    expect(mayUseInstanceId(demo, "inst-1")).toBe(true);
    expect(mayUseInstanceId(demo, "inst-2")).toBe(false);
  });
});

describe("a list", () => {
  test("returns all records of the user, or only of the requested instance", () => {
    expect(visiblePart(user, undefined)).toEqual({});
    expect(visiblePart(user, "inst-2")).toEqual({ instanceId: "inst-2" });
  });

  test("returns only the records of the demo token's instance", () => {
    expect(visiblePart(demo, undefined)).toEqual({ instanceId: "inst-1" });
    expect(visiblePart(demo, "inst-1")).toEqual({ instanceId: "inst-1" });
    expect(visiblePart(demo, "inst-2")).toBeUndefined();
  });
});
