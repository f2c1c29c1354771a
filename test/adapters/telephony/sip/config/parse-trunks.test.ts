import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultText, parseTrunks } from "../../../../../adapters/telephony/sip/config/parse-trunks.ts";
import { resolveTrunk } from "../../../../../adapters/telephony/sip/config/resolve-trunk.ts";
import { whatsappBusiness } from "../../../../../adapters/telephony/sip/config/whatsapp-business.ts";
import { fuzz } from "../../../../support/fuzz.ts";

const faultsOf = (...trunks: unknown[]): string[] => (parseTrunks(trunks).faults ?? []).map(faultText);
const MINIMAL_TRUNK = { name: "acme", server: "sip:sip.example.com" };

describe("parseTrunks", () => {
  test("a trunk needs only name and server", () => {
    const { trunks } = parseTrunks([MINIMAL_TRUNK]);
    expect(trunks).toEqual([MINIMAL_TRUNK]);
    expect(faultsOf({ ...MINIMAL_TRUNK, listen: { transport: "tcp" } })).toEqual([
      "trunk acme: listen.port is missing",
    ]);
    expect(resolveTrunk(MINIMAL_TRUNK)).toMatchObject({
      domain: "sip.example.com",
      from: "sip:ringport@sip.example.com",
      register: false,
      rtpPorts: [16_384, 32_767],
      codecs: ["PCMU", "PCMA"],
      sampleRate: 8_000,
      srtp: "off",
      probe: "options",
      phone: null,
      sessionTimers: true,
      holdTimeoutMs: 60_000,
      mediaLossMs: 20_000,
      requireInboundAudio: true,
      strictRtp: false,
    });
  });

  test("emergency and premium-rate numbers are off by default; prefixes are checked", () => {
    const trunk = { ...MINIMAL_TRUNK, allowedPrefixes: ["+49", "+1415"], allowEmergency: true };
    expect(faultsOf(trunk)).toEqual([]);
    expect(resolveTrunk(trunk)).toMatchObject({ ...trunk, allowPremium: false });
    expect(resolveTrunk(MINIMAL_TRUNK)).toMatchObject({ allowEmergency: false, allowPremium: false });
    expect(faultsOf({ ...MINIMAL_TRUNK, allowedPrefixes: ["+49", "0043"], allowPremium: "yes" })).toEqual([
      expect.stringMatching(/^trunk acme: allowedPrefixes\.1 is "0043", but must be \+ and 1 to 15 digits/),
      'trunk acme: allowPremium is "yes", but must be true or false',
    ]);
    expect(faultsOf({ ...MINIMAL_TRUNK, allowedPrefixes: [] })).toEqual([
      "trunk acme: allowedPrefixes is empty; leave it out to allow every number",
    ]);
    expect(faultsOf({ ...MINIMAL_TRUNK, allowedPrefixes: "+49" })).toEqual([
      expect.stringMatching(/^trunk acme: allowedPrefixes is "\+49", but must be a list of prefixes/),
    ]);
  });

  test("the trunk's number is among its callers", () => {
    const trunk = { ...MINIMAL_TRUNK, callerId: "+4930123456", callerIds: ["+12025550100", "+1415*"] };
    expect(faultsOf(trunk)).toEqual([]);
    expect(resolveTrunk(trunk).callerIds).toEqual(["+4930123456", "+12025550100", "+1415*"]);
    expect(resolveTrunk({ ...trunk, callerIds: "*" }).callerIds).toBe("*");
    expect(resolveTrunk(MINIMAL_TRUNK).callerIds).toEqual([]);
    expect(resolveTrunk({ ...trunk, domain: "wa.meta.vc" }).callerIds).toBeUndefined();
    expect(faultsOf({ ...trunk, callerIds: ["+12025550100", "0123"] })).toEqual([
      expect.stringMatching(/^trunk acme: callerIds\.1 is "0123", but must be an E\.164 number/),
    ]);
  });

  test("a list is equivalent to an object with `trunks`", () => {
    expect(parseTrunks({ trunks: [MINIMAL_TRUNK] })).toEqual(parseTrunks([MINIMAL_TRUNK]));
  });

  test("codecs may have any case; ports may be a pair or text", () => {
    const { trunks } = parseTrunks([
      { ...MINIMAL_TRUNK, codecs: ["pcma", "OPUS", "g722", "Pcma"], rtpPorts: "10000-20000" },
    ]);
    expect(trunks?.[0]).toMatchObject({ codecs: ["PCMA", "opus", "G722"], rtpPorts: [10_000, 20_000] });
    expect(resolveTrunk(trunks![0]!).sampleRate).toBe(16_000);
    expect(resolveTrunk({ ...MINIMAL_TRUNK, codecs: ["G722"] }).sampleRate).toBe(16_000);
    expect(resolveTrunk(MINIMAL_TRUNK).sampleRate).toBe(8_000);
  });

  test("missing options get defaults from other options", () => {
    const account = resolveTrunk({ ...MINIMAL_TRUNK, user: "100", password: "x", callerId: "+4930123456" });
    expect(account).toMatchObject({
      authUser: "100",
      from: "sip:100@sip.example.com",
      callerId: "sip:+4930123456@sip.example.com",
      phone: "+4930123456",
      contactUser: "100",
    });
    expect(resolveTrunk({ ...MINIMAL_TRUNK, server: "sips:sip.example.com" }).srtp).toBe("optional");
    expect(resolveTrunk({ ...MINIMAL_TRUNK, server: "sip:10.0.0.5;transport=TLS" }).srtp).toBe("optional");
    expect(resolveTrunk({ ...MINIMAL_TRUNK, from: "sip:bob@other.example" }).from).toBe("sip:bob@other.example");
    expect(resolveTrunk({ ...MINIMAL_TRUNK, server: "sip:[2001:db8::1]:5070" }).domain).toBe("2001:db8::1");
    expect(resolveTrunk({ ...MINIMAL_TRUNK, domain: "Example.COM", user: "a" }).from).toBe("sip:a@example.com");
  });

  test("faults name trunk, field, value and fix", () => {
    const faults = faultsOf(
      { ...MINIMAL_TRUNK, codecs: ["G729"], rtpPorts: [20_000, 10_000], maxCalls: 0, lines: 101, regster: true },
      { server: "http://x", srtp: "yes", tls: { serverName: "a" } },
      { ...MINIMAL_TRUNK, register: true },
    );
    expect(faults).toEqual([
      'trunk acme: rtpPorts is [20000,10000], but must be two ports of 1 to 65535, the first one lower, with an even port among them, such as "10000-20000"',
      'trunk acme: codecs.0 is "G729", but must be PCMU, PCMA, G722 or opus',
      "trunk acme: maxCalls is 0, but must be a whole number from 1",
      "trunk acme: lines is 101, but must be a whole number from 1 to 100",
      "trunk acme: regster is an unknown option; did you mean register?",
      "trunk #2: name is missing",
      'trunk #2: server is "http://x", but must be a SIP URI, such as sip:sip.example.com or sip:10.0.0.5:5070;transport=tcp',
      'trunk #2: srtp is "yes", but must be off, optional or required',
      "trunk #2: tls.serverName is an unknown option; did you mean servername?",
      "trunk acme: user is missing; a trunk that registers needs its account's user",
    ]);
  });

  test("a trunk name can be used only once", () => {
    expect(faultsOf(MINIMAL_TRUNK, MINIMAL_TRUNK)).toEqual([
      "trunk acme: name is the name of two trunks; give one of them another name",
    ]);
  });

  test.each([
    ["name", "Acme"],
    ["server", "sip:user@"],
    ["server", "sip:host;transport=ws"],
    ["server", "sips:host;transport=udp"],
    ["domain", "a b"],
    ["domain", "host:5060"],
    ["from", "a@b"],
    ["callerId", ""],
    ["callerIds", ["12025550100"]],
    ["callerIds", "+12025550100"],
    ["identity", "pai"],
    ["identity", ["none"]],
    ["displayName", " "],
    ["displayName", "a\r\nb"],
    ["withheld", "id"],
    ["publicAddress", "http://1.2.3.4"],
    ["contact", "100@host"],
    ["rtpPorts", "10000"],
    ["rtpPorts", [10_001, 10_002]],
    ["codecs", []],
    ["codecs", "PCMU"],
    ["callsPerSecond", 0],
    ["headers", { Via: "x" }],
    ["headers", { "X-A": "b\r\nX-C: d" }],
    ["headers", { "a b": "c" }],
    ["probe", "ping"],
    ["users", [""]],
    ["numberFormat", "{national}"],
    ["holdTimeoutMs", 1],
    ["trace", "yes"],
    ["listen", { transport: "ws", port: 1 }],
    ["tls", { cert: "x" }],
    ["listen", { transport: "tls", port: 5061 }],
  ])("%s cannot be %j", (field, value) => {
    const faults = faultsOf({ ...MINIMAL_TRUNK, [field]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^trunk /);
  });

  test("faults contain no password and no key", () => {
    const secret = "hunter2";
    const faults = faultsOf(
      { ...MINIMAL_TRUNK, password: [secret], tls: { key: { pem: secret } } },
      { ...MINIMAL_TRUNK, name: "b", password: secret },
      { ...MINIMAL_TRUNK, name: secret.length, password: "" },
    );
    expect(faults.length).toBeGreaterThanOrEqual(4);
    expect(faults.join()).not.toContain(secret);
  });

  test("a value without `trunks` is refused", () => {
    expect(faultsOf()).toEqual([]);
    expect(parseTrunks("x").faults?.map(faultText)).toEqual(['the SIP trunks must be a list of trunks, not "x"']);
    expect(faultsOf(null)).toEqual(["trunk #1: is null, but must be an object with name and server"]);
  });

  fuzz(
    "parsing never throws",
    fc.property(fc.anything(), (input) => {
      const { trunks, faults } = parseTrunks([input, { ...MINIMAL_TRUNK, tls: input, headers: input, users: input }]);
      for (const trunk of trunks ?? []) resolveTrunk(trunk);
      expect(trunks === undefined).toBe(faults !== undefined);
    }),
  );
});

describe("whatsappBusiness", () => {
  const options = { phoneNumber: "+15550009999", hostname: "sip.example.com", password: "secret" };

  test("is a trunk with Meta's requirements", () => {
    const trunk = whatsappBusiness(options);
    expect(parseTrunks([trunk]).faults).toBeUndefined();
    expect(resolveTrunk(trunk)).toMatchObject({
      server: "sip:wa.meta.vc:5061;transport=tls",
      domain: "wa.meta.vc",
      from: "sip:+15550009999@sip.example.com",
      contact: "sip:+15550009999@sip.example.com:5061;transport=tls",
      authUser: "15550009999",
      register: false,
      codecs: ["opus"],
      sampleRate: 16_000,
      srtp: "required",
      sessionTimers: false,
      phone: "+15550009999",
      listen: undefined,
      whatsApp: true,
    });
  });

  test("listens for Meta's connections with its certificate", () => {
    const trunk = whatsappBusiness({ ...options, port: 15_061, certificate: "cert.pem", key: "key.pem" });
    expect(parseTrunks([trunk]).faults).toBeUndefined();
    expect(trunk).toMatchObject({
      listen: { transport: "tls", port: 15_061 },
      contact: "sip:+15550009999@sip.example.com:15061;transport=tls",
      tls: { cert: "cert.pem", key: "key.pem" },
    });
  });

  test("reports a certificate without its key", () => {
    expect(faultsOf(whatsappBusiness({ ...options, certificate: "cert.pem" }))).toEqual([
      "trunk whatsapp-business: tls.key is missing; a certificate needs its key",
    ]);
  });
});
