import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import { MAX_BODY_BYTES, MAX_HEADER_BYTES } from "../../../adapters/sip-stack/message/sip-message.ts";
import { type FramedItem, StreamFramer } from "../../../adapters/sip-stack/message/stream-framer.ts";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import { fuzz } from "../../support/fuzz.ts";
import { anyMessage } from "./arbitraries.ts";
import { optionsWith, wire } from "./messages.ts";

/** Output of a framer for these pieces. */
function frameAll(...pieces: readonly Uint8Array[]): FramedItem[] {
  const framer = new StreamFramer();
  return pieces.flatMap((piece) => framer.push(piece));
}

/** The bytes in pieces, cut after these thousandths of their length. */
function splitAt(bytes: Uint8Array, shares: readonly number[]): Uint8Array[] {
  const offsets = [
    0,
    ...shares.map((share) => Math.floor((share * bytes.length) / 1_000)).sort((a, b) => a - b),
    bytes.length,
  ];
  return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const text = (...lines: string[]): Uint8Array => wire(lines.join("\n"));
const kinds = (frames: readonly FramedItem[]): string[] => frames.map(({ kind }) => kind);

describe("a stream of bytes", () => {
  fuzz(
    "yields the same messages wherever it is cut",
    fc.property(
      fc.array(fc.tuple(anyMessage, fc.constantFrom("", "\r\n", "\r\n\r\n")), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 6 }),
      (messages, cuts) => {
        const parts = messages.flatMap(([message, blank]) => [new TextEncoder().encode(blank), writeMessage(message)]);
        const messagesRead = frameAll(...splitAt(concat(parts), cuts)).filter(
          ({ kind }) => kind !== "ping" && kind !== "pong",
        );
        expect(messagesRead).toEqual(messages.map(([message]) => parseMessage(writeMessage(message))));
      },
    ),
  );

  test("yields the same messages byte by byte, from a reused buffer", () => {
    const message = writeMessage(fc.sample(anyMessage, { seed: 1, numRuns: 1 })[0] as never);
    const framer = new StreamFramer();
    const buffer = Buffer.alloc(1);
    const messagesRead = [...message, ...message].flatMap((byte) => {
      buffer[0] = byte;
      return framer.push(buffer);
    });
    expect(messagesRead).toEqual([parseMessage(message), parseMessage(message)]);
    expect(framer.isIncomplete).toBe(false);
  });

  test("reports whether a message is incomplete", () => {
    const framer = new StreamFramer();
    framer.push(text("OPTIONS"));
    expect(framer.isIncomplete).toBe(true);
    framer.push(text(` sip:a@b SIP/2.0\n${optionsWith("Content-Length: 2").replace(/^.*\n/, "")}`));
    expect(framer.isIncomplete).toBe(true);
    expect(kinds(framer.push(text("ab")))).toEqual(["request"]);
    expect(framer.isIncomplete).toBe(false);
  });

  test("continues after a malformed message of known length", () => {
    expect(kinds(frameAll(text(optionsWith("To: bad"), optionsWith())))).toEqual(["malformed", "request"]);
  });
});

describe("a keep-alive", () => {
  test("of two line breaks is a ping, and a single line break is a pong", () => {
    expect(kinds(frameAll(text("\n\n")))).toEqual(["ping"]);
    expect(kinds(frameAll(text("\n")))).toEqual(["pong"]);
    expect(kinds(frameAll(text("\n"), text("\n"), text("\n\n")))).toEqual(["pong", "pong", "ping"]);
  });

  test("is a ping even if it is cut within a line break", () => {
    const ping = text("\n\n");
    expect(kinds(frameAll(ping.subarray(0, 1), ping.subarray(1)))).toEqual(["ping"]);
    expect(kinds(frameAll(ping.subarray(0, 3), ping.subarray(3)))).toEqual(["ping"]);
  });

  test("is reported once per piece", () => {
    expect(kinds(frameAll(text("\n".repeat(1_000))))).toEqual(["ping"]);
  });

  test("may precede a message; a single line break is not one", () => {
    expect(kinds(frameAll(text(`\n\n${optionsWith()}`)))).toEqual(["ping", "request"]);
    expect(kinds(frameAll(text(`\n${optionsWith()}`)))).toEqual(["request"]);
  });
});

describe("a stream that can no longer be read", () => {
  test.each([
    ["without a length", optionsWith().replace("Content-Length: 0\n", ""), 400],
    ["with a negative length", optionsWith("Content-Length: -5"), 400],
    ["with two lengths", optionsWith("Content-Length: 5\nContent-Length: 6"), 400],
    ["with a length beyond the limit", optionsWith(`Content-Length: ${MAX_BODY_BYTES + 1}`), 413],
    ["with a header beyond the limit", optionsWith(`X: ${"x".repeat(MAX_HEADER_BYTES)}`), 513],
    ["of another protocol", "GET / HTTP/1.1\nHost: a\n\n", undefined],
    ["of binary bytes", "\x16\x03\x01", undefined],
  ])("ends at a message %s, with a response if possible", (_, message, status) => {
    const framer = new StreamFramer();
    const frames = [...framer.push(text(optionsWith(), message)), ...framer.push(text(optionsWith()))];
    expect(kinds(frames)).toEqual(["request", "fault"]);
    expect(frames[1]).toMatchObject({ detail: expect.stringMatching(/^[A-Z].+/) });
    expect(frames[1]?.kind === "fault" && frames[1].response?.status).toBe(status);
    expect(framer.isIncomplete).toBe(false);
  });

  test("ends at a header beyond the limit", () => {
    const framer = new StreamFramer();
    const kibibyte = text("x".repeat(1_024));
    framer.push(text("OPTIONS sip:a@b SIP/2.0\nX: "));
    let pushedCount = 0;
    while (framer.isIncomplete && pushedCount < 1_000) {
      framer.push(kibibyte);
      pushedCount++;
    }
    expect(pushedCount).toBe(64);
  });
});

describe("hostile bytes", () => {
  fuzz(
    "never make a framer throw",
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (pieces) => {
      for (const { kind } of frameAll(...pieces)) expect(kind).toMatch(/./);
    }),
  );
});
