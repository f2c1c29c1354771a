import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callerForm, callerOfForm } from "../../../adapters/console/app/pages/instances/caller-form.ts";
import { pauseUntil } from "../../../adapters/console/app/pages/instances/code-pause.ts";
import { networkKind, operatorName } from "../../../adapters/console/app/pages/instances/network-kind.ts";

describe("a form's caller", () => {
  test("is missing if the form is empty", () => {
    expect(callerOfForm(callerForm())).toBeNull();
    expect(callerOfForm({ phoneNumber: " ", displayName: "  ", withheld: false })).toBeNull();
  });

  test("has its contents, the number without spaces", () => {
    expect(callerOfForm({ phoneNumber: "+1 (202) 555-01.23", displayName: " Front desk ", withheld: false })).toEqual({
      phoneNumber: "+12025550123",
      displayName: "Front desk",
    });
    expect(callerOfForm({ phoneNumber: "", displayName: "", withheld: true })).toEqual({ withheld: true });
  });

  test("survives the form unchanged", () => {
    const phoneNumber = fc.stringMatching(/^\+[1-9]\d{6,14}$/);
    const displayName = fc.string({ minLength: 1 }).filter((name) => name.trim() === name && name !== "");
    const callers = fc.record({ phoneNumber, displayName, withheld: fc.constant(true) }, { requiredKeys: [] });
    fc.assert(
      fc.property(callers, (caller) => {
        expect(callerOfForm(callerForm(caller)) ?? {}).toEqual(caller);
      }),
    );
  });
});

describe("the wait for the next code", () => {
  const now = Date.parse("2026-11-27T12:00:00.000Z");

  test.each([
    ["the end of the code", "2026-11-27T12:00:20.000Z", 20_000],
    ["a second if the code has ended, or the clock is ahead", "2026-11-27T11:00:00.000Z", 1_000],
    ["a minute at most, if the clock is behind", "2026-11-27T13:00:00.000Z", 60_000],
  ])("lasts until %s", (_, expiresAt, ms) => {
    expect(pauseUntil(expiresAt, now)).toBe(ms);
  });

  test("lasts a few seconds if its end is unknown", () => {
    expect(pauseUntil(null, now)).toBe(5_000);
  });
});

test.each([
  ["simulator", "simulator"],
  ["sip", "account"],
  ["sip/acme", "trunk"],
  ["whatsapp", "other"],
] as const)("the network %s is a %s", (provider, kind) => {
  expect(networkKind(provider)).toBe(kind);
});

test("a trunk has its operator's name", () => {
  expect([operatorName("sip/acme"), operatorName("whatsapp")]).toEqual(["acme", "whatsapp"]);
});
