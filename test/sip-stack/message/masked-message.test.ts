import { describe, expect, test } from "vitest";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { maskedMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import { wire } from "./messages.ts";

describe("a message's masked text", () => {
  test("is the message line by line, without secrets", () => {
    const headers = new SipHeaders()
      .add("Via", "SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK1")
      .add("From", "<sip:alice:pa%40ss@example.com:5060>;tag=1")
      .add("Route", "<sip:proxy:5060;lr>, <sips:bob:secret@example.com>")
      .add(
        "Proxy-Authorization",
        'Digest username="alice", realm="r", nonce="n", uri="sip:b:pw@c", response="0123", cnonce = "4\\"5", nc=00000001',
      )
      .add("authorization", "Basic YWxpY2U6c2VjcmV0")
      .add("Authentication-Info", 'rspauth="67", cnonce=89')
      .add("X-Api-Key", "secret")
      .add("Reply-To", "sip:host:5060")
      .add("Content-Type", "application/sdp");
    const sdp = wire(
      "v=0\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0|2^20|1:4\na=crypto:2 X INLINE:c2VjcmV0;inline:c2Vj\na=ice-pwd:hush\na=ice-ufrag:seen\nk=clear:hush\n",
    );
    expect(
      maskedMessage(sipRequest("INVITE", "sip:bob:secret@example.com", headers, sdp)),
    ).toBe(`INVITE sip:bob:•••@example.com SIP/2.0
Via: SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK1
From: <sip:alice:•••@example.com:5060>;tag=1
Route: <sip:proxy:5060;lr>, <sips:bob:•••@example.com>
Proxy-Authorization: Digest username="alice", realm="r", nonce="n", uri="sip:b:•••@c", response="•••", cnonce = "•••", nc=00000001
authorization: Basic •••
Authentication-Info: rspauth="•••", cnonce="•••"
X-Api-Key: •••
Reply-To: sip:host:5060
Content-Type: application/sdp

v=0
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:•••|2^20|1:4
a=crypto:2 X INLINE:•••;inline:•••
a=ice-pwd:•••
a=ice-ufrag:seen
k=•••
`);
  });

  test("starts with a response's status, and counts a binary body", () => {
    const response = {
      kind: "response",
      status: 200,
      reason: "OK",
      headers: new SipHeaders(),
      body: new Uint8Array(5),
    } as const;
    expect(maskedMessage(response)).toBe("SIP/2.0 200 OK\n\n(5 bytes)");
  });
});
