import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk.ts";
import { sip } from "../../../adapters/telephony/sip/index.ts";
import { createRingport, type Ringport } from "../../../src/index.ts";
import { callees, type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { methodOf, userOf } from "../../support/sip/sip-text.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ANA = { userId: "usr_ana", tokenId: "tok_1" };
const SOON = { timeout: 10_000, interval: 20 };
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function farEndWithBusyPhones(): Promise<FarEnd> {
  const farEnd = await startFarEnd({ callees: { "*": callees.busy } });
  closing.push(() => farEnd.close());
  return farEnd;
}

/** A Ringport on the data in a folder, with one trunk to the far end. */
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
  closing.push(() => ringport.stop({ drainMs: 0 }));
  return ringport;
}

const call = (ringport: Ringport, instanceId: string, phoneNumber: string) =>
  ringport.calls.create(ANA, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } });
const invited = (farEnd: FarEnd): string[] =>
  farEnd.requests
    .filter((request) => methodOf(request) === "INVITE")
    .map(({ start }) => userOf(start.split(" ")[1] ?? ""));

test("a number that the trunk does not call is refused at once, and the trunk hears nothing of it", async () => {
  const farEnd = await farEndWithBusyPhones();
  const ringport = ringportOver(farEnd, temporaryFolder("refused"), { allowedPrefixes: ["+49", "+1"] });
  const { id } = await ringport.instances.create(ANA, { name: "Desk" });
  for (const phone of ["+4412345678", "+499001234567", "+19002345678", "+881612345678"])
    await expect(call(ringport, id, phone), phone).rejects.toMatchObject({ code: "destination_not_allowed" });
  expect(await ringport.calls.list(ANA)).toEqual([]);
  const allowed = await call(ringport, id, "+4930123456");
  expect(await ringport.calls.wait(ANA, allowed.id)).toMatchObject({ outcome: { reason: "busy" } });
  expect(invited(farEnd)).toEqual(["+4930123456"]);
});

test.each([
  ["the token's", { ...ANA, tokenId: "tok_1", allowedPrefixes: ["+49"] }, undefined],
  ["the server's", ANA, ["+49"]],
])("a redirection to a number outside of %s prefixes is not followed", async (_whose, principal, allowedPrefixes) => {
  const elsewhere = await farEndWithBusyPhones();
  const farEnd = await startFarEnd({
    callees: {
      "+4930123456": callees.redirects(`sip:+12025550100@127.0.0.1:${elsewhere.port}`),
      "+4930123457": callees.redirects(`sip:+4930999999@127.0.0.1:${elsewhere.port}`),
    },
  });
  closing.push(() => farEnd.close());
  const ringport = ringportOver(farEnd, temporaryFolder("redirected"), { followRedirects: true }, allowedPrefixes);
  const { id } = await ringport.instances.create(ANA, { name: "Desk" });
  for (const [phone, reason] of [
    ["+4930123456", "rejected_by_network"],
    ["+4930123457", "busy"],
  ] as const) {
    const created = await ringport.calls.create(principal, {
      instanceId: id,
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: phone },
    });
    expect(await ringport.calls.wait(ANA, created.id)).toMatchObject({ outcome: { reason } });
  }
  expect(invited(elsewhere)).toEqual(["+4930999999"]);
});

test("a call that waits through a restart is not dialled under a rule that refuses it", async () => {
  const farEnd = await farEndWithBusyPhones();
  farEnd.health = 503;
  const data = temporaryFolder("refused-later");
  const before = ringportOver(farEnd, data, {});
  const { id } = await before.instances.create(ANA, { name: "Desk" });
  const waiting = await call(before, id, "+4412345678");
  await before.stop({ drainMs: 0 });
  farEnd.health = 200;
  const after = ringportOver(farEnd, data, { allowedPrefixes: ["+49"] });
  await vi.waitFor(async () => {
    expect(await after.calls.get(ANA, waiting.id)).toMatchObject({
      status: "FAILED",
      outcome: {
        reason: "rejected_by_network",
        detail: "not dialled: trunk far does not call +4412345678, only numbers that begin with +49",
      },
    });
  }, SOON);
  expect(invited(farEnd)).toEqual([]);
});
