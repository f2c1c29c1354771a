import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CLIENT_EVENTS,
  readClientEvent,
} from "../../../../../../adapters/telephony/whatsapp/session/client/client-events.ts";
import { closingOf } from "../../../../../../adapters/telephony/whatsapp/session/flow/closings.ts";

describe("a client event", () => {
  test("auth_qr is a code with its duration, or 20 s without a usable one", () => {
    expect(readClientEvent("auth_qr", { qr: "2@abc", ttlMs: 60_000 })).toEqual({
      type: "qr",
      qr: "2@abc",
      ttlMs: 60_000,
    });
    for (const ttlMs of [undefined, -1, 0, Number.NaN, "60"])
      expect(readClientEvent("auth_qr", { qr: "2@abc", ttlMs })).toMatchObject({ ttlMs: 20_000 });
    expect(readClientEvent("auth_qr", { qr: "2@abc", ttlMs: Infinity })).toMatchObject({ ttlMs: 600_000 });
    for (const qr of ["", 1, undefined]) expect(readClientEvent("auth_qr", { qr })).toBeUndefined();
  });

  test("auth_paired has the phone's number", () => {
    const credentials = { meJid: "5511987654321:12@s.whatsapp.net" };
    expect(readClientEvent("auth_paired", { credentials })).toEqual({ type: "paired", phone: "+5511987654321" });
    expect(readClientEvent("auth_paired", {})).toEqual({ type: "paired", phone: null });
  });

  test("connection opens or closes; other states are ignored", () => {
    expect(readClientEvent("connection", { status: "open" })).toEqual({ type: "opened" });
    expect(
      readClientEvent("connection", { status: "close", reason: "failure_banned", code: 406, isLogout: true }),
    ).toEqual({
      type: "closed",
      reason: "failure_banned",
      code: 406,
      isLogout: true,
    });
    expect(readClientEvent("connection", { status: "connecting" })).toBeUndefined();
  });

  test("stream_failure has a code, and the end of a restriction if the stanza names one", () => {
    const rawNode = { attrs: { expire: "3600" } };
    const failure = { type: "failure", code: 402, expiresInMs: 3_600_000 };
    expect(readClientEvent("stream_failure", { failureReason: 402, failureCode: 103, rawNode })).toEqual(failure);
    for (const expire of ["", "-5", "1e3", "soon", "0", 60, "99999999999"])
      expect(readClientEvent("stream_failure", { failureReason: 402, rawNode: { attrs: { expire } } })).toMatchObject({
        expiresInMs: undefined,
      });
  });

  test("a stream error with a silent new login is reported as such; others are failures", () => {
    const node = (code?: string, type?: string) => ({
      node: {
        tag: "stream:error",
        attrs: code === undefined ? {} : { code },
        content: type === undefined ? undefined : [{ tag: "conflict", attrs: { type } }],
      },
    });
    const read = (event: unknown) => readClientEvent("debug_transport_node_in", event);
    expect(read(node("503"))).toEqual({ type: "stream_error", code: 503 });
    expect(read(node())).toEqual({ type: "stream_error", code: undefined });
    expect(read(node(undefined, "something new"))).toEqual({ type: "stream_error", code: undefined });
    for (const handledEvent of [
      node("515"),
      node("516"),
      node(undefined, "replaced"),
      node(undefined, "device_removed"),
    ])
      expect(read(handledEvent)).toBeUndefined();
    for (const otherEvent of [{ node: { tag: "success", attrs: {} } }, { node: null }, {}])
      expect(read(otherEvent)).toBeUndefined();
  });

  test("never throws, and yields a usable input for any argument", () => {
    const anyValue = fc.anything({ withNullPrototype: true, withBigInt: true });
    const eventLikeInput = fc.record(
      {
        qr: fc.oneof(fc.string(), anyValue),
        ttlMs: fc.oneof(fc.double(), anyValue),
        credentials: fc.oneof(fc.record({ meJid: anyValue }), anyValue),
        status: fc.oneof(fc.constantFrom("open", "close"), anyValue),
        reason: fc.oneof(fc.string(), anyValue),
        code: anyValue,
        isLogout: anyValue,
        failureReason: fc.oneof(fc.integer(), anyValue),
        node: fc.oneof(
          fc.record({
            tag: fc.constant("stream:error"),
            attrs: anyValue,
            content: fc.oneof(fc.array(anyValue), anyValue),
          }),
          anyValue,
        ),
        rawNode: fc.oneof(fc.record({ attrs: fc.record({ expire: fc.oneof(fc.string(), anyValue) }) }), anyValue),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom(...CLIENT_EVENTS), fc.oneof(eventLikeInput, anyValue), (name, event) => {
        const input = readClientEvent(name, event);
        if (input?.type === "qr") {
          expect(input.qr.length).toBeGreaterThan(0);
          expect(input.ttlMs > 0 && input.ttlMs <= 600_000).toBe(true);
        }
        if (input?.type === "paired") expect(input.phone === null || /^\+[1-9]\d{6,14}$/.test(input.phone)).toBe(true);
        if (input?.type === "failure") expect(input.expiresInMs === undefined || input.expiresInMs > 0).toBe(true);
        if (input?.type === "closed") {
          const { kind, reason } = closingOf(input);
          expect(kind === "unlinked").toBe(input.isLogout);
          expect(reason.length).toBeLessThan(200);
        }
      }),
    );
  });
});
