import type { FakeNumber, FakeWhatsAppClient } from "ringport/testing";
import { describe, expect, test } from "vitest";
import { FakeNetwork, OWNER, outcomeOf } from "../../support/whatsapp/fake-network.ts";

const ANA = "+5511987654321";
const JID = "5511987654321@s.whatsapp.net";

async function startCall(number: FakeNumber, options?: { maxConcurrentCalls?: number }) {
  const fake = new FakeNetwork(options);
  fake.network.number(ANA, number);
  const client = await fake.online();
  const startOutcome = outcomeOf(client.voip.startCall({ peerJid: JID }));
  await fake.system.advance(25);
  return { fake, client, startOutcome, callId: startOutcome.value ?? "", voip: client.voip };
}

function stateOf(client: FakeWhatsAppClient, callId: string): string | undefined {
  return client.voip.getCall(callId)?.stateData.state;
}

describe("a call", () => {
  test("passes through initiating, ringing, connecting, active", async () => {
    const fake = new FakeNetwork();
    fake.network.number(ANA, { lid: "777@lid", devices: [{ does: "answer", afterMs: 1000 }] });
    const client = await fake.online();
    const startOutcome = outcomeOf(client.voip.startCall({ peerJid: JID }));
    await fake.system.settle();
    expect(client.voip.getCalls().map(({ stateData }) => stateData.state)).toEqual(["initiating"]);
    expect(startOutcome).toEqual({});
    await fake.system.advance(25);
    const callId = startOutcome.value!;
    expect(callId).toMatch(/^[0-9A-F]{32}$/);
    expect(client.voip.getCall(callId)).toMatchObject({ peerJid: "777@lid", direction: "outgoing" });
    expect(stateOf(client, callId)).toBe("ringing"); // the offer is sent, and no phone rings yet
    expect(fake.sentCallTags).toEqual([]);
    await fake.system.advance(25);
    expect(fake.stanzas).toMatchObject([{ tag: "ack", attrs: { class: "call", type: "offer", from: "777@lid" } }]);
    await fake.system.advance(200);
    expect(fake.sentCallTags).toEqual(["preaccept"]);
    expect(stateOf(client, callId)).toBe("ringing");
    await fake.system.advance(800);
    expect(fake.sentCallTags).toEqual(["preaccept", "accept"]);
    expect(stateOf(client, callId)).toBe("connecting");
    expect(client.voip.getCall(callId)?.stateData.acceptedAt).toEqual(new Date(fake.system.now()));
    await fake.system.advance(100);
    expect(stateOf(client, callId)).toBe("active");
    expect(client.voip.getCall(callId)?.stateData.connectedAt).toEqual(new Date(fake.system.now()));
    expect(fake.argumentsOf("voip_call_state")).toHaveLength(3);
    expect(fake.argumentsOf("call")).toEqual([]); // never with the plugin
  });

  test("that the callee hangs up ends with user_ended", async () => {
    const { fake, client, callId } = await startCall({ hangsUpAfterMs: 5_000 });
    await fake.system.advance(6_050);
    expect(fake.argumentsOf("voip_call_ended")).toMatchObject([
      { callId, stateData: { state: "ended", endReason: "user_ended", durationSecs: 4 } },
    ]);
    expect(client.voip.getCall(callId)).toBeNull();
    expect(fake.network.call().ended).toBe("callee");
  });

  test("is reported once, however it ends", async () => {
    const { fake, client, callId } = await startCall({ hangsUpAfterMs: 60_000 });
    const ends: (string | undefined)[] = [];
    fake.network.onCallEnd = ({ ended }) => ends.push(ended);
    await fake.system.advance(2_000);
    await client.voip.endCall(callId);
    await fake.system.advance(100_000);
    expect(ends).toEqual(["caller"]);
  });

  test("that we end is reported first, and unknown when endCall resolves", async () => {
    const { fake, client, callId } = await startCall({});
    await fake.system.advance(2_000);
    fake.events.length = 0;
    const endPromise = client.voip.endCall(callId);
    expect(fake.names).toEqual(["voip_call_ended", "voip_call_state"]);
    expect(stateOf(client, callId)).toBe("ended");
    await endPromise;
    expect(client.voip.getCall(callId)).toBeNull();
    await fake.system.advance(25);
    expect(fake.network.call().ended).toBe("caller");
    await client.voip.endCall(callId);
    await client.voip.endCall("unknown");
    expect(fake.argumentsOf("voip_call_ended")).toHaveLength(1);
  });

  test("that we end while the socket is down ends here, and the callee gets no notice", async () => {
    const { fake, client, callId } = await startCall({});
    await fake.system.advance(2_000);
    client.dropSocket(Infinity);
    await client.voip.endCall(callId);
    expect(client.voip.getCall(callId)).toBeNull();
    expect(fake.network.call().ended).toBeUndefined();
  });

  test("that is declined stays ringing and keeps its slot", async () => {
    const { fake, client, callId } = await startCall(
      { devices: [{ does: "decline", afterMs: 1000 }] },
      { maxConcurrentCalls: 1 },
    );
    await fake.system.advance(600_000);
    expect(fake.sentCallTags).toEqual(["preaccept", "reject"]);
    expect(fake.stanzas.at(-1)).toMatchObject({ content: [{ attrs: { "call-id": callId } }] });
    expect(stateOf(client, callId)).toBe("ringing");
    expect(fake.argumentsOf("voip_call_ended")).toEqual([]);
    await expect(client.voip.startCall({ peerJid: JID })).rejects.toThrow("max concurrent calls reached (1)");
  });

  test("is answered by one device while another is busy", async () => {
    const { fake, client, callId } = await startCall({
      devices: [
        { does: "busy", afterMs: 500 },
        { does: "answer", afterMs: 2_000 },
      ],
    });
    await fake.system.advance(1_000);
    expect(fake.stanzas.at(-1)).toMatchObject({ content: [{ tag: "reject", attrs: { reason: "busy" } }] });
    expect(stateOf(client, callId)).toBe("ringing");
    await fake.system.advance(1_200);
    expect(stateOf(client, callId)).toBe("active");
    expect(fake.stanzas.at(-1)?.attrs.from).toMatch(/^\d+:1@lid$/);
    expect(fake.network.call().answeredBy).toBe(1);
  });

  test("that the network ends has user_ended; only the stanza has the reason", async () => {
    const { fake, callId } = await startCall({ devices: [{ does: "nothing" }], timesOutAfterMs: 45_000 });
    await fake.system.advance(46_000);
    expect(fake.stanzas.at(-1)).toMatchObject({
      content: [{ tag: "terminate", attrs: { "call-id": callId, reason: "timeout" } }],
    });
    expect(fake.argumentsOf("voip_call_ended")).toMatchObject([{ stateData: { endReason: "user_ended" } }]);
    expect(fake.network.call().ended).toBe("network");
  });

  test("without an answer rings forever", async () => {
    const { fake, client, callId } = await startCall({ devices: [{ does: "nothing" }] });
    await fake.system.advance(3_600_000);
    expect(stateOf(client, callId)).toBe("ringing");
    expect(fake.sentCallTags).toEqual(["preaccept"]);
  });

  test("that the network refuses stays ringing; only the ack has the error, without call id", async () => {
    const { fake, client, callId } = await startCall({ offer: { error: 434 } });
    await fake.system.advance(3_600_000);
    expect(fake.stanzas).toMatchObject([{ tag: "ack", attrs: { class: "call", type: "offer", error: "434" } }]);
    expect(JSON.stringify(fake.stanzas)).not.toContain(callId);
    expect(stateOf(client, callId)).toBe("ringing");
  });

  test("whose offer is ignored gets no ack at all", async () => {
    const { fake, client, callId } = await startCall({ offer: "ignored" });
    await fake.system.advance(3_600_000);
    expect(fake.stanzas).toEqual([]);
    expect(stateOf(client, callId)).toBe("ringing");
  });

  test("to a callee without devices is rejected", async () => {
    const { startOutcome, client } = await startCall({ devices: [], lid: "9@lid" });
    expect(startOutcome.error?.message).toBe("no device sessions to encrypt the call offer for 9@lid");
    expect(client.voip.getCalls()).toEqual([]);
  });

  test("to a number not on WhatsApp is rejected", async () => {
    const { startOutcome } = await startCall({ exists: false });
    expect(startOutcome.error?.message).toBe(`no device sessions to encrypt the call offer for ${JID}`);
  });

  test("whose relay never connects is accepted and never active", async () => {
    const { fake, client, callId } = await startCall({ media: "never" });
    await fake.system.advance(600_000);
    expect(stateOf(client, callId)).toBe("connecting");
    expect(fake.argumentsOf("voip_call_inbound_audio")).toEqual([]);
    expect(fake.network.call().frames).toEqual([]);
  });

  test("survives a logout as ringing", async () => {
    const { fake, client, callId } = await startCall({ devices: [{ does: "nothing" }] });
    fake.network.unlink(OWNER);
    await fake.system.advance(60_000);
    expect(client.getState().registered).toBe(false);
    expect(stateOf(client, callId)).toBe("ringing");
    expect(fake.argumentsOf("voip_call_ended")).toEqual([]);
  });

  test("does not notice an answer while the socket is down", async () => {
    const { fake, client, callId } = await startCall({});
    client.dropSocket(5_000);
    await fake.system.advance(10_000);
    expect(client.getState().connected).toBe(true);
    expect(stateOf(client, callId)).toBe("ringing");
    expect(fake.network.call().answeredBy).toBe(0);
  });

  test("does not notice an answer that a filter hides from the client", async () => {
    const { fake, client, callId } = await startCall({});
    client.lowlevel.registerIncomingStanzaFilter(({ tag }) => tag === "call");
    await fake.system.advance(10_000);
    expect(stateOf(client, callId)).toBe("ringing");
  });

  test("that hangs in startCall holds a slot", async () => {
    const fake = new FakeNetwork({ maxConcurrentCalls: 1 });
    const client = await fake.online();
    client.disturb("startCall", "hang");
    void client.voip.startCall({ peerJid: JID });
    await fake.system.advance(60_000);
    expect(client.voip.getCalls()).toMatchObject([{ stateData: { state: "initiating" } }]);
    await expect(client.voip.startCall({ peerJid: JID })).rejects.toThrow("max concurrent calls reached (1)");
  });

  test("dials its relays while the phone rings", async () => {
    const fake = new FakeNetwork();
    const { network } = fake;
    network.relays = [{ ip: "203.0.113.7" }];
    const { RTCPeerConnection } = network.wrtc;
    let dialledCount = 0;
    network.wrtc.RTCPeerConnection = class extends RTCPeerConnection {
      override createDataChannel(label: string) {
        dialledCount++;
        return super.createDataChannel(label);
      }
    };
    const client = await fake.online();
    void client.voip.startCall({ peerJid: JID });
    await fake.system.advance(900);
    expect(network.call().answeredBy).toBeUndefined();
    expect(dialledCount).toBe(1);
    await fake.system.advance(1_000);
    expect(client.voip.getCalls()).toMatchObject([{ stateData: { state: "active" } }]);
    expect(dialledCount).toBe(1);
  });

  test("that starts after a disconnect is rejected", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const startOutcome = outcomeOf(client.voip.startCall({ peerJid: JID }));
    await client.disconnect();
    void client.connect();
    await fake.system.advance(100);
    expect(startOutcome.error?.message).toBe("client is not connected");
    expect(fake.network.calls).toEqual([]);
  });

  test("can be controlled by a test", async () => {
    const { fake, client, callId } = await startCall({ devices: [{ does: "nothing" }], ringsAfterMs: null });
    const call = fake.network.call(callId);
    await fake.system.advance(1_000);
    expect(fake.sentCallTags).toEqual([]);
    call.ring();
    call.ring();
    call.answer();
    call.answer(1);
    await fake.system.advance(100);
    expect(fake.sentCallTags).toEqual(["preaccept", "accept"]);
    expect(stateOf(client, callId)).toBe("active");
    call.hangUp();
    call.hangUp();
    await fake.system.settle();
    expect(fake.sentCallTags).toEqual(["preaccept", "accept", "terminate"]);
    expect(() => fake.network.call("other")).toThrow("no call was offered with the id other");
  });
});

describe("an incoming call", () => {
  test("takes the only slot of a client", async () => {
    const fake = new FakeNetwork({ maxConcurrentCalls: 1 });
    const client = await fake.online();
    const incoming = fake.network.ring(client);
    await fake.system.advance(25);
    expect(fake.names).toEqual(["voip_call_incoming", "voip_call_state"]);
    expect(client.voip.getCalls()).toMatchObject([
      { callId: incoming.callId, direction: "incoming", stateData: { state: "incoming_ringing" } },
    ]);
    expect(incoming.preaccepted).toBe(true);
    await expect(client.voip.startCall({ peerJid: JID })).rejects.toThrow("max concurrent calls reached (1)");
    incoming.cancel();
    await fake.system.advance(25);
    expect(fake.argumentsOf("voip_call_ended")).toMatchObject([{ callId: incoming.callId }]);
    expect(incoming.touched).toBe(false);
    const startOutcome = outcomeOf(client.voip.startCall({ peerJid: JID }));
    await fake.system.advance(25);
    expect(startOutcome.value).toBeDefined();
  });

  test("leaves room for an outgoing call if there are more slots", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    fake.network.ring(client);
    await fake.system.advance(25);
    const startOutcome = outcomeOf(client.voip.startCall({ peerJid: JID }));
    await fake.system.advance(25);
    expect(startOutcome.value).toBeDefined();
    expect(client.voip.getCalls()).toHaveLength(2);
  });

  test("waits while all slots are taken, and takes the next free one", async () => {
    const { fake, client, callId } = await startCall({ devices: [{ does: "nothing" }] }, { maxConcurrentCalls: 1 });
    const incoming = fake.network.ring(client);
    await fake.system.advance(25);
    expect(incoming.preaccepted).toBe(false);
    expect(fake.argumentsOf("voip_call_incoming")).toHaveLength(1);
    void client.voip.endCall(callId);
    await fake.system.advance(25);
    expect(incoming.preaccepted).toBe(true);
    await expect(client.voip.startCall({ peerJid: JID })).rejects.toThrow("max concurrent calls reached (1)");
  });

  test("shows that the client has ended it", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const incoming = fake.network.ring(client);
    await fake.system.advance(25);
    void client.voip.endCall(incoming.callId);
    await fake.system.advance(25);
    expect(incoming.touched).toBe(true);
  });
});

describe("a number", () => {
  test.each<[string, FakeNumber | undefined, string, object]>([
    ["described", { lid: "5@lid" }, ANA, { phoneJid: JID, lidJid: "5@lid", exists: true, invalid: false }],
    ["without a hidden address", { lid: null }, ANA, { phoneJid: JID, lidJid: null, exists: true, invalid: false }],
    ["not on WhatsApp", { exists: false }, ANA, { phoneJid: JID, lidJid: null, exists: false, invalid: false }],
    ["too short to be one", undefined, "+5511", { phoneJid: "5511@s.whatsapp.net", exists: false, invalid: true }],
    ["in another form", { alsoKnownAs: ["551187654321"] }, "+551187654321", { phoneJid: JID, exists: true }],
    ["in a form that the network does not know", {}, "+551187654321", { exists: false }],
  ])("%s", async (_, number, requestedNumber, answer) => {
    const fake = new FakeNetwork();
    if (number) fake.network.number(ANA, number);
    const client = await fake.online();
    const lookup = outcomeOf(client.profile.getLidsByPhoneNumbers([requestedNumber]));
    await fake.system.advance(25);
    expect(lookup.value).toMatchObject([answer]);
  });

  test.each([
    ["+5511987654321", true],
    ["+551187654321", false],
    ["+5541987654321", false],
    ["+554187654321", true],
    ["+551132654321", true],
    ["+5511 3265-4321", true],
    ["+12025550100", true],
  ])("%s, with or without the ninth digit of Brazil, exists: %s", async (phone, exists) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const lookup = outcomeOf(client.profile.getLidsByPhoneNumbers([phone]));
    await fake.system.advance(25);
    expect(lookup.value).toMatchObject([{ exists }]);
  });

  test("that was not described may be missing", async () => {
    const fake = new FakeNetwork();
    fake.network.otherNumbers = null;
    const client = await fake.online();
    const lookup = outcomeOf(client.profile.getLidsByPhoneNumbers([ANA, "+12025550100"]));
    await fake.system.advance(25);
    expect(lookup.value?.map(({ exists }) => exists)).toEqual([false, false]);
  });

  test("has its own address, always the same", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const lookup = outcomeOf(client.profile.getLidsByPhoneNumbers(["+12025550100", "+12025550101", "+12025550100"]));
    await fake.system.advance(25);
    const lids = lookup.value!.map(({ lidJid }) => lidJid);
    expect(lids[0]).toMatch(/^\d{14}@lid$/);
    expect(lids[2]).toBe(lids[0]);
    expect(lids[1]).not.toBe(lids[0]);
  });

  test("without digits is refused", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await expect(client.profile.getLidsByPhoneNumbers(["none"])).rejects.toThrow("phone number is empty");
    await expect(client.profile.getLidsByPhoneNumbers([])).resolves.toEqual([]);
  });
});
