import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJid } from "../../../../../adapters/telephony/whatsapp/calls/jid.ts";
import { isAboutCalls, readCallStanza } from "../../../../../adapters/telephony/whatsapp/calls/stanza.ts";
import { fuzz } from "../../../../support/fuzz.ts";

const CALL = { callId: "A1B2", addresses: ["123456789@lid", "5511987654321@s.whatsapp.net"] };

/** A `<call>` stanza with one child. */
function signal(tag: string, attrs: Record<string, unknown> = {}, from = "123456789:3@lid") {
  return { tag: "call", attrs: { id: "1", from }, content: [{ tag, attrs: { "call-id": "A1B2", ...attrs } }] };
}

function ack(attrs: Record<string, unknown> = {}, content?: unknown) {
  return { tag: "ack", attrs: { class: "call", type: "offer", from: "123456789@lid", ...attrs }, content };
}

const relay = (callId: string, jids: readonly string[] = []) => ({
  tag: "relay",
  attrs: { "call-id": callId },
  content: jids.map((jid) => ({ tag: "participant", attrs: { jid } })),
});

describe("a stanza about our call", () => {
  test("reports ringing devices and the accepting one", () => {
    expect(readCallStanza(signal("preaccept"), CALL)).toEqual({ type: "preaccept", device: 3 });
    expect(readCallStanza(signal("accept"), CALL)).toEqual({ type: "accept", address: "123456789:3@lid" });
  });

  test("reports the rejecting device and its reason", () => {
    expect(readCallStanza(signal("reject"), CALL)).toEqual({ type: "reject", device: 3, reason: undefined });
    const phone = readCallStanza(signal("reject", { reason: "busy" }, "123456789@lid"), CALL);
    expect(phone).toEqual({ type: "reject", device: 0, reason: "busy" });
    const unknownDevice = readCallStanza(signal("reject", {}, "no-jid"), CALL);
    expect(unknownDevice).toEqual({ type: "reject", device: undefined, reason: undefined });
  });

  test("reports the reason of a terminate", () => {
    expect(readCallStanza(signal("terminate"), CALL)).toEqual({ type: "terminate", reason: undefined });
    const timeout = readCallStanza(signal("terminate", { reason: "timeout" }), CALL);
    expect(timeout).toEqual({ type: "terminate", reason: "timeout" });
  });

  test("reports that the offer was accepted, and the ringing devices, without our own", () => {
    const jids = ["123456789:0@lid", "123456789:3@lid", "555:4@lid", "123456789:3@lid", "123456789@s.whatsapp.net"];
    expect(readCallStanza(ack({}, [relay("A1B2", jids)]), CALL)).toEqual({ type: "offer_accepted", devices: [0, 3] });
    const phone = ["5511987654321@s.whatsapp.net", "5511987654321:3@s.whatsapp.net", "5511912345678:4@s.whatsapp.net"];
    expect(readCallStanza(ack({}, [relay("A1B2", phone)]), CALL)).toEqual({ type: "offer_accepted", devices: [0, 3] });
    const user = { tag: "user", attrs: {}, content: [{ tag: "device", attrs: { jid: "123456789:9@lid" } }] };
    expect(readCallStanza(ack({}, [relay("A1B2"), user]), CALL)).toEqual({ type: "offer_accepted", devices: [9] });
    expect(readCallStanza(ack({ "call-id": "A1B2" }), CALL)).toEqual({ type: "offer_accepted", devices: [] });
  });

  test("reports the code of the offer's refusal", () => {
    expect(readCallStanza(ack({ error: "403" }), CALL)).toEqual({ type: "offer_refused", code: "403" });
    expect(readCallStanza(ack({ error: "\u0007" }), CALL)).toEqual({ type: "offer_refused", code: "unknown" });
  });
});

describe("a stanza about something else", () => {
  test.each([
    ["a signal for another call", signal("terminate", { "call-id": "OTHER" })],
    ["a signal without a call", { tag: "call", attrs: {}, content: [{ tag: "terminate", attrs: {} }] }],
    ["an offer", signal("offer")],
    ["relay latencies", signal("relaylatency")],
    ["an ack for another call", ack({}, [relay("OTHER")])],
    ["a refusal that another callee's address sends", ack({ error: "403", from: "42@lid" })],
    ["a refusal that another callee's number sends", ack({ error: "403", from: "5511912345678@s.whatsapp.net" })],
    ["an ack for something else", ack({ type: "terminate" })],
    ["an ack for a message", { tag: "ack", attrs: { class: "message", type: "offer" } }],
    ["a message", { tag: "message", attrs: { "call-id": "A1B2" } }],
  ])("is ignored: %s", (_, stanza) => {
    expect(readCallStanza(stanza, CALL)).toBeUndefined();
  });
});

describe("hostile stanzas", () => {
  const throwingObject = new Proxy(
    {},
    {
      get() {
        throw new Error("hostile");
      },
    },
  );

  test("are read without throwing, even if their members throw", () => {
    const getter = {
      get tag() {
        throw new Error("hostile");
      },
    };
    const child = { tag: "call", attrs: throwingObject, content: [{ tag: "reject", attrs: throwingObject }] };
    for (const stanza of [
      throwingObject,
      getter,
      child,
      { tag: "ack", attrs: throwingObject },
      { tag: "call", content: [throwingObject] },
    ]) {
      expect(readCallStanza(stanza, CALL)).toBeUndefined();
      expect(typeof isAboutCalls(stanza)).toBe("boolean");
    }
  });

  test("cost no more than their first children, whatever their size and depth", () => {
    const manyChildren = Array.from({ length: 1_000_000 }, () => ({ tag: "x", attrs: {} }));
    expect(readCallStanza({ tag: "call", attrs: {}, content: manyChildren }, CALL)).toBeUndefined();
    const jids = Array.from({ length: 10_000 }, (_, i) => `123456789:${i}@lid`);
    const acceptedOffer = readCallStanza(ack({}, [relay("A1B2", jids)]), CALL);
    expect(acceptedOffer?.type === "offer_accepted" && acceptedOffer.devices.length).toBe(64);
    let nestedStanza: unknown = { tag: "terminate", attrs: { "call-id": "A1B2" } };
    for (let i = 0; i < 100_000; i++) nestedStanza = { tag: "call", attrs: {}, content: [nestedStanza] };
    expect(readCallStanza(nestedStanza, CALL)).toBeUndefined();
  });

  const attrs = fc.dictionary(
    fc.constantFrom("call-id", "from", "reason", "error", "class", "type", "jid", "__proto__", "constructor"),
    fc.oneof(
      fc.constantFrom("A1B2", "offer", "call", "busy", "123456789:3@lid", "403"),
      fc.string(),
      fc.anything({ withNullPrototype: true }),
    ),
  );
  const { node } = fc.letrec((tie) => ({
    node: fc.record(
      {
        tag: fc.oneof(
          fc.constantFrom("call", "ack", "reject", "terminate", "preaccept", "accept", "relay", "user", "participant"),
          fc.anything(),
        ),
        attrs: fc.oneof(attrs, fc.anything()),
        content: fc.oneof({ maxDepth: 4 }, fc.anything(), fc.array(tie("node"), { maxLength: 4 })),
      },
      { requiredKeys: [] },
    ),
  }));

  fuzz(
    "a stanza of any shape is read without throwing, into printable text",
    fc.property(fc.oneof(node, fc.anything()), (stanza) => {
      const report = readCallStanza(stanza, CALL);
      isAboutCalls(stanza);
      if (report === undefined) return;
      expect(JSON.stringify(report)).toMatch(/^[\x20-\x7e]{1,1000}$/);
    }),
  );

  fuzz(
    "an address with any text is read without throwing",
    fc.property(fc.oneof(fc.string(), fc.anything(), fc.stringMatching(/^\d{1,4}(:\d{1,3})?@lid$/)), (value) => {
      const jid = readJid(value);
      if (jid) expect(String(value)).toContain(jid.user);
    }),
  );
});
