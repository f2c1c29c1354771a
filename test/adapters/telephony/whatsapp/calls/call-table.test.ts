import { describe, expect, test } from "vitest";
import { END_MS } from "../../../../../adapters/telephony/whatsapp/calls/leg.ts";
import { OFFER_MS } from "../../../../../adapters/telephony/whatsapp/calls/place-whatsapp-call.ts";
import {
  ACK_MS,
  INBOUND_MS,
  LEAVE_MS,
  MEDIA_MS,
} from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts";
import { tone } from "../../../../../src/audio/tones/tone.ts";
import { ANA, audiblePart, CallScene, endOf, notesOf, typesOf } from "./scene.ts";

const silentDevice = { does: "nothing" } as const;

describe("the state of a call", () => {
  test("is placed when WhatsApp has the offer, and alerting when the callee's preaccept is seen", async () => {
    const scene = await CallScene.start({ devices: [silentDevice], ringsAfterMs: 2_000 });
    const call = await scene.call();
    expect(typesOf(call)).toEqual([]);
    await scene.system.advance(1_500);
    expect(typesOf(call)).toEqual(["placed"]); // the client's state "ringing" only means that the offer was sent
    await scene.system.advance(1_000);
    expect(typesOf(call)).toEqual(["placed", "alerting"]);
  });

  test("is answered when the client is connecting, and connected when it is active and a frame is exchanged", async () => {
    const scene = await CallScene.start({ devices: [{ does: "answer", afterMs: 1_000 }], mediaAfterMs: 3_000 });
    const call = await scene.call();
    await scene.system.advance(2_000);
    expect(typesOf(call)).toEqual(["placed", "alerting", "answered"]);
    await scene.system.advance(2_200);
    expect(typesOf(call)).toEqual(["placed", "alerting", "answered", "connected"]);
  });

  test("names WhatsApp's address of the number", async () => {
    const scene = await CallScene.start({ devices: [silentDevice], alsoKnownAs: ["+551187654321"] });
    const call = await scene.call(undefined, "+551187654321");
    await scene.system.advance(1_000);
    expect(call.events.find(({ type }) => type === "noted")).toEqual({
      type: "noted",
      fact: { event: "address_resolved", data: { resolved_address: "5511987654321@s.whatsapp.net" } },
    });
  });
});

describe("the end of a call", () => {
  test("terminate while active: callee_hung_up", async () => {
    const scene = await CallScene.start({ hangsUpAfterMs: 3_000 });
    const call = await scene.connectedCall();
    await scene.system.advance(5_000);
    expect(endOf(call)).toEqual({ cause: "callee_hung_up", detail: null });
    expect(typesOf(call)).toEqual(["placed", "alerting", "answered", "connected", "ended"]);
    expect([call.endCount, scene.clock.size, scene.port.listeners.size]).toEqual([1, 0, 0]);
  });

  test("terminate that the client ignores: callee_hung_up after a second, and the client's call is ended", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    const stanza = {
      tag: "call",
      attrs: { from: call.callee.peerJid },
      content: [{ tag: "terminate", attrs: { "call-id": call.leg.callId } }],
    };
    scene.port.report((listener) => listener.stanza(stanza));
    await scene.system.advance(LEAVE_MS - 10);
    expect(endOf(call)).toBeUndefined();
    scene.client.disturb("endCall", "hang");
    await scene.system.advance(20);
    expect([endOf(call)?.cause, call.endCount]).toEqual(["callee_hung_up", 1]);
  });

  test("terminate after the answer, before any audio: callee_hung_up", async () => {
    const scene = await CallScene.start({ hangsUpAfterMs: 1_000, media: "never" });
    const call = await scene.call();
    await scene.system.advance(5_000);
    expect(endOf(call)?.cause).toBe("callee_hung_up");
    expect(typesOf(call)).toEqual(["placed", "alerting", "answered", "ended"]);
  });

  test("hang-up after a finished message: released, and the message is heard in full", async () => {
    const scene = await CallScene.start();
    const message = tone(440, 1_830, 16_000, 9_000);
    const call = await scene.connectedCall(message);
    call.playout.end();
    let drainedAt = 0;
    void call.playout.whenDrained.then(() => {
      drainedAt = scene.system.monotonic();
      return call.leg.hangUp(); // at once, without a tail
    });
    await scene.system.advance(5_000);
    expect(drainedAt).toBeGreaterThan(0);
    expect(endOf(call)).toEqual({ cause: "released", detail: null });
    expect(call.callee.ended).toBe("caller");
    expect(call.playout.heardMs).toBe(1_830);
    expect(Math.abs(audiblePart(call.callee.heard).length - message.length)).toBeLessThanOrEqual(4);
  });

  test("hang-up while it rings: released at once", async () => {
    const scene = await CallScene.start({ devices: [silentDevice] });
    const call = await scene.call();
    await scene.system.advance(1_000);
    void call.leg.hangUp();
    await scene.system.advance(100);
    expect(endOf(call)).toEqual({ cause: "released", detail: null });
    expect(call.callee.ended).toBe("caller");
  });

  test("reject without a reason, which the client ignores: declined, and the client's call is ended", async () => {
    const scene = await CallScene.start({ devices: [{ does: "decline", afterMs: 2_000 }, silentDevice] });
    const call = await scene.call();
    await scene.system.advance(3_000);
    expect(endOf(call)?.cause).toBe("declined");
    expect(scene.client.voip.getCalls()).toEqual([]);
    expect(call.callee.ended).toBe("caller");
  });

  test("reject busy from one device: others may answer", async () => {
    const scene = await CallScene.start({
      devices: [
        { does: "busy", afterMs: 500 },
        { does: "answer", afterMs: 5_000 },
      ],
    });
    const call = await scene.call();
    await scene.system.advance(4_000);
    expect(typesOf(call)).toEqual(["placed", "alerting"]);
    await scene.system.advance(3_000);
    expect(typesOf(call)).toContain("connected");
  });

  test("reject busy from every device: busy", async () => {
    const scene = await CallScene.start({
      devices: [
        { does: "busy", afterMs: 500 },
        { does: "busy", afterMs: 900 },
      ],
    });
    const call = await scene.call();
    await scene.system.advance(800);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(500);
    expect(endOf(call)).toEqual({ cause: "busy", detail: "busy" });
    expect(call.callee.ended).toBe("caller");
  });

  test("reject busy from every device before the ack: busy as soon as the devices are known", async () => {
    const scene = await CallScene.start({ offer: "ignored" });
    const call = await scene.call();
    const from = call.callee.peerJid;
    const reject = { tag: "reject", attrs: { "call-id": call.leg.callId, reason: "busy" } };
    scene.port.report((listener) => listener.stanza({ tag: "call", attrs: { from }, content: [reject] }));
    await scene.system.advance(100);
    expect(endOf(call)).toBeUndefined();
    const participant = { tag: "participant", attrs: { jid: from } };
    const relay = { tag: "relay", attrs: { "call-id": call.leg.callId }, content: [participant] };
    const attrs = { class: "call", type: "offer", from };
    scene.port.report((listener) => listener.stanza({ tag: "ack", attrs, content: [relay] }));
    await scene.system.advance(100);
    expect(endOf(call)?.cause).toBe("busy");
  });

  test("terminate with the reason timeout while it rings, which the client calls user_ended: no_answer", async () => {
    const scene = await CallScene.start({ devices: [silentDevice], timesOutAfterMs: 45_000 });
    const call = await scene.call();
    await scene.system.advance(50_000);
    expect(endOf(call)).toEqual({ cause: "no_answer", detail: "timeout" });
  });

  test("no answer: rings until the core hangs up", async () => {
    const scene = await CallScene.start({ devices: [silentDevice] });
    const call = await scene.call();
    await scene.system.advance(600_000);
    expect(typesOf(call)).toEqual(["placed", "alerting"]);
    void call.leg.hangUp();
    await scene.system.advance(100);
    expect(endOf(call)?.cause).toBe("released");
  });

  test("ack with an error, which the client only logs: rejected_by_network with the code", async () => {
    const scene = await CallScene.start({ offer: { error: 403 } });
    const call = await scene.call();
    await scene.system.advance(1_000);
    expect(endOf(call)).toEqual({ cause: "rejected_by_network", detail: "WhatsApp refused the offer: error 403" });
    expect(scene.client.voip.getCalls()).toEqual([]);
  });

  test("no ack: rejected_by_network after 10 s", async () => {
    const scene = await CallScene.start({ offer: "ignored" });
    const call = await scene.call();
    await scene.system.advance(ACK_MS - 100);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(200);
    expect(endOf(call)?.cause).toBe("rejected_by_network");
    expect(endOf(call)?.detail).toMatch(/^signaling timeout: /);
  });

  test("number that is not on WhatsApp: number_invalid, without an offer", async () => {
    const scene = await CallScene.start({ exists: false });
    expect(await scene.refusal()).toMatchObject({ release: "number_invalid", message: `${ANA} is not on WhatsApp` });
    expect(scene.network.calls).toEqual([]);
  });

  test("callee without devices: unreachable", async () => {
    const scene = await CallScene.start({ devices: [] });
    const { release, message, retryAfterMs } = await scene.refusal();
    expect([release, retryAfterMs]).toEqual(["unreachable", undefined]);
    expect(message).toContain("no device sessions");
  });

  test("socket that is down: line_lost, so the call waits", async () => {
    const scene = await CallScene.start();
    await scene.call(); // the number is now cached
    for (const fault of ["noise session not ready", "client is not connected"]) {
      scene.client.disturb("startCall", new Error(fault));
      expect(await scene.refusal()).toMatchObject({ release: "line_lost", retryAfterMs: undefined });
    }
    scene.client.dropSocket(Infinity);
    expect(await scene.refusal()).toMatchObject({ release: "line_lost" });
    scene.port.client = undefined;
    expect(await scene.refusal()).toMatchObject({ release: "line_lost" });
  });

  test("relay that never connects: media_failed after 20 s", async () => {
    const scene = await CallScene.start({ media: "never" });
    const call = await scene.call();
    await scene.system.advance(MEDIA_MS);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(2_000);
    expect(endOf(call)?.cause).toBe("media_failed");
    expect(scene.client.voip.getCalls()).toEqual([]);
  });

  test("callee's audio that stops for 10 s: noted once, and the call continues", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    await scene.system.advance(3_000);
    call.callee.sendsAudio = false;
    await scene.system.advance(INBOUND_MS - 200);
    expect(notesOf(call)).not.toContain("media.inbound_silent");
    await scene.system.advance(60_000);
    expect(notesOf(call).filter((note) => note === "media.inbound_silent").length).toBe(1);
    expect(endOf(call)).toBeUndefined();
    call.callee.sendsAudio = true;
    await scene.system.advance(3_000);
    call.callee.sendsAudio = false;
    await scene.system.advance(2 * INBOUND_MS);
    expect(notesOf(call).filter((note) => note === "media.inbound_silent").length).toBe(2);
  });

  test("missing audio from the callee: noted by the core, not by the leg", async () => {
    const scene = await CallScene.start({ media: "one-way" });
    const call = await scene.connectedCall();
    await scene.system.advance(60_000);
    expect(notesOf(call)).not.toContain("media.inbound_silent");
    expect([call.inbound.length, endOf(call)]).toEqual([0, undefined]);
  });

  test.each(["unlinked on the phone", "banned", "replaced"])("%s during a call: line_lost at once", async (reason) => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    scene.port.lose(reason, true);
    await scene.system.settle();
    expect(endOf(call)).toEqual({ cause: "line_lost", detail: reason });
    expect(call.endCount).toBe(1);
  });
});

describe("startCall", () => {
  test("at the client's limit of calls: line_lost for a while, naming the option", async () => {
    const scene = await CallScene.start({}, { maxConcurrentCalls: 1 });
    scene.network.ring(scene.client);
    await scene.system.advance(100);
    const { release, message, retryAfterMs } = await scene.refusal();
    expect(release).toBe("line_lost");
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(message).toContain("voipPlugin({ maxConcurrentCalls: 4 })");
  });

  test("that never resolves: rejected_by_network after 20 s, and a late call is ended", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("startCall", { afterMs: OFFER_MS + 5_000 });
    const dialError = await scene.refusal(ANA, OFFER_MS + 1_000);
    expect(dialError.release).toBe("rejected_by_network");
    expect(dialError.message).toMatch(/^signaling timeout: /);
    await scene.system.advance(10_000);
    expect(scene.network.calls.map(({ ended }) => ended)).toEqual(["caller"]);
    expect(scene.port.listeners.size).toBe(0);
  });

  test("that hangs leaves no timer after its limit", async () => {
    const scene = await CallScene.start();
    const { waiting } = scene.system;
    Object.assign(scene.client.voip!, { getCalls: () => [], startCall: () => new Promise(() => {}) });
    await scene.refusal(ANA, OFFER_MS + 1_000);
    expect(scene.system.waiting).toBe(waiting);
  });

  test("that fails otherwise ends the call, because the offer may have been sent", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("startCall", new Error("encryption failed"));
    expect(await scene.refusal()).toMatchObject({
      release: "rejected_by_network",
      message: "the client reports: encryption failed",
    });
  });

  test("on a client without its codec: internal_error, with the fix, and without the server's folders", async () => {
    const scene = await CallScene.start();
    const text =
      "Cannot find package 'libmlow-wasm' imported from /srv/secret/node_modules/@zapo-js/voip/mlow-codec.js";
    scene.client.disturb("startCall", new Error(text));
    const dialError = await scene.refusal();
    expect(dialError.release).toBe("internal_error");
    expect(dialError.message).toMatch(/libmlow-wasm .* not installed.*ringport doctor/);
    expect(dialError.message).not.toContain("/srv/secret");
  });

  test("on a client without the voip plugin: internal_error, with the fix", async () => {
    const scene = await CallScene.start();
    const { client } = scene;
    scene.port.client = {
      connect: () => client.connect(),
      disconnect: () => client.disconnect(),
      logout: () => client.logout(),
      getState: () => client.getState(),
      getCredentials: () => client.getCredentials(),
      on() {},
      off() {},
      auth: client.auth,
      profile: client.profile,
      lowlevel: client.lowlevel,
      voip: undefined as never,
    };
    const dialError = await scene.refusal();
    expect([dialError.release, dialError.message.includes("voipPlugin(")]).toEqual(["internal_error", true]);
  });

  test("is not called after the dialling deadline or a hang-up", async () => {
    const scene = await CallScene.start();
    scene.deadlines.dial = -Infinity;
    expect(await scene.refusal()).toMatchObject({ release: "line_lost" });
    scene.deadlines.dial = Infinity;
    scene.abort.abort();
    expect(await scene.refusal()).toMatchObject({ release: "released" });
    expect(scene.network.calls).toEqual([]);
  });

  test("that resolves after a hang-up is withdrawn, even on a client that the session has left", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("startCall", { afterMs: 3_000 });
    const dialledCall = scene.dial();
    await scene.system.advance(1_000);
    scene.abort.abort();
    scene.port.client = undefined;
    await scene.system.advance(5_000);
    expect(dialledCall.error).toMatchObject({ release: "released" });
    expect(scene.network.call().ended).toBe("caller");
  });

  test("that resolves after the session was lost permanently is withdrawn", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("startCall", { afterMs: 3_000 });
    scene.client.disturb("endCall", "hang");
    const dialledCall = scene.dial();
    await scene.system.advance(1_000);
    scene.port.lose("unlinked", true);
    scene.port.client = undefined;
    await scene.system.advance(10_000);
    expect(dialledCall.leg?.isLive).toBe(false);
    expect(dialledCall.endCount).toBe(1);
  });

  test("that resolves after the session was lost permanently leaves no phone ringing", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("startCall", { afterMs: 3_000 });
    scene.dial();
    await scene.system.advance(1_000);
    scene.port.lose("unlinked", true);
    scene.port.client = undefined;
    await scene.system.advance(5_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("reports the connection as down if the client's state or calls are unavailable", async () => {
    const scene = await CallScene.start();
    const { client } = scene;
    const brokenClient = (name: "getState" | "voip") =>
      new Proxy(client, {
        get(target, key) {
          if (key === name) throw new Error("the client is broken");
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    for (const name of ["getState", "voip"] as const) {
      scene.port.client = brokenClient(name);
      expect(await scene.refusal()).toMatchObject({ name: "DialError", release: "line_lost" });
    }
  });

  test.each([
    ["the offer was refused", { offer: { error: 500 } }, "rejected_by_network"],
    ["every device is busy", { devices: [{ does: "busy", afterMs: 0 }] }, "busy"],
  ] as const)("may resolve after %s", async (_, number, cause) => {
    const scene = await CallScene.start(number);
    const { voip } = scene.client;
    const startCall = voip.startCall.bind(voip);
    voip.startCall = async (options) => {
      const callId = await startCall(options);
      await new Promise<void>((resolve) => void scene.system.after(500, resolve));
      return callId;
    };
    const call = await scene.call();
    await scene.system.advance(1_000);
    expect(endOf(call)?.cause).toBe(cause);
  });
});

describe("a hang-up", () => {
  test.each(["hang", new Error("the socket is gone")] as const)("ends even if endCall fails: %s", async (fault) => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    scene.client.disturb("endCall", fault);
    let hasEnded = false;
    void call.leg.hangUp().then(() => {
      hasEnded = true;
    });
    await scene.system.advance(END_MS + 900);
    expect([hasEnded, endOf(call)?.cause, call.endCount]).toEqual([true, "released", 1]);
    expect(scene.clock.size).toBe(0);
  });

  test("resolves once the terminate was sent", async () => {
    const scene = await CallScene.start({ devices: [silentDevice] });
    const call = await scene.call();
    scene.client.disturb("endCall", { afterMs: 1_000 });
    void call.leg.hangUp();
    await scene.system.advance(900);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(200);
    expect(endOf(call)?.cause).toBe("released");
  });

  test("has one end if the callee hangs up at the same time", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall(tone(440, 5_000, 16_000, 9_000));
    await scene.system.advance(1_000);
    void call.leg.hangUp();
    call.callee.hangUp();
    await scene.system.advance(5_000);
    expect(call.events.filter(({ type }) => type === "ended").length).toBe(1);
    expect(endOf(call)?.cause).toBe("released");
  });
});
