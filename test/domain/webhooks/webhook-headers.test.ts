import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { parseBody } from "../../../src/domain/input/input-parser.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { MAX_WEBHOOK_HEADER_BYTES, MAX_WEBHOOK_HEADERS } from "../../../src/domain/webhooks/webhook-headers.ts";
import { WEBHOOK_SCHEMAS } from "../../../src/domain/webhooks/webhook-input.ts";

const URL = "https://example.com/hooks";
const numberedHeaders = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "v"]));

/** The checked headers, or the faults of the body. */
function parseHeaders(headers: unknown): unknown {
  try {
    return parseBody(WEBHOOK_SCHEMAS.createWebhook, { url: URL, headers }, { strict: true }).headers;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.errors.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

describe("the headers of a webhook", () => {
  test("are kept by their names in lower case", () => {
    expect(parseHeaders({ Authorization: "Bearer a b", "X-Key_1": "~!" })).toEqual({
      authorization: "Bearer a b",
      "x-key_1": "~!",
    });
    expect(parseHeaders(null)).toBeNull();
    expect(parseHeaders(undefined)).toBeUndefined();
    expect(parseHeaders({})).toEqual({});
    expect(Object.keys(parseHeaders(numberedHeaders(MAX_WEBHOOK_HEADERS)) as object)).toHaveLength(MAX_WEBHOOK_HEADERS);
  });

  test.each([
    ...["Host", "content-length", "Content-Type", "transfer-encoding", "CONNECTION", "te", "upgrade", "expect"],
    ...["Webhook-Id", "webhook-signature", "Webhook-Anything", "User-Agent", "Proxy-Authorization", "trailer"],
  ])("may not replace %s", (name) => expect(parseHeaders({ [name]: "x" })).toEqual([`/headers/${name} value_invalid`]));

  test.each(["", "a b", "a:b", "naïve", "a\r\nb", "(x)", "a/b"])("may not have the name %j", (name) =>
    expect(parseHeaders({ [name]: "x" })).toEqual([`/headers/${name.replace("/", "~1")} value_invalid`]),
  );

  test.each(["", " x", "x ", "a\r\nX-Other: b", "a\nb", "a\0b", "é", 7, null, {}, ["x"]])(
    "may not have the value %j",
    (value) => expect(parseHeaders({ "X-Key": value })).toEqual(["/headers/X-Key value_invalid"]),
  );

  test("are refused if they are too many, too long, repeated, or not an object", () => {
    expect(parseHeaders(numberedHeaders(MAX_WEBHOOK_HEADERS + 1))).toEqual(["/headers too_long"]);
    expect(parseHeaders({ "x-key": "a".repeat(MAX_WEBHOOK_HEADER_BYTES - 4) })).toEqual(["/headers too_long"]);
    expect(parseHeaders({ "x-key": "a", "X-Key": "b" })).toEqual(["/headers/X-Key value_invalid"]);
    for (const value of ["x", 7, [], ["x"], true]) expect(parseHeaders(value)).toEqual(["/headers type_invalid"]);
    expect(parseHeaders({ Host: "a", "x y": "b" })).toEqual([
      "/headers/Host value_invalid",
      "/headers/x y value_invalid",
    ]);
  });

  test("that are accepted can be sent, and a refused value is never quoted", () => {
    const anything = fc.dictionary(fc.string({ maxLength: 12 }), fc.oneof(fc.string(), fc.jsonValue()), {
      maxKeys: 12,
    });
    fc.assert(
      fc.property(anything, (headers) => {
        const result = v.safeParse(WEBHOOK_SCHEMAS.createWebhook, { url: URL, headers });
        if (result.success) expect(new Headers(result.output.headers ?? {})).toBeInstanceOf(Headers);
      }),
    );
    const secret = "7f3a9c\r\n4e5d6b";
    const result = v.safeParse(WEBHOOK_SCHEMAS.createWebhook, {
      url: URL,
      headers: { "X-Key": secret, Host: "8a2b1c" },
    });
    const messages = (result.issues ?? []).map(({ message }) => message).join();
    expect(messages).toMatch(/its value must be .*the header host is set/);
    for (const part of ["7f3a9c", "4e5d6b", "8a2b1c"]) expect(messages).not.toContain(part);
  });
});
