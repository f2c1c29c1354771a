import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import { responseTo, type SipResponse, sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import { fuzz } from "../../support/fuzz.ts";
import { anyMessage } from "./arbitraries.ts";
import { optionsWith, parseRequest } from "./messages.ts";

const messageText = (message: Parameters<typeof writeMessage>[0]): string =>
  new TextDecoder().decode(writeMessage(message));

describe("a written message", () => {
  test("has its fields in their order, and the length of its body last", () => {
    const headers = new SipHeaders().add("l", "77").add("Subject", "hé").add("Content-Length", "9").add("X", "");
    expect(messageText(sipRequest("MESSAGE", "sip:a@b", headers, new TextEncoder().encode("né")))).toBe(
      "MESSAGE sip:a@b SIP/2.0\r\nSubject: hé\r\nX: \r\nContent-Length: 3\r\n\r\nné",
    );
  });

  test("as a response copies only the required fields of its request", () => {
    const request = parseRequest(optionsWith("Subject: x"));
    expect(messageText(responseTo(request, 200, ""))).toBe(
      [
        "SIP/2.0 200 ",
        "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1",
        "From: <sip:a@example.com>;tag=1",
        "To: <sip:b@example.com>",
        "Call-ID: 1@example.com",
        "CSeq: 1 OPTIONS",
        "Content-Length: 0",
        "",
        "",
      ].join("\r\n"),
    );
  });

  test.each([
    ["Subject", "a\r\nVia: evil", "the value of the header field Subject contains a line break"],
    ["Subject", "a\nb", "the value of the header field Subject contains a line break"],
    ["Sub ject", "a", 'the header field name "Sub ject" is not a token'],
    ["Via\r\nX", "a", 'the header field name "Via\\r\\nX" is not a token'],
    ["", "a", 'the header field name "" is not a token'],
  ])("is refused for the field %j: %j", (name, value, sentence) => {
    const request = sipRequest("OPTIONS", "sip:a@b", new SipHeaders().add(name, value));
    expect(() => writeMessage(request)).toThrow(new RangeError(sentence));
  });

  test("is refused with a malformed start line", () => {
    const response: SipResponse = responseTo(parseRequest(optionsWith()), 200, "OK");
    expect(() => writeMessage(sipRequest("OPTIONS", "sip:a@b SIP/2.0\r\nX: y"))).toThrow(RangeError);
    expect(() => writeMessage(sipRequest("OPTIONS", ""))).toThrow(RangeError);
    expect(() => writeMessage(sipRequest("OP TIONS", "sip:a@b"))).toThrow(RangeError);
    expect(() => writeMessage({ ...response, reason: "OK\r\n" })).toThrow(RangeError);
    expect(() => writeMessage({ ...response, status: 99 })).toThrow(RangeError);
  });

  fuzz(
    "is read back unchanged",
    fc.property(anyMessage, (message) => {
      const { headers, ...otherParts } = message;
      const parsed = parseMessage(writeMessage(message));
      expect(parsed).toMatchObject(otherParts);
      const fields = parsed.kind === "malformed" ? [] : [...parsed.headers];
      expect(fields).toEqual([...headers, ["Content-Length", String(message.body.length)]]);
    }),
  );
});
