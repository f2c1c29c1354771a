import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConsentInput } from "../../src/domain/dialling-rules/consent-input.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { ALICE, BOB, World } from "../support/application.ts";
import { CODE_POINT, fuzz } from "../support/fuzz.ts";

const PHONE = "+12025550101";
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("consents", () => {
  test("are recorded and deleted only by their user", async () => {
    const world = await World.start();
    const { consents } = world.app;
    const at = world.system.now();
    const first = { userId: ALICE.userId, phone: PHONE, status: "granted", source: null };
    expect(await consents.put(ALICE, PHONE, { status: "granted" })).toEqual({
      ...first,
      createdAt: at,
      updatedAt: at,
      created: true,
    });
    await world.system.advance(1_000);
    const second = { ...first, status: "do_not_call", source: "call of today", createdAt: at, updatedAt: at + 1_000 };
    const input: ConsentInput = { status: "do_not_call", source: "call of today" };
    expect(await consents.put(ALICE, PHONE, input)).toEqual({ ...second, created: false });
    expect(await consents.get(ALICE, PHONE)).toEqual(second);
    expect(await consents.list(ALICE)).toEqual([second]);
    expect(await consents.list(ALICE, { status: "granted" })).toEqual([]);

    expect(await consents.list(BOB)).toEqual([]);
    expect(await refusalOf(consents.get(BOB, PHONE))).toMatchObject({ code: "consent_not_found" });
    expect(await refusalOf(consents.delete(BOB, PHONE))).toMatchObject({ code: "consent_not_found" });

    await consents.delete(ALICE, PHONE);
    expect(await refusalOf(consents.delete(ALICE, PHONE))).toMatchObject({ code: "consent_not_found" });
    expect(await refusalOf(consents.get(ALICE, PHONE))).toMatchObject({
      code: "consent_not_found",
      message: `no consent for ${PHONE} is recorded`,
    });
    await world.stop();
  });

  test("are closed to demo tokens", async () => {
    const world = await World.start();
    const { consents } = world.app;
    const demo = { ...ALICE, demoInstanceId: "inst_1" };
    const refusal = { code: "demo_token_restricted" };
    expect(await refusalOf(consents.put(demo, PHONE, { status: "granted" }))).toMatchObject(refusal);
    expect(await refusalOf(consents.get(demo, PHONE))).toMatchObject(refusal);
    expect(await refusalOf(consents.delete(demo, PHONE))).toMatchObject(refusal);
    expect(await refusalOf(consents.list(demo))).toMatchObject(refusal);
    await world.stop();
  });

  test("are refused with every fault if they are invalid", async () => {
    const world = await World.start();
    const { consents } = world.app;
    const put = (phone: string, input: unknown, isStrict = false) =>
      refusalOf(consents.put(ALICE, phone, input as ConsentInput, { strict: isStrict }));
    expect(await put("12025550101", { status: "granted" })).toMatchObject({ code: "phone_number_invalid" });
    expect(await put(PHONE, { status: "yes" })).toMatchObject({
      errors: [{ pointer: "/status", code: "value_invalid", detail: "must be one of granted, do_not_call" }],
    });
    expect(await put(PHONE, {})).toMatchObject({ errors: [{ pointer: "/status", code: "required" }] });
    expect(await put(PHONE, { status: "granted", source: "x".repeat(501) })).toMatchObject({
      errors: [{ pointer: "/source", code: "too_long" }],
    });
    expect(await put(PHONE, { status: "granted", sorce: "form" }, true)).toMatchObject({
      errors: [{ pointer: "/sorce", code: "unknown_field" }],
    });
    expect(await consents.list(ALICE)).toEqual([]);
    await world.stop();
  });

  test("are limited; existing ones can still be replaced", async () => {
    const world = await World.start({ limits: { consentsPerUser: 1 } });
    const { consents } = world.app;
    await consents.put(ALICE, PHONE, { status: "granted" });
    expect(await refusalOf(consents.put(ALICE, "+12025550144", { status: "granted" }))).toMatchObject({
      code: "consent_quota",
      message: "you have 1 consents, and this server allows 1; delete one first",
    });
    expect(await consents.put(ALICE, PHONE, { status: "do_not_call" })).toMatchObject({ created: false });
    expect(await consents.put(BOB, PHONE, { status: "granted" })).toMatchObject({ created: true });
    await consents.delete(ALICE, PHONE);
    expect(await consents.put(ALICE, "+12025550144", { status: "granted" })).toMatchObject({ created: true });
    await world.stop();
  });

  test("are refused for a deleted account, even if its token was accepted before", async () => {
    const world = await World.start();
    await world.storage.accounts.ensureUser({ id: ALICE.userId, name: ALICE.userId, createdAt: 0 });
    const error = await refusalOf(world.app.consents.put(ALICE, PHONE, { status: "granted" }));
    expect(error).toMatchObject({ code: "unauthorized" });
    expect(await world.app.consents.list(ALICE)).toEqual([]);
    await world.stop();
  });

  test("are deleted with their user's account", async () => {
    const world = await World.start();
    await world.app.consents.put(ALICE, PHONE, { status: "granted" });
    while (await world.storage.logins.forgetUser(ALICE.userId, 10));
    expect(await world.app.consents.list(ALICE)).toEqual([]);
    await world.stop();
  });
});

const world = await World.start();
fuzz(
  "any consent for any number is stored unchanged or refused",
  fc.asyncProperty(
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", PHONE, "+\0", "+1202555010१")),
    fc.oneof(
      fc.anything(),
      fc.record({
        status: fc.oneof(fc.constantFrom("granted", "do_not_call", "toString"), fc.anything()),
        source: fc.oneof(fc.string({ unit: CODE_POINT }), fc.constant(null), fc.anything()),
      }),
    ),
    async (phone, input) => {
      const { consents } = world.app;
      const result = await consents.put(ALICE, phone, input as ConsentInput).catch((error: unknown) => error);
      if (result instanceof Refusal) return;
      const { status, source = null } = input as ConsentInput;
      expect(await consents.get(ALICE, phone)).toMatchObject({ phone, status, source });
    },
  ),
);
