import { describe, expect, test } from "vitest";
import { splitList } from "../../../adapters/sip-stack/message/grammar.ts";
import {
  parseCSeq,
  parseReason,
  parseReasons,
  parseRetryAfter,
  parseRSeq,
  parseSessionExpires,
  parseWarning,
  writeRAck,
  writeSessionExpires,
} from "../../../adapters/sip-stack/message/header-values.ts";
import { optionTags, SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { contentType } from "../../../adapters/sip-stack/message/parse-message.ts";

describe("the value of a field", () => {
  test.each([
    ["1 INVITE", { number: 1, method: "INVITE" }],
    [" 4294967295   x ", { number: 4_294_967_295, method: "x" }],
    ["4294967296 INVITE", undefined],
    ["-1 INVITE", undefined],
    ["1", undefined],
    ["1 IN VITE", undefined],
    [undefined, undefined],
  ])("of CSeq is read from %j", (text, expected) => expect(parseCSeq(text)).toEqual(expected));

  test.each([
    ['Q.850 ;cause=16 ;text="Terminated; \\"so\\""', { protocol: "Q.850", cause: 16, text: 'Terminated; "so"' }],
    ["sip;cause=200", { protocol: "SIP", cause: 200, text: undefined }],
    ["Q.850;cause=x", { protocol: "Q.850", cause: undefined, text: undefined }],
    [";cause=16", undefined],
    ["Q 850;cause=16", undefined],
    ['Q.850;text="open', undefined],
  ])("of Reason is read from %j", (text, expected) => expect(parseReason(text)).toEqual(expected));

  test("Reason may be a list", () => {
    expect(parseReasons('SIP;cause=200, Q.850;cause=16;text="a, b", ?')).toEqual([
      { protocol: "SIP", cause: 200, text: undefined },
      { protocol: "Q.850", cause: 16, text: "a, b" },
    ]);
    expect(parseReasons(undefined)).toEqual([]);
  });

  test.each([
    ["120", 120],
    ["18000;duration=3600", 18_000],
    ["120 (I'm in a meeting; call later)", 120],
    ["0", 0],
    ["949302838503028349304023988", undefined],
    ["Fri, 01 Jan 2010", undefined],
    ["-1", undefined],
    [undefined, undefined],
  ])("of Retry-After is read from %j", (text, expected) => expect(parseRetryAfter(text)).toBe(expected));

  test.each([
    ["1800;refresher=uac", { seconds: 1_800, refresher: "uac" }],
    ["90 ; Refresher = UAS;x", { seconds: 90, refresher: "uas" }],
    ["90;refresher=me", { seconds: 90, refresher: undefined }],
    ["x", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("of Session-Expires or Min-SE is read from %j", (text, expected) =>
    expect(parseSessionExpires(text)).toEqual(expected),
  );

  test("Session-Expires is written", () => {
    expect(writeSessionExpires({ seconds: 90, refresher: undefined })).toBe("90");
    expect(writeSessionExpires({ seconds: 1_800, refresher: "uas" })).toBe("1800;refresher=uas");
  });

  test("RAck names the response that is acknowledged", () => {
    expect(writeRAck(776_656, { number: 1, method: "INVITE" })).toBe("776656 1 INVITE");
  });

  test.each([
    ["1", 1],
    ["0", undefined],
    ["4294967296", undefined],
    ["x", undefined],
  ])("of RSeq is read from %j", (text, expected) => expect(parseRSeq(text)).toBe(expected));

  test.each([
    [
      '399 wa.meta.vc:5061 "No \\"approved\\" permission"',
      { code: 399, agent: "wa.meta.vc:5061", text: 'No "approved" permission' },
    ],
    ['301 isi.edu"x"', { code: 301, agent: "isi.edu", text: "x" }],
    ['1812 overture "In Progress"', undefined],
    ["399 host text", undefined],
    ['399 host "open', undefined],
  ])("of Warning is read from %j", (text, expected) => expect(parseWarning(text)).toEqual(expected));

  test.each([
    ["Application / SDP;charset=utf-8", "application/sdp"],
    ["multipart/mixed;boundary=x", "multipart/mixed"],
    ["application", undefined],
    ["a/b/c", undefined],
    ["a b/c", undefined],
    ["", undefined],
  ])("of Content-Type is read from %j", (text, expected) =>
    expect(contentType(new SipHeaders().add("c", text))?.value).toBe(expected),
  );

  test("option tags are read in any case, from any number of fields", () => {
    const headers = new SipHeaders().add("k", "Timer, 100rel").add("Supported", "PATH");
    expect(optionTags(headers, "Supported")).toEqual(["timer", "100rel", "path"]);
    expect(optionTags(headers, "Require")).toEqual([]);
  });

  test.each([
    ['a, "b, \\", c" , <sip:d,e>;f,,', ["a", '"b, \\", c"', "<sip:d,e>;f"]],
    ['"open, a', ['"open, a']],
    ['"open\\', ['"open\\']],
    ["<open, a", ["<open, a"]],
    [" , ", []],
  ])("is split as a list: %j", (text, expected) => expect(splitList(text)).toEqual(expected));
});

describe("the fields of a header", () => {
  test("are found under any name, in order", () => {
    const headers = new SipHeaders().add("v", "1").add("VIA", "2, 3").addFirst("Via", "0").add("To", "x");
    expect(headers.get("via")).toBe("0");
    expect(headers.fields("V")).toEqual(["0", "1", "2, 3"]);
    expect(headers.list("Via")).toEqual(["0", "1", "2", "3"]);
    expect([headers.has("t"), headers.has("f")]).toEqual([true, false]);
  });

  test("are replaced at the position of the first, and deleted together", () => {
    const headers = new SipHeaders().add("A", "1").add("m", "2").add("B", "3").add("Contact", "4");
    const copy = headers.clone();
    headers.set("Contact", "5").set("C", "6").delete("a");
    expect([...headers]).toEqual([
      ["Contact", "5"],
      ["B", "3"],
      ["C", "6"],
    ]);
    expect([...copy]).toHaveLength(4);
    expect(headers.delete("contact").get("m")).toBeUndefined();
  });
});
