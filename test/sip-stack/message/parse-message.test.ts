import { describe, expect, test } from "vitest";
import { parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import { MAX_BODY_BYTES, MAX_FIELDS, MAX_HEADER_BYTES } from "../../../adapters/sip-stack/message/sip-message.ts";
import { optionsWith, parseRequest, parseText, wire } from "./messages.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("a message in a datagram", () => {
  test("is parsed with names in any case, long or compact, and spaces", () => {
    const request = parseRequest(
      optionsWith().replace("Via:", "v :").replace("From:", "fROM\t:").replace("Call-ID:", "I:"),
    );
    expect(request.headers.get("Via")).toBe("SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1");
    expect(request.headers.get("f")).toBe("<sip:a@example.com>;tag=1");
    expect(request.headers.get("call-id")).toBe("1@example.com");
  });

  test("joins folded fields with one space", () => {
    const { headers } = parseRequest(optionsWith("Subject: one\n  two\n\tthree   ", "X-Empty:\n value"));
    expect(headers.get("s")).toBe("one two three");
    expect(headers.get("X-Empty")).toBe("value");
  });

  test("may have several spaces in its start line, and empty lines before it", () => {
    const request = parseRequest(
      `\n\n${optionsWith().replace("OPTIONS sip:b@example.com ", "OPTIONS   sip:b@example.com  ")}`,
    );
    expect([request.method, request.uri]).toEqual(["OPTIONS", "sip:b@example.com"]);
  });

  test("may have bare line feeds", () => {
    const message = parseMessage(new TextEncoder().encode(`${optionsWith("Content-Length: 2")}ab`));
    expect(message).toMatchObject({ kind: "request", method: "OPTIONS" });
    expect(message.kind === "request" && text(message.body)).toBe("ab");
  });

  test("keeps unknown fields, in UTF-8", () => {
    const { headers } = parseRequest(optionsWith('X: ,;<"é大', "constructor: 1", "__proto__: 2"));
    expect(headers.get("x")).toBe(',;<"é大');
    expect(headers.get("constructor")).toBe("1");
    expect(headers.get("__proto__")).toBe("2");
    expect(headers.get("toString")).toBeUndefined();
  });

  test("has a body of at most Content-Length", () => {
    expect(text(parseRequest(`${optionsWith("Content-Length: 3")}abcdef`).body)).toBe("abc");
  });

  test("has the rest of the datagram as its body if Content-Length is missing", () => {
    const request = parseRequest(`${optionsWith().replace("Content-Length: 0\n", "")}abcdef`);
    expect(text(request.body)).toBe("abcdef");
  });

  test("has a copy of its body", () => {
    const datagram = Buffer.from(wire(`${optionsWith("Content-Length: 3")}abc`));
    const message = parseMessage(datagram);
    datagram.fill(0);
    expect(message.kind === "request" && text(message.body)).toBe("abc");
  });

  test("may have an unknown method and scheme", () => {
    const request = parseRequest(optionsWith("CSeq: 1 FLY").replace("OPTIONS sip:b@example.com", "FLY news:comp.lang"));
    expect([request.method, request.uri]).toEqual(["FLY", "news:comp.lang"]);
  });

  test.each(["SIP/2.0 200 ", "SIP/2.0 200", "sip/2.0  200  "])("may be a response without a reason: %j", (line) => {
    const response = parseText(optionsWith().replace(/^.*\n/, `${line}\n`));
    expect(response).toMatchObject({ kind: "response", status: 200, reason: "" });
  });
});

describe("a malformed message", () => {
  test.each([
    ["Via: SIP/2.0/UDP", "Via cannot be read", undefined],
    ['To: "Bob <sip:b@example.com>', "To cannot be read", 400],
    ["From: bob", "From cannot be read", 400],
    ["Call-ID:", "Call-ID is missing", 400],
    ["CSeq: 4294967296 OPTIONS", "CSeq cannot be read", 400],
    ["CSeq: 1 INVITE", "CSeq names a method other than the first line's", 400],
    ["Max-Forwards: 256", "Max-Forwards is not a number up to 255", 400],
    ["t: <sip:c@example.com>", "To occurs more than once", 400],
    ["Content-Length: -1", "Content-Length is not a number", 400],
    ["Content-Length: 0\nl: 1", "Content-Length is not a number", 400],
    ["Content-Length: 9", "Content-Length is 9, but the body has only 0 bytes", 400],
    ["X: a\rb", "A header field has a carriage return without a line feed", 400],
    [`Content-Length: ${MAX_BODY_BYTES + 1}`, "The body is larger than 256 KiB", 413],
  ])("reports the fault in %j", (line, detail, status) => {
    const message = parseText(optionsWith(line));
    expect(message).toMatchObject({ kind: "malformed", detail });
    expect(message.kind === "malformed" && message.response?.status).toBe(status);
  });

  test.each([
    ["OPTIONS sip:b@example.com SIP/3.0", 505, "The version is not SIP/2.0"],
    ["OPTIONS <sip:b@example.com> SIP/2.0", 400, "The Request-URI is not a URI"],
    ["OPTIONS sip:b@example.com; lr SIP/2.0", 400, "The Request-URI contains white space"],
    ["OPTIONS sip:@example.com SIP/2.0", 400, "The Request-URI is not a SIP URI"],
    ["OPTIONS sip:b@example.com?Subject=x SIP/2.0", 400, "The Request-URI contains header fields"],
    ["OPTIONS sip:b@example.com HTTP/1.1", undefined, "The start line is not SIP"],
    ["SIP/2.0 99 Low", undefined, "The status line is not valid SIP/2.0"],
    ["SIP/2.0 2000 High", undefined, "The status line is not valid SIP/2.0"],
    ["", undefined, "The start line is not SIP"],
  ])("reports the fault in the start line %j", (line, status, detail) => {
    const message = parseText(optionsWith().replace(/^.*\n/, line === "" ? "" : `${line}\n`));
    expect(message).toMatchObject({ kind: "malformed", detail });
    expect(message.kind === "malformed" && message.response?.status).toBe(status);
  });

  test("gets a response with a tag and the fault as its reason phrase", () => {
    const message = parseText(optionsWith("Via: SIP/2.0/TCP 192.0.2.9;branch=z9hG4bK2", "Max-Forwards: x"));
    const response = message.kind === "malformed" ? message.response : undefined;
    expect(response).toMatchObject({ status: 400, reason: "Max-Forwards is not a number up to 255" });
    expect([...(response?.headers ?? [])]).toEqual([
      ["Via", "SIP/2.0/TCP 192.0.2.9;branch=z9hG4bK2"],
      ["From", "<sip:a@example.com>;tag=1"],
      ["To", "<sip:b@example.com>;tag=malformed"],
      ["Call-ID", "1@example.com"],
      ["CSeq", "1 OPTIONS"],
    ]);
  });

  test("gets no response if it is an ACK or a response", () => {
    const ack = parseText(optionsWith("CSeq: 1 ACK", "To: bad").replace("OPTIONS", "ACK"));
    const response = parseText(optionsWith("To: bad").replace(/^.*\n/, "SIP/2.0 200 OK\n"));
    for (const message of [ack, response])
      expect(message).toEqual({ kind: "malformed", detail: "To cannot be read", response: undefined });
  });

  test("is reported if it ends within its header", () => {
    const message = wire(optionsWith());
    for (const length of [message.length - 1, message.length - 2, message.length - 20])
      expect(parseMessage(message.subarray(0, length))).toMatchObject({ kind: "malformed", response: { status: 400 } });
    expect(parseMessage(new Uint8Array(0))).toMatchObject({ kind: "malformed", response: undefined });
  });

  test("is reported if its header or number of fields exceeds the limit", () => {
    expect(parseText(optionsWith(`X: ${"x".repeat(MAX_HEADER_BYTES)}`))).toMatchObject({
      kind: "malformed",
      detail: "The header is larger than 64 KiB",
      response: { status: 513 },
    });
    const fields = Array.from({ length: MAX_FIELDS }, (_, index) => `X-${index}: 1`);
    expect(parseText(optionsWith(...fields))).toMatchObject({
      kind: "malformed",
      detail: "The header has more than 500 fields",
      response: { status: 400 },
    });
  });
});
