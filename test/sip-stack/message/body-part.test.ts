import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyPart } from "../../../adapters/sip-stack/message/body-part.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { fuzz } from "../../support/fuzz.ts";
import { wire } from "./messages.ts";

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const body = (type: string, content: string | Uint8Array): { headers: SipHeaders; body: Uint8Array } => ({
  headers: new SipHeaders().add("Content-Type", type),
  body: typeof content === "string" ? wire(content) : content,
});
const MIXED = 'multipart/mixed; boundary="-x y"';

describe("the part of a body", () => {
  test("is the entire body of that type", () => {
    expect(text(bodyPart(body("Application/SDP; x=y", "v=0\n"), "application/sdp"))).toBe("v=0\r\n");
    expect(bodyPart(body("text/plain", "v=0"), "application/sdp")).toBeUndefined();
    expect(bodyPart(body("application/sdp", ""), "application/sdp")).toBeUndefined();
    expect(bodyPart({ headers: new SipHeaders(), body: wire("v=0") }, "application/sdp")).toBeUndefined();
  });

  test("is found among others, after a preamble", () => {
    const mixedBody =
      "preamble\n---x y\nContent-Type: application/isup\n\n\x01\x02\n---x y  \nc: application/sdp\n\nv=0\ns=-\n\n---x y--\n";
    expect(text(bodyPart(body(MIXED, mixedBody), "application/sdp"))).toBe("v=0\r\ns=-\r\n");
    expect(text(bodyPart(body(MIXED, mixedBody), "application/isup"))).toBe("\x01\x02");
  });

  test("is found within another multipart, but not at any depth", () => {
    let nested = "Content-Type: application/sdp\n\nv=0";
    for (let depth = 1; depth <= 4; depth++) {
      const innerBody = `--${depth}\n${nested}\n--${depth}--`;
      const part = bodyPart(body(`multipart/mixed;boundary=${depth}`, innerBody), "application/sdp");
      expect(text(part)).toBe(depth <= 3 ? "v=0" : undefined);
      nested = `Content-Type: multipart/alternative;boundary=${depth}\n\n${innerBody}`;
    }
  });

  test("may lack its header or its end", () => {
    expect(text(bodyPart(body(MIXED, "---x y\nc: a/b\n\nend"), "a/b"))).toBe("end");
    expect(bodyPart(body(MIXED, "---x y\n\nplain\n---x y--"), "a/b")).toBeUndefined();
    expect(bodyPart(body(MIXED, "---x y"), "a/b")).toBeUndefined();
    expect(bodyPart(body(MIXED, "no delimiter"), "a/b")).toBeUndefined();
    expect(bodyPart(body("multipart/mixed", "--\nc: a/b\n\nx"), "a/b")).toBeUndefined();
  });

  fuzz(
    "never makes the parser throw",
    fc.property(
      fc.array(
        fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constantFrom("---x y", "\n", "c: a/b\n\n", "--").map(wire)),
        { maxLength: 8 },
      ),
      (pieces) => {
        const part = bodyPart(body(MIXED, Uint8Array.from(pieces.flatMap((piece) => [...piece]))), "a/b");
        expect(part === undefined || part instanceof Uint8Array).toBe(true);
      },
    ),
  );
});
