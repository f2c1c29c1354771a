import { describe, expect, test } from "vitest";
import { bodyPart } from "../../../../adapters/sip-stack/message/body-part.ts";
import { parseVia } from "../../../../adapters/sip-stack/message/header-values.ts";
import { type NameAddr, parseNameAddr } from "../../../../adapters/sip-stack/message/name-addr.ts";
import { parseMessage } from "../../../../adapters/sip-stack/message/parse-message.ts";
import type { SipRequest, SipResponse } from "../../../../adapters/sip-stack/message/sip-message.ts";
import { StreamFramer } from "../../../../adapters/sip-stack/message/stream-framer.ts";
import { parseUri } from "../../../../adapters/sip-stack/message/uri.ts";
import { writeMessage } from "../../../../adapters/sip-stack/message/write-message.ts";
import { BEYOND_PARSING } from "./beyond-parsing.ts";
import { INVALID } from "./invalid.ts";
import { VALID } from "./valid.ts";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

function parse(bytes: Uint8Array | undefined): SipRequest | SipResponse {
  const message = parseMessage(bytes ?? new Uint8Array(0));
  if (message.kind === "malformed") throw new Error(message.detail);
  return message;
}

function parseRequest(bytes: Uint8Array | undefined): SipRequest {
  const message = parse(bytes);
  if (message.kind === "response") throw new Error(`a response: ${message.status}`);
  return message;
}

const address = (value: string | undefined): NameAddr | undefined => parseNameAddr(value ?? "");
const uriOf = (value: string | undefined): unknown => parseUri(address(value)?.uri ?? "");

describe("a valid message of RFC 4475 section 3.1.1", () => {
  test("may be short and tortuous (wsinv)", () => {
    const { method, uri, headers, body } = parseRequest(VALID.wsinv);
    expect([method, parseUri(uri)?.params]).toEqual(["INVITE", new Map([["unknownparam", ""]])]);
    expect(address(headers.get("To"))).toEqual({
      display: undefined,
      uri: "sip:vivekg@chair-dnrc.example.com",
      params: new Map([["tag", "1918181833n"]]),
    });
    expect(address(headers.get("From"))).toEqual({
      display: 'J Rosenberg \\"',
      uri: "sip:jdrosen@example.com",
      params: new Map([["tag", "98asjd8"]]),
    });
    expect(headers.get("CSeq")).toBe("0009 INVITE");
    expect(headers.get("Subject")).toBe("");
    expect(headers.get("NewFangledHeader")).toBe("newfangled value continued newfangled value");
    expect(headers.get("UnknownHeaderWithUnusualValue")).toBe(";;,,;;,;");
    expect(uriOf(headers.get("Route"))).toMatchObject({
      host: "services.example.com",
      params: new Map([
        ["lr", ""],
        ["unknownwith", "value"],
        ["unknown-no-value", ""],
      ]),
    });
    expect(headers.list("Via").map(parseVia)).toEqual([
      { transport: "UDP", host: "192.0.2.2", port: undefined, params: new Map([["branch", "390skdjuw"]]) },
      { transport: "TCP", host: "spindle.example.com", port: undefined, params: new Map([["branch", "z9hG4bK9ikj8"]]) },
      { transport: "UDP", host: "192.168.255.111", port: undefined, params: new Map([["branch", "z9hG4bK30239"]]) },
    ]);
    expect(address(headers.get("Contact"))).toEqual({
      display: 'Quoted string ""',
      uri: "sip:jdrosen@example.com",
      params: new Map([
        ["newparam", "newvalue"],
        ["secondparam", ""],
        ["q", "0.33"],
      ]),
    });
    expect(text(body)).toMatch(/^v=0\r\n.*LPC\r\n$/s);
    expect(body).toHaveLength(150);
  });

  test("may have all characters that are allowed (intmeth)", () => {
    const { method, uri, headers } = parseRequest(VALID.intmeth);
    expect(method).toBe("!interesting-Method0123456789_*+`.%indeed'~");
    expect(parseUri(uri)).toMatchObject({
      user: "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
      password: "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)",
      host: "example.com",
      headers: [],
    });
    expect(parseVia(headers.get("Via") ?? "")?.params.get("branch")).toBe("z9hG4bK-.!%66*_+`'~");
    expect(address(headers.get("To"))?.display).toBe("BEL:\x07 NUL:\x00 DEL:\x7f");
    expect(address(headers.get("From"))).toEqual({
      display: "token1~` token2'+_ token3*%!.-",
      uri: "sip:mundane@example.com",
      params: new Map([
        ["fromparam''~+*_!.-%", "работающий"],
        ["tag", "_token~1'+`*%!-."],
      ]),
    });
    expect(headers.get("Call-ID")).toBe("intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{");
    expect(headers.get("extensionHeader-!.%*+_`'~")).toBe("\ufeff大停電");
  });

  test("may escape any character (esc01)", () => {
    const { uri, headers } = parseRequest(VALID.esc01);
    expect(parseUri(uri)).toMatchObject({ user: "sips:user@example.com", host: "example.net" });
    expect(uriOf(headers.get("To"))).toMatchObject({ user: "user" });
    expect(uriOf(headers.get("From"))).toMatchObject({ user: "I have spaces" });
    expect(uriOf(headers.get("Contact"))).toMatchObject({
      user: "caller",
      params: new Map([
        ["lr", ""],
        ["name", "value%41"],
      ]),
    });
  });

  test("may escape NUL (escnull)", () => {
    const { headers } = parseRequest(VALID.escnull);
    expect(uriOf(headers.get("To"))).toMatchObject({ user: "null-\0-null" });
    expect(headers.list("Contact").map(uriOf)).toMatchObject([{ user: "\0" }, { user: "\0\0" }]);
  });

  test("may have unescaped percent signs (esc02)", () => {
    const { method, headers } = parseRequest(VALID.esc02);
    expect(method).toBe("RE%47IST%45R");
    expect(address(headers.get("To"))?.display).toBe("%Z%45");
    expect(headers.list("Contact")).toEqual(["<sip:alias1@host1.example.com>", "<sip:alias3@host3.example.com>"]);
    expect(headers.get("C%6Fntact")).toBe("<sip:alias2@host2.example.com>");
  });

  test("may lack the display name's space (lwsdisp)", () => {
    expect(address(parseRequest(VALID.lwsdisp).headers.get("From"))).toMatchObject({
      display: "caller",
      uri: "sip:caller@example.com",
    });
  });

  test("may have long values (longreq)", () => {
    const { headers, body } = parseRequest(VALID.longreq);
    const vias = headers.list("Via").map(parseVia);
    expect(vias.map((via) => via?.host)).toEqual([
      ...Array.from({ length: 33 }, (_, index) => `sip${33 - index}.example.com`),
      "host.example.com",
    ]);
    expect(vias.at(-1)?.params.get("branch")).toHaveLength(215);
    expect(uriOf(headers.get("To"))).toMatchObject({ user: "user", port: 6000 });
    expect(address(headers.get("From"))?.params.get("tag")).toMatch(/^12982.*424$/);
    expect(body).toHaveLength(150);
  });

  test("ends at its Content-Length (dblreq)", () => {
    const { method, headers, body } = parseRequest(VALID.dblreq);
    expect([method, headers.get("Call-ID"), body.length]).toEqual([
      "REGISTER",
      "dblreq.0ha0isndaksdj99sdfafnl3lk233412",
      0,
    ]);
  });

  test("may have semicolons in the user (semiuri)", () => {
    const { uri, headers } = parseRequest(VALID.semiuri);
    expect(parseUri(uri)).toMatchObject({ user: "user;par=u@example.net", host: "example.com", params: new Map() });
    expect(headers.list("Accept")).toEqual([
      "application/sdp",
      "application/pkcs7-mime",
      "multipart/mixed",
      "multipart/signed",
      "message/sip",
      "message/sipfrag",
    ]);
  });

  test("may have unknown transports in Via (transports)", () => {
    const vias = parseRequest(VALID.transports).headers.list("Via").map(parseVia);
    expect(vias.map((via) => via?.transport)).toEqual(["UDP", "SCTP", "TLS", "UNKNOWN", "TCP"]);
  });

  test("may have parts, one of them binary (mpart01)", () => {
    const message = parseRequest(VALID.mpart01);
    expect(message.body).toHaveLength(553);
    expect(text(bodyPart(message, "text/plain"))).toBe("Hello");
    const signature = bodyPart(message, "application/octet-stream");
    expect([signature?.length, signature?.[0], signature?.at(-1)]).toEqual([342, 0x30, 0x05]);
    expect(bodyPart(message, "application/sdp")).toBeUndefined();
  });

  test("may have an odd reason, or none (unreason, noreason)", () => {
    expect(parse(VALID.unreason)).toMatchObject({
      status: 200,
      reason: "= 2**3 * 5**2 но сто девяносто девять - простое",
    });
    expect(parse(VALID.noreason)).toMatchObject({ status: 100, reason: "" });
  });

  test.each(Object.entries(VALID))("is unchanged after writing and reading: %s", (_, bytes) => {
    const { headers, ...otherParts } = parse(bytes);
    const reparsed = parse(writeMessage({ headers, ...otherParts } as SipRequest));
    expect(reparsed).toMatchObject(otherParts);
    const withoutLength = [...reparsed.headers].filter(([name]) => name !== "Content-Length");
    expect(withoutLength).toEqual([...headers].filter(([name]) => !/^(content-length|l)\s*$/i.test(name)));
  });

  test.each(Object.entries(VALID))("is the same from a stream: %s", (_, bytes) => {
    expect(new StreamFramer().push(bytes)[0]).toEqual(parse(bytes));
  });
});

/** Our response to each of the other messages; accepted ones are up to the layers above the parser. */
const VERDICTS: readonly [name: string, section: string, verdict: number | "dropped" | "read", reason: string][] = [
  ["badinv01", "3.1.2.1", 400, "Via cannot be read"],
  ["clerr", "3.1.2.2", 400, "Content-Length is 9999, but the body has only 154 bytes"],
  ["ncl", "3.1.2.3", 400, "Content-Length is not a number"],
  ["scalar02", "3.1.2.4", 400, "CSeq cannot be read"],
  ["scalarlg", "3.1.2.5", "dropped", "CSeq cannot be read"],
  ["quotbal", "3.1.2.6", 400, "To cannot be read"],
  ["ltgtruri", "3.1.2.7", 400, "The Request-URI is not a URI"],
  ["lwsruri", "3.1.2.8", 400, "The Request-URI contains white space"],
  ["lwsstart", "3.1.2.9", "read", "liberal, as the RFC allows: several spaces are one"],
  ["trws", "3.1.2.10", "read", "liberal, as the RFC allows: trailing white space is ignored"],
  ["escruri", "3.1.2.11", 400, "The Request-URI contains header fields"],
  ["baddate", "3.1.2.12", "read", "Date is ignored, as the RFC allows"],
  ["regbadct", "3.1.2.13", "read", "its Contact cannot be read: a registrar refuses it"],
  ["badaspec", "3.1.2.14", "read", "liberal, as the RFC allows: the spaces are ignored"],
  ["baddn", "3.1.2.15", "read", "liberal, as the RFC allows: the names are read as if quoted"],
  ["badvers", "3.1.2.16", 505, "The version is not SIP/2.0"],
  ["mismatch01", "3.1.2.17", 400, "CSeq names a method other than the first line's"],
  ["mismatch02", "3.1.2.18", 400, "CSeq names a method other than the first line's"],
  ["bigcode", "3.1.2.19", "dropped", "The status line is not valid SIP/2.0"],
  ["badbranch", "3.2.1", "read", "a branch with only the cookie: matched as in RFC 2543"],
  ["insuf", "3.3.1", 400, "From is missing"],
  ["unkscm", "3.3.2", "read", "a URI of another scheme"],
  ["novelsc", "3.3.3", "read", "a URI of another scheme"],
  ["unksm2", "3.3.4", "read", "for a registrar to refuse"],
  ["bext01", "3.3.5", "read", "420, by the user agent"],
  ["invut", "3.3.6", "read", "a user agent that accepts calls refuses its body"],
  ["regaut01", "3.3.7", "read", "for a registrar to refuse"],
  ["multi01", "3.3.8", 400, "From occurs more than once"],
  ["mcl01", "3.3.9", 400, "Content-Length is not a number"],
  ["bcast", "3.3.10", "read", "matches no transaction of ours: dropped there"],
  ["zeromf", "3.3.11", "read", "only a proxy refuses it"],
  ["cparam01", "3.3.12", "read", "the parameter is the field's"],
  ["cparam02", "3.3.13", "read", "the parameter is the URI's"],
  ["regescrt", "3.3.14", "read", "the header is the URI's"],
  ["sdp01", "3.3.15", "read", "a user agent that accepts calls refuses its Accept"],
  ["inv2543", "3.4.1", "read", "RFC 2543: no tag, no branch, no Max-Forwards, no Contact"],
];

describe("another message of RFC 4475", () => {
  const otherMessages = { ...INVALID, ...BEYOND_PARSING };

  test("has a verdict in the table", () => {
    expect(VERDICTS.map(([name]) => name)).toEqual(Object.keys(otherMessages));
  });

  test.each(VERDICTS)("is judged as in the table: %s (section %s): %s, %s", (name, _, verdict, reason) => {
    const message = parseMessage(otherMessages[name] as Uint8Array);
    if (verdict === "read") expect(message.kind).toMatch(/request|response/);
    else expect(message).toMatchObject({ kind: "malformed", detail: reason });
    if (message.kind === "malformed") expect(message.response?.status ?? "dropped").toBe(verdict);
  });

  test("is read as intended if it is accepted", () => {
    expect(parseRequest(INVALID.lwsstart).uri).toBe("sip:user@example.com");
    expect(parseRequest(INVALID.trws).uri).toBe("sip:remote-target@example.com");
    expect(address(parseRequest(INVALID.badaspec).headers.get("To"))).toMatchObject({
      display: "Watson, Thomas",
      uri: "sip:t.watson@example.org",
    });
    expect(address(parseRequest(INVALID.baddn).headers.get("From"))).toMatchObject({ display: "Bell, Alexander" });
    expect(address(parseRequest(INVALID.regbadct).headers.get("Contact"))).toBeUndefined();
  });

  test("keeps parameters and headers where they belong", () => {
    const contact = (name: string): string | undefined => parseRequest(BEYOND_PARSING[name]).headers.get("Contact");
    expect(address(contact("cparam01"))).toMatchObject({
      uri: "sip:+19725552222@gw1.example.net",
      params: new Map([["unknownparam", ""]]),
    });
    expect(address(contact("cparam02"))).toMatchObject({
      uri: "sip:+19725552222@gw1.example.net;unknownparam",
      params: new Map(),
    });
    expect(uriOf(contact("regescrt"))).toMatchObject({ headers: [["Route", "<sip:sip.example.com>"]] });
    expect(address(parseRequest(BEYOND_PARSING.inv2543).headers.get("To"))).toMatchObject({
      uri: "sip:+16505552222@ss1.example.net",
      params: new Map([["user", "phone"]]),
    });
  });
});
