import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { createRingport, type Ringport } from "../../../../src/index.ts";
import { callees, type FarEnd, startFarEnd } from "../../../support/sip/far-end.ts";
import { field, methodOf, userOf } from "../../../support/sip/sip-text.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ANA = { userId: "usr_ana", tokenId: "tok_1" };
const SOON = { timeout: 10_000, interval: 20 };
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function farEndWithBusyPhones(): Promise<FarEnd> {
  const farEnd = await startFarEnd({ callees: { "*": callees.busy } });
  closers.push(() => farEnd.close());
  return farEnd;
}

/** A Ringport with its data in a folder, and one trunk to the test peer. */
function ringportOver(
  farEnd: FarEnd,
  data: string,
  rule: Partial<Trunk>,
  allowedPrefixes?: readonly string[],
): Ringport {
  const trunk: Trunk = { name: "far", server: farEnd.uri, users: "*", ...rule };
  const ringport = createRingport({
    data,
    storage: sqliteStorage({ path: join(data, "calls.sqlite") }),
    telephony: sip({ trunks: [trunk] }),
    streamPreview: true,
    ...(allowedPrefixes && { allowedPrefixes }),
  });
  closers.push(() => ringport.stop({ drainMs: 0 }));
  return ringport;
}

const call = (ringport: Ringport, instanceId: string, phoneNumber: string) =>
  ringport.calls.create(ANA, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } });
const invitedUsers = (farEnd: FarEnd): string[] =>
  farEnd.requests
    .filter((request) => methodOf(request) === "INVITE")
    .map(({ start }) => userOf(start.split(" ")[1] ?? ""));

test("a number outside the rule is refused without an INVITE", async () => {
  const farEnd = await farEndWithBusyPhones();
  const ringport = ringportOver(farEnd, temporaryFolder("refused"), { allowedPrefixes: ["+49", "+1"] });
  const { id } = await ringport.instances.create(ANA, { name: "Desk" });
  for (const phone of ["+4412345678", "+499001234567", "+19002345678", "+881612345678"])
    await expect(call(ringport, id, phone), phone).rejects.toMatchObject({ code: "destination_not_allowed" });
  expect(await ringport.calls.list(ANA)).toEqual([]);
  const allowedCall = await call(ringport, id, "+4930123456");
  expect(await ringport.calls.wait(ANA, allowedCall.id)).toMatchObject({ outcome: { reason: "busy" } });
  expect(invitedUsers(farEnd)).toEqual(["+4930123456"]);
});

test.each([
  ["the token's", { ...ANA, tokenId: "tok_1", allowedPrefixes: ["+49"] }, undefined],
  ["the server's", ANA, ["+49"]],
])("a redirection to a number outside %s prefixes is not followed", async (_owner, principal, allowedPrefixes) => {
  const target = await farEndWithBusyPhones();
  const farEnd = await startFarEnd({
    callees: {
      "+4930123456": callees.redirects(`sip:+12025550100@127.0.0.1:${target.port}`),
      "+4930123457": callees.redirects(`sip:+4930999999@127.0.0.1:${target.port}`),
    },
  });
  closers.push(() => farEnd.close());
  const ringport = ringportOver(farEnd, temporaryFolder("redirected"), { followRedirects: true }, allowedPrefixes);
  const { id } = await ringport.instances.create(ANA, { name: "Desk" });
  for (const [phone, reason] of [
    ["+4930123456", "rejected_by_network"],
    ["+4930123457", "busy"],
  ] as const) {
    const createdCall = await ringport.calls.create(principal, {
      instanceId: id,
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: phone },
    });
    expect(await ringport.calls.wait(ANA, createdCall.id)).toMatchObject({ outcome: { reason } });
  }
  expect(invitedUsers(target)).toEqual(["+4930999999"]);
});

test("a redirection to a forbidden number is not followed, one to another number is", async () => {
  const target = await farEndWithBusyPhones();
  const uriOf = (phone: string): string => `sip:${phone}@127.0.0.1:${target.port}`;
  const farEnd = await startFarEnd({
    callees: {
      "+4930123456": callees.redirects(uriOf("+551187654321")),
      "+4930123457": callees.redirects(uriOf("+4930999999")),
    },
  });
  closers.push(() => farEnd.close());
  const ringport = ringportOver(farEnd, temporaryFolder("protected"), { followRedirects: true });
  const { id } = await ringport.instances.create(ANA, { name: "Desk" });
  await ringport.consents.put(ANA, "+5511987654321", { status: "do_not_call" });
  for (const [phone, reason] of [
    ["+4930123456", "rejected_by_network"],
    ["+4930123457", "busy"],
  ] as const) {
    const createdCall = await call(ringport, id, phone);
    expect(await ringport.calls.wait(ANA, createdCall.id)).toMatchObject({ outcome: { reason } });
  }
  expect(invitedUsers(target)).toEqual(["+4930999999"]);
});

test("a queued call is refused if the rule changes at a restart", async () => {
  const farEnd = await farEndWithBusyPhones();
  farEnd.health = 503;
  const data = temporaryFolder("refused-later");
  const first = ringportOver(farEnd, data, {});
  const { id } = await first.instances.create(ANA, { name: "Desk" });
  const queuedCall = await call(first, id, "+4412345678");
  await first.stop({ drainMs: 0 });
  farEnd.health = 200;
  const restartedRingport = ringportOver(farEnd, data, { allowedPrefixes: ["+49"] });
  await vi.waitFor(async () => {
    expect(await restartedRingport.calls.get(ANA, queuedCall.id)).toMatchObject({
      status: "FAILED",
      outcome: {
        reason: "rejected_by_network",
        detail: "not dialled: trunk far does not call +4412345678, only numbers that begin with +49",
      },
    });
  }, SOON);
  expect(invitedUsers(farEnd)).toEqual([]);
});

/** Identity fields of each INVITE, by the called number; a repeated INVITE counts once. */
function identities(farEnd: FarEnd): Record<string, string | undefined> {
  const invites = farEnd.requests.filter((request) => methodOf(request) === "INVITE");
  return Object.fromEntries(
    invites.map((request) => [userOf(request.start.split(" ")[1] ?? ""), field(request, "P-Asserted-Identity")]),
  );
}

test("a trunk's instances call from their own or a chosen number", async () => {
  const farEnd = await farEndWithBusyPhones();
  const trunk: Partial<Trunk> = {
    user: "100",
    callerId: "+12025550123",
    callerIds: ["+1415555*"],
    identity: "p-asserted",
  };
  const ringport = ringportOver(farEnd, temporaryFolder("callers"), trunk);
  const create = (callerId?: string) => ringport.instances.create(ANA, { name: "Desk", callerId });
  const [first, second, third] = await Promise.all([create("+14155550101"), create("+14155550102"), create()]);
  const busyOutcome = { outcome: { reason: "busy" } };
  const placedCalls = await Promise.all([
    call(ringport, first.id, "+4930000001"),
    call(ringport, second.id, "+4930000002"),
    call(ringport, third.id, "+4930000003"),
  ]);
  for (const { id } of placedCalls) expect(await ringport.calls.wait(ANA, id)).toMatchObject(busyOutcome);
  const callWithNumber = await ringport.calls.create(ANA, {
    instanceId: first.id,
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: "+4930000004" },
    from: { phoneNumber: "+14155550103", displayName: "Night shift" },
  });
  expect(await ringport.calls.wait(ANA, callWithNumber.id)).toMatchObject(busyOutcome);
  expect(identities(farEnd)).toEqual({
    "+4930000001": "<sip:+14155550101@127.0.0.1>",
    "+4930000002": "<sip:+14155550102@127.0.0.1>",
    "+4930000003": "<sip:+12025550123@127.0.0.1>",
    "+4930000004": '"Night shift" <sip:+14155550103@127.0.0.1>',
  });
});

test("a call from an unlisted number is refused without an INVITE", async () => {
  const farEnd = await farEndWithBusyPhones();
  farEnd.health = 503;
  const data = temporaryFolder("callers-later");
  const first = ringportOver(farEnd, data, { callerIds: ["+14155550101"] });
  const { id } = await first.instances.create(ANA, { name: "Desk", callerId: "+14155550101" });
  const callInput = { instanceId: id, type: "DYNAMIC_STREAM", target: { phoneNumber: "+4930000001" } } as const;
  await expect(first.calls.create(ANA, { ...callInput, from: "+14155550199" })).rejects.toMatchObject({
    code: "caller_id_not_allowed",
    message: 'calls over "sip/far" may not come from +14155550199; allowed: +14155550101',
  });
  const queuedCall = await call(first, id, "+4930000001");
  await first.stop({ drainMs: 0 });
  farEnd.health = 200;
  const restartedRingport = ringportOver(farEnd, data, { callerIds: ["+14155550102"] });
  await vi.waitFor(async () => {
    expect(await restartedRingport.calls.get(ANA, queuedCall.id)).toMatchObject({
      status: "FAILED",
      outcome: {
        reason: "rejected_by_network",
        detail: 'not dialled: calls over "sip/far" may not come from +14155550101',
      },
    });
  }, SOON);
  expect(invitedUsers(farEnd)).toEqual([]);
});
