import * as fc from "fast-check";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import examples from "libphonenumber-js/mobile/examples" with { type: "json" };
import { describe, expect, test } from "vitest";
import { parseUri } from "../../../../adapters/sip-stack/message/uri.ts";
import { diallingFormat } from "../../../../adapters/telephony/sip/config/number-format.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { isEmergencyNumber } from "../../../../adapters/telephony/sip/destinations/emergency-numbers.ts";
import {
  type DestinationRule,
  loadRefusals,
  mayFollow,
} from "../../../../adapters/telephony/sip/destinations/trunk-destinations.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { callees } from "../../../support/sip/far-end.ts";
import { methodOf, userOf } from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const DEFAULT: DestinationRule = { allowedPrefixes: undefined, allowEmergency: false, allowPremium: false };
const loadRefusalsOf = (rule: Partial<DestinationRule> = {}) => loadRefusals({ ...DEFAULT, ...rule }, "trunk acme")();

const PREMIUM = [
  ...["+19002345678", "+499001234567", "+449098790000", "+33899123456", "+41900123456", "+43900123456", "+34803123456"],
  ...["+39899123456", "+351760123456", "+870773111632", "+881612345678", "+88213300655", "+883510012345678"],
  "+979123456789",
];
const EMERGENCY = ["+49112", "+49110", "+1911", "+44999", "+44112", "+2710111", "+4690000", "+2411342", "+61000"];
const ORDINARY_NUMBERS = [
  ...["+4911234567", "+12025550100", "+19112345678", "+491121234567", "+442071838750", "+2710111111", "+33612345678"],
  ...["+46900001234", "+41227305111", "+390612345678", "+61212345678", "+999123456789"],
];

describe("a trunk's destination rule", () => {
  test("refuses premium-rate and satellite numbers, naming the option", async () => {
    const refusalOf = await loadRefusalsOf();
    for (const phone of PREMIUM)
      expect(refusalOf(phone), phone).toBe(
        `trunk acme does not call ${phone}: premium-rate and satellite numbers are refused unless the operator sets allowPremium`,
      );
    const refusalIfAllowed = await loadRefusalsOf({ allowPremium: true });
    for (const phone of PREMIUM) expect(refusalIfAllowed(phone), phone).toBeUndefined();
  });

  test("refuses emergency numbers, but not longer ones", async () => {
    const refusalOf = await loadRefusalsOf();
    for (const phone of EMERGENCY) {
      expect(refusalOf(phone), phone).toMatch(/emergency numbers are refused unless the operator sets allowEmergency/);
      expect(isEmergencyNumber(`${phone}3`), phone).toBe(false);
    }
    const refusalIfAllowed = await loadRefusalsOf({ allowEmergency: true });
    for (const phone of EMERGENCY) expect(refusalIfAllowed(phone), phone).toBeUndefined();
    for (const phone of ORDINARY_NUMBERS) expect(refusalOf(phone), phone).toBeUndefined();
  });

  test("allows the mobile numbers of every country", async () => {
    const refusalOf = await loadRefusalsOf();
    const numbers = Object.entries(examples).map(([country, national]) =>
      parsePhoneNumberFromString(national, country as "DE"),
    );
    expect(numbers.length).toBeGreaterThan(200);
    for (const number of numbers) expect(refusalOf(number!.number), number!.number).toBeUndefined();
  });

  test("cannot be bypassed by digits after premium numbers", async () => {
    const refusalOf = await loadRefusalsOf();
    for (const phone of PREMIUM)
      for (const suffix of ["0", "99", "123"])
        if ((phone + suffix).length <= 16) expect(refusalOf(phone + suffix), phone + suffix).toMatch(/premium-rate/);
  });

  test("allows only its prefixes if it has any, without their premium-rate numbers", async () => {
    const refusalOf = await loadRefusalsOf({ allowedPrefixes: ["+49", "+1415"] });
    expect(refusalOf("+4930123456")).toBeUndefined();
    expect(refusalOf("+14155550100")).toBeUndefined();
    expect(refusalOf("+12025550100")).toBe(
      "trunk acme does not call +12025550100, only numbers that begin with +49, +1415",
    );
    expect(refusalOf("+499001234567")).toMatch(/premium-rate/);
  });
});

const randomNumber = fc.stringMatching(/^\+[1-9][0-9]{6,14}$/);
const premiumWithSuffix = fc
  .constantFrom(...PREMIUM)
  .chain((phone) => fc.stringMatching(/^[0-9]{0,2}$/).map((suffix) => phone + suffix));
const number = fc.oneof(
  randomNumber,
  premiumWithSuffix,
  fc.constantFrom(...EMERGENCY, ...ORDINARY_NUMBERS),
  fc.stringMatching(/^\+49[0-9]{5,11}$/),
);

describe("INVITEs", () => {
  const rules: readonly Partial<Trunk>[] = [
    {},
    { allowedPrefixes: ["+49", "+1415"] },
    { allowedPrefixes: ["+4930"], allowPremium: true, numberFormat: "0{national:49}" },
    { allowEmergency: true, numberFormat: "digits" },
  ];
  test.each(rules)("contain only numbers that the rule allows: %j", { timeout: 60_000 }, async (rule) => {
    const scene = await Scene.open(rule, { callees: { "*": callees.busy } });
    await scene.line();
    const { allowedPrefixes, allowEmergency = false, allowPremium = false } = rule;
    const refusalOf = await loadRefusalsOf({ allowedPrefixes, allowEmergency, allowPremium });
    const format = diallingFormat(rule.numberFormat ?? "e164")!;
    const invites = () => scene.farEnd.requests.filter((request) => methodOf(request) === "INVITE");
    await fc.assert(
      fc.asyncProperty(number, async (phone) => {
        const inviteCount = invites().length;
        const refusal = refusalOf(phone);
        expect((await scene.telephony.refuses!(phone)) === undefined).toBe(refusal === undefined);
        const [cause, detail] = await scene.endOf(phone);
        const users = invites()
          .slice(inviteCount)
          .map(({ start }) => userOf(start.split(" ")[1] ?? ""));
        if (refusal === undefined) expect(users).toEqual(format(phone) === undefined ? [] : [format(phone)]);
        else
          expect([cause, detail, users]).toEqual([
            "rejected_by_network",
            expect.stringMatching(/^not dialled: trunk far /),
            [],
          ]);
      }),
      { numRuns: 60 },
    );
  });

  test("follow no redirection to a refused number", async () => {
    const target = await Scene.open({}, { callees: { "*": callees.answers } });
    const redirectingCallees = { "*": callees.redirects(`sip:+19002345678@127.0.0.1:${target.farEnd.port}`) };
    const scene = await Scene.open({ followRedirects: true }, { callees: redirectingCallees });
    expect(await scene.endOf("+12025550100")).toEqual([
      "rejected_by_network",
      expect.stringMatching(/^SIP 302 .*, which was already tried or may not be called$/),
    ]);
    expect(target.farEnd.requests.filter((request) => methodOf(request) === "INVITE")).toEqual([]);
  });
});

describe("a redirection", () => {
  test.each([
    ["sip:+12025550100@a", "e164", true],
    ["sip:+1-202-555.0100@a", "e164", true],
    ["sip:+19002345678@a", "e164", false],
    ["sip:+1-900-234-5678@a", "e164", false],
    ["sip:+19002345678;phone-context=x@a", "e164", false],
    ["sip:+12025550100;npdi@a", "e164", true],
    ["sip:+12025550100;rn=+19002345678@a", "e164", false],
    ["sip:5551234;phone-context=+1900@a", "digits", false],
    ["sip:112@a", "e164", false],
    ["sip:911@a", "digits", false],
    ["sip:1121@a", "e164", false],
    ["sip:11833@a", "e164", false],
    ["sip:090@a", "e164", false],
    ["sip:*31%230019005551234@a", "e164", false],
    ["sip:+19005551234,1@a", "e164", false],
    ["sip:+1_9005551234@a", "e164", false],
    ["sip:T19005551234@a", "e164", false],
    ["sip:0019005551234@a", "digits", false],
    ["sip:00882161234567@a", "digits", false],
    ["sip:09001234567@a", "digits", false],
    ["sip:+49112@a", "e164", false],
    ["sip:bob2@a", "e164", false],
    ["sip:4711@a", "digits", true],
    ["sip:12025550100@a", "digits", true],
    ["sip:19002345678@a", "digits", false],
    ["sip:09001234567@a", "0{national:49}", false],
    ["sip:0301234567@a", "0{national:49}", false],
    ["sip:200@a", "0{national:49}", true],
    ["sip:bob@a", "e164", true],
    ["sip:a", "e164", true],
  ])("to %s on a trunk with the format %s is followed: %s", async (uri, format, isFollowed) => {
    expect(await mayFollow(parseUri(uri)!, await loadRefusalsOf(), diallingFormat(format)!)).toBe(isFollowed);
  });
});

describe("users' SIP accounts", () => {
  const accounts = (defaults = {}) => sip({ trunks: [], accounts: { defaults } })[0]!;

  test("call no premium-rate or emergency numbers", async () => {
    const network = accounts();
    expect(await network.refuses?.("+12025550100")).toBeUndefined();
    expect(await network.refuses?.("+19002345678")).toMatch(/^the network of SIP accounts does not call/);
    expect(await network.refuses?.("+49112")).toMatch(/emergency/);
    await network.close();
  });

  test("respect the operator's rule", async () => {
    const network = accounts({ allowedPrefixes: ["+1"], allowPremium: true });
    expect(await network.refuses?.("+19002345678")).toBeUndefined();
    expect(await network.refuses?.("+4930123456")).toMatch(/only numbers that begin with \+1$/);
    await network.close();
  });
});
