import { describe, expect, test } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import type { CallerId } from "../../../../src/ports/telephony.ts";
import { callees } from "../../../support/sip/far-end.ts";
import { fieldsNamed } from "../../../support/sip/sip-text.ts";
import { routeScene } from "./routes/route-scene.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const ACCOUNT: Partial<Trunk> = { domain: "example.com", user: "100", callerId: "+15550002222" };
const IDENTITY_FIELDS = ["From", "P-Asserted-Identity", "P-Preferred-Identity", "Remote-Party-ID", "Privacy"] as const;

/** Places a call; returns the caller ID fields of the received INVITE. */
async function receivedCaller(trunk: Partial<Trunk>, from?: CallerId): Promise<Record<string, string>> {
  const scene = await Scene.open(trunk, { callees: { "*": callees.answers } });
  const { leg, events } = await scene.call(NUMBER, from);
  await events.next("connected", 5_000);
  await leg.hangUp();
  const { text } = scene.farEnd.calls[0]!.requests[0]!;
  const fields = IDENTITY_FIELDS.flatMap((name) => fieldsNamed(text, name));
  return Object.fromEntries(fields.map(([name, value]) => [name, value.replace(/;tag=.*/, "")]));
}

describe("the caller's number", () => {
  const FROM_ADDRESS = "<sip:100@example.com>";
  const OWN_NUMBER = "<sip:+15550002222@example.com>";
  test.each<[string, Trunk["identity"], Record<string, string>]>([
    [
      "both identities by default",
      undefined,
      { From: FROM_ADDRESS, "P-Asserted-Identity": OWN_NUMBER, "P-Preferred-Identity": OWN_NUMBER },
    ],
    ["P-Asserted-Identity alone", "p-asserted", { From: FROM_ADDRESS, "P-Asserted-Identity": OWN_NUMBER }],
    ["P-Preferred-Identity alone", "p-preferred", { From: FROM_ADDRESS, "P-Preferred-Identity": OWN_NUMBER }],
    [
      "Remote-Party-ID alone",
      "remote-party-id",
      { From: FROM_ADDRESS, "Remote-Party-ID": `${OWN_NUMBER};party=calling;privacy=off;screen=no` },
    ],
    ["From and P-Asserted-Identity", ["from", "p-asserted"], { From: OWN_NUMBER, "P-Asserted-Identity": OWN_NUMBER }],
    ["none", "none", { From: FROM_ADDRESS }],
  ])("is in the field %s", async (_, identity, expected) => {
    expect(await receivedCaller({ ...ACCOUNT, identity })).toEqual(expected);
  });

  test("is the call's own number instead of the trunk's", async () => {
    expect(await receivedCaller({ ...ACCOUNT, identity: "p-asserted" }, { phoneNumber: "+15550003333" })).toEqual({
      From: FROM_ADDRESS,
      "P-Asserted-Identity": "<sip:+15550003333@example.com>",
    });
  });

  test("is also in From if the trunk has no account", async () => {
    const trunk: Partial<Trunk> = { domain: "example.com", from: "+15550001111", identity: "none" };
    expect(await receivedCaller(trunk)).toEqual({ From: "<sip:+15550001111@example.com>" });
    expect(await receivedCaller(trunk, { phoneNumber: "+15550003333" })).toEqual({
      From: "<sip:+15550003333@example.com>",
    });
  });
});

test("the caller's name precedes each address in quotes", async () => {
  const trunk: Partial<Trunk> = { ...ACCOUNT, identity: "p-asserted", displayName: "Reception" };
  expect(await receivedCaller(trunk)).toEqual({
    From: '"Reception" <sip:100@example.com>',
    "P-Asserted-Identity": '"Reception" <sip:+15550002222@example.com>',
  });
  expect(await receivedCaller(trunk, { displayName: 'Zoë "Z" O\\Neil' })).toEqual({
    From: '"Zoë \\"Z\\" O\\\\Neil" <sip:100@example.com>',
    "P-Asserted-Identity": '"Zoë \\"Z\\" O\\\\Neil" <sip:+15550002222@example.com>',
  });
});

describe("a withheld caller ID", () => {
  const WITHHELD_HEADERS = { From: '"Anonymous" <sip:anonymous@anonymous.invalid>', Privacy: "id" };

  test("is anonymous in From, but named to the trunk", async () => {
    const trunk: Partial<Trunk> = { ...ACCOUNT, identity: ["p-asserted", "remote-party-id"] };
    expect(await receivedCaller(trunk, { withheld: true })).toEqual({
      ...WITHHELD_HEADERS,
      "P-Asserted-Identity": "<sip:+15550002222@example.com>",
      "Remote-Party-ID": "<sip:+15550002222@example.com>;party=calling;privacy=full;screen=no",
    });
  });

  test("follows the trunk's option unless overridden", async () => {
    const trunk: Partial<Trunk> = {
      domain: "example.com",
      from: "+15550001111",
      identity: "p-preferred",
      withheld: true,
    };
    expect(await receivedCaller(trunk)).toEqual({
      ...WITHHELD_HEADERS,
      "P-Preferred-Identity": "<sip:+15550001111@example.com>",
    });
    expect(await receivedCaller(trunk, { withheld: false })).toEqual({ From: "<sip:+15550001111@example.com>" });
  });
});

test("two lines of one trunk call concurrently, each from its own number", async () => {
  const scene = await Scene.open({ ...ACCOUNT, identity: "p-asserted" }, { callees: { "*": callees.answers } });
  const calls = [
    [NUMBER, "+15550003333"],
    ["+12025550101", "+15550004444"],
  ] as const;
  const placedCalls = await Promise.all(
    calls.map(async ([to, phoneNumber]) => {
      const line = await scene.network.linkedLine();
      return scene.network.call(line, to, undefined, undefined, { phoneNumber });
    }),
  );
  await Promise.all(placedCalls.map(({ events }) => events.next("connected", 5_000)));
  const invitedFrom = scene.farEnd.calls.map(({ user, requests }) => [
    user,
    fieldsNamed(requests[0]!.text, "P-Asserted-Identity").map(([, value]) => value),
  ]);
  expect(invitedFrom.sort()).toEqual(calls.map(([to, from]) => [to, [`<sip:${from}@example.com>`]]));
  await Promise.all(placedCalls.map(({ leg }) => leg.hangUp()));
});

test("a call over a route sends its caller ID to each trunk", async () => {
  const refusingCallee = { rings: [], status: 503, reason: "Out of Order" };
  const trunk: Partial<Trunk> = { callerIds: ["+1555000*"], domain: "example.com", identity: "p-asserted" };
  const scene = await routeScene([
    { ...trunk, callee: refusingCallee },
    { ...trunk, identity: "remote-party-id" },
  ]);
  expect(scene.network.subject.telephony.capabilities.callerIds).toEqual(["+1555000*"]);
  const line = await scene.network.linkedLine();
  const { leg, events } = await scene.network.call(line, NUMBER, undefined, undefined, { phoneNumber: "+15550003333" });
  await events.next("connected", 5_000);
  const identities = (["P-Asserted-Identity", "Remote-Party-ID"] as const).map((name, i) =>
    fieldsNamed(scene.farEnds[i]!.calls[0]!.requests[0]!.text, name).map(([, value]) => value),
  );
  expect(identities).toEqual([
    ["<sip:+15550003333@example.com>"],
    ["<sip:+15550003333@example.com>;party=calling;privacy=off;screen=no"],
  ]);
  await leg.hangUp();
  await scene.close();
});
