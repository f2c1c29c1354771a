import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseChallenges } from "../../../adapters/sip-stack/auth/challenge.ts";
import { bodyPart } from "../../../adapters/sip-stack/message/body-part.ts";
import { splitList } from "../../../adapters/sip-stack/message/grammar.ts";
import {
  parseCSeq,
  parseReason,
  parseRetryAfter,
  parseSessionExpires,
  parseVia,
  parseWarning,
} from "../../../adapters/sip-stack/message/header-values.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { parseNameAddr, tagOf } from "../../../adapters/sip-stack/message/name-addr.ts";
import { contentType, parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import { sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { StreamFramer } from "../../../adapters/sip-stack/message/stream-framer.ts";
import { parseHostPort, parseUri } from "../../../adapters/sip-stack/message/uri.ts";
import { maskedMessage, writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { anyMessage } from "./arbitraries.ts";
import { growth, LINEAR } from "./growth.ts";
import { optionsWith, wire } from "./messages.ts";
import { BEYOND_PARSING } from "./torture/beyond-parsing.ts";
import { INVALID } from "./torture/invalid.ts";
import { VALID } from "./torture/valid.ts";

const maskedHeaders = (text: string): string =>
  maskedMessage(
    sipRequest("MESSAGE", "sip:a", new SipHeaders().add("Authorization", text).add("To", text), wire(text)),
  );
const readPart = (text: string): unknown =>
  bodyPart({ headers: new SipHeaders().add("c", "multipart/mixed;boundary=x"), body: wire(text) }, "a/b");

/** Every parser of external text, with a plausible prefix. */
const PARSERS: readonly [name: string, read: (text: string) => unknown, beginnings: readonly string[]][] = [
  ["parseMessage", (text) => parseMessage(wire(text)), ["", "OPTIONS sip:", optionsWith().slice(0, -1)]],
  ["parseUri", parseUri, ["sip:", "sip:a@", "sip:a@b;", "sip:a@b?"]],
  ["parseNameAddr", parseNameAddr, ["", '"', "<sip:a", "sip:a;", "<sip:a>;b="]],
  ["tagOf", tagOf, ["sip:a;tag="]],
  ["parseVia", parseVia, ["SIP", "SIP/2.0/UDP ", "SIP/2.0/UDP a;", "SIP/2.0/UDP a:"]],
  ["parseHostPort", parseHostPort, ["", "[", "a:"]],
  ["parseCSeq", parseCSeq, ["", "1 ", "1 A"]],
  ["parseReason", parseReason, ["", "SIP;text="]],
  ["parseRetryAfter", parseRetryAfter, ["", "1"]],
  ["parseSessionExpires", parseSessionExpires, ["", "1;"]],
  ["parseWarning", parseWarning, ["399 ", '399 a "']],
  ["contentType", (text) => contentType(new SipHeaders().add("c", text)), ["", "a", "a/"]],
  ["splitList", splitList, ["", '"', "<"]],
  ["parseChallenges", parseChallenges, ["Digest ", 'Digest a="']],
  ["bodyPart", readPart, ["", "--x\n"]],
  ["maskedMessage", maskedHeaders, ["", "Digest ", "response="]],
];
const UNITS = [
  " ",
  "\t",
  '"',
  "\\",
  '\\"',
  "<",
  ">",
  ",",
  ";",
  "=",
  ";=",
  ";a",
  ";a=b",
  ';a="',
  "@",
  ":",
  "/",
  "%",
  "%4",
  "%41",
  "a",
  "0",
  "a ",
  "a,",
  "&a=b",
  "?",
  "sip:",
  "sip:a:",
  "sip:a:b@",
  "response=",
  'cnonce="',
  "inline:",
  "\n",
  "\n ",
  "\na:b",
  "--x\n",
  "é",
];

describe("a hostile text", () => {
  test.each(PARSERS)("takes %s no more than linear time", (_, read, beginnings) => {
    const slow: string[] = [];
    for (const prefix of beginnings)
      for (const piece of UNITS) {
        const text = (size: number): string => `${prefix}${piece.repeat(size / piece.length)}\0`;
        const ratio = growth(text, 2_500, read);
        if (ratio > LINEAR) slow.push(`${prefix}${piece}… ${ratio.toFixed(1)}`);
      }
    expect(slow).toEqual([]);
  });

  fuzz(
    "never throws",
    fc.property(
      fc.constantFrom(...PARSERS),
      fc.nat(),
      fc.array(fc.oneof(fc.constantFrom(...UNITS), fc.string({ unit: CODE_POINT, maxLength: 3 })), { maxLength: 20 }),
      ([, read, beginnings], index, units) => {
        expect(() => read(`${beginnings[index % beginnings.length]}${units.join("")}`)).not.toThrow();
      },
    ),
  );
});

describe("a stream in small pieces", () => {
  test.each([
    ["byte by byte", 1],
    ["seven bytes at a time", 7],
  ])("takes no more than linear time, %s", (_, step) => {
    const message = (size: number): Uint8Array =>
      wire(`${optionsWith(`X: ${"x".repeat(size)}`, `Content-Length: ${size}`)}${"y".repeat(size)}`);
    const ratio = growth(message, 3_500, (bytes) => {
      const framer = new StreamFramer();
      let messages = 0;
      for (let at = 0; at < bytes.length; at += step) messages += framer.push(bytes.subarray(at, at + step)).length;
      expect(messages).toBe(1);
    });
    expect(ratio).toBeLessThan(LINEAR);
  });
});

describe("hostile bytes", () => {
  const seeds = Object.values({ ...VALID, ...INVALID, ...BEYOND_PARSING });
  /** A valid message with some of its bytes overwritten, left out or doubled. */
  const mutatedMessage = fc
    .tuple(
      fc.oneof(fc.constantFrom(...seeds), anyMessage.map(writeMessage)),
      fc.array(
        fc.record({
          at: fc.nat(),
          cut: fc.nat(6),
          put: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom(...UNITS).map(wire)),
        }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    )
    .map(([seed, changes]) => {
      let bytes = [...seed];
      for (const { at, cut, put } of changes) {
        const offset = at % (bytes.length + 1);
        bytes = [...bytes.slice(0, offset), ...put, ...bytes.slice(offset + cut)];
      }
      return Uint8Array.from(bytes);
    });

  const checkMessage = (bytes: Uint8Array): void => {
    const message = parseMessage(bytes);
    if (message.kind === "malformed") {
      expect(message.detail).toMatch(/^[A-Z][^\r\n]+$/);
      if (message.response !== undefined)
        expect(parseMessage(writeMessage(message.response)).kind).toMatch(/response|malformed/);
      return;
    }
    // every parsed message can be written, and parses to the same
    expect(parseMessage(writeMessage(message))).toMatchObject({ kind: message.kind, body: message.body });
    expect(maskedMessage(message)).not.toBe("");
  };

  fuzz("never make the parser throw", fc.property(fc.uint8Array({ maxLength: 200 }), checkMessage));
  fuzz(
    "of a mutated message never make the parser throw, and a parsed message can be written",
    fc.property(mutatedMessage, checkMessage),
  );

  fuzz(
    "of a mutated message give the same result in framer and parser",
    fc.property(mutatedMessage, (bytes) => {
      const [first] = new StreamFramer().push(bytes);
      if (first?.kind === "request" || first?.kind === "response") expect(first).toEqual(parseMessage(bytes));
    }),
  );
});
