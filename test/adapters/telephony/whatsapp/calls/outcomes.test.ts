import type { FakeNumber } from "ringport/testing";
import { describe, expect, test } from "vitest";
import { placeWhatsAppCall } from "../../../../../adapters/telephony/whatsapp/calls/place-whatsapp-call.ts";
import { MEDIA_MS } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts";
import { dtmfTones } from "../../../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../../../src/audio/tones/tone.ts";
import type { Call } from "../../../../../src/domain/calls/call.ts";
import type { InstanceRef, LineHost } from "../../../../../src/ports/telephony.ts";
import {
  type ScriptedLeg,
  type ScriptedLine,
  ScriptedTelephony,
} from "../../../../../src/testing/scripted-telephony.ts";
import { ALICE, MS_PER_CHARACTER, World } from "../../../../support/application.ts";
import "../../../../../src/application/calls/dialling/last-check.ts"; // loaded with the first call; a manual clock does not wait for that
import { RecordingClient } from "../../../../support/recording-client.ts";
import { ANA, audiblePart, CallScene, RATE } from "./scene.ts";

/** A network whose lines are scripted, and whose calls go over the fake WhatsApp. */
class CallNetwork extends ScriptedTelephony {
  readonly #scene: CallScene;

  constructor(scene: CallScene) {
    super(scene.system, {
      capabilities: { dtmf: "in-band", mediaSetupMs: MEDIA_MS + 1_000 },
      sampleRate: RATE,
      frameMs: 60,
    });
    this.#scene = scene;
  }

  override async open(instance: InstanceRef, host: LineHost): Promise<ScriptedLine> {
    const line = await super.open(instance, host);
    const { system, clock, numbers, port } = this.#scene;
    const context = { system, clock, numbers, deadlines: host.deadlines };
    line.dial = async (to, options, signal) =>
      (await placeWhatsAppCall(context, port, to, options, signal, () => {})) as unknown as ScriptedLeg;
    return line;
  }
}

async function start(number: FakeNumber = {}, options: object = {}) {
  const scene = await CallScene.start(number);
  const world = await World.start({ system: scene.system, network: new CallNetwork(scene), ...options });
  return { scene, world, instance: await world.activeInstance() };
}

async function placeCall(world: World, instanceId: string, text = "x".repeat(40), fields: object = {}): Promise<Call> {
  const call = await world.app.calls.create(ALICE, {
    instanceId,
    type: "FIXED_TTS",
    target: { phoneNumber: ANA },
    tts: { text, voiceId: "en-US-1" },
    ...fields,
  });
  await world.system.settle();
  return call;
}

describe("a call over WhatsApp", () => {
  test("plays the entire message, records both sides, and passes keys on", async () => {
    const { scene, world, instance } = await start();
    const call = await placeCall(world, instance.id, "x".repeat(60), { recording: true });
    await world.system.advance(2_000);
    scene.network.call().say(dtmfTones("42#", { sampleRate: RATE }));
    await world.system.advance(8_000);
    const storedCall = await world.storedCall(call);
    expect(storedCall).toMatchObject({ status: "COMPLETED", targetPhone: ANA });
    expect(storedCall.outcome).toMatchObject({
      reason: "message_played",
      heardMs: 60 * MS_PER_CHARACTER,
      heardRatio: 1,
      heardEvidence: "inbound",
    });
    const heard = audiblePart(scene.network.call().heard);
    expect(Math.abs(heard.length - 3 * RATE)).toBeLessThanOrEqual(4);
    expect(toneShare(heard, 440, RATE)).toBeGreaterThan(0.95);
    const recording = world.recordings.stored.get(call.id)!;
    expect(Math.abs(audiblePart(Int16Array.from(recording.heard)).length - 3 * RATE)).toBeLessThanOrEqual(4);
    expect(recording.spoken.length).toBe(recording.heard.length);
    const events = await world.timeline(call);
    expect(events.flatMap((event) => (event.type === "dtmf" ? [event.data.digit] : [])).join("")).toBe("42#");
    expect(events.find(({ type }) => type === "address_resolved")?.data).toEqual({
      resolved_address: "5511987654321@s.whatsapp.net",
    });
    expect(storedCall.mediaStatistics).toMatchObject({ codec: "MLow", packetsLost: 0 });
    await world.stop();
  });

  test.each<[string, FakeNumber, string, string | null | RegExp]>([
    ["declined", { devices: [{ does: "decline", afterMs: 2_000 }] }, "declined", "rejected by the callee"],
    ["busy everywhere", { devices: [{ does: "busy", afterMs: 2_000 }] }, "busy", "busy"],
    ["never answered", { devices: [{ does: "nothing" }] }, "no_answer", null],
    ["timed out by WhatsApp", { devices: [{ does: "nothing" }], timesOutAfterMs: 30_000 }, "no_answer", "timeout"],
    ["accepted, and rings nowhere", { devices: [{ does: "nothing" }], ringsAfterMs: null }, "unreachable", /no device/],
    [
      "timed out by WhatsApp without ringing",
      { devices: [{ does: "nothing" }], ringsAfterMs: null, timesOutAfterMs: 30_000 },
      "unreachable",
      /^timeout: WhatsApp accepted the call, but no device/,
    ],
    ["refused", { offer: { error: 403 } }, "rejected_by_network", /error 403$/],
    ["not acknowledged", { offer: "ignored" }, "rejected_by_network", /^signaling timeout: /],
    ["not possible: no such number", { exists: false }, "number_invalid", `${ANA} is not on WhatsApp`],
    ["not possible: no device", { devices: [] }, "unreachable", /no device sessions/],
    ["without audio", { media: "never" }, "media_failed", /within 20 s of the answer/],
  ])("fails with its reason if it is %s", async (_, number, reason, detail) => {
    const { scene, world, instance } = await start(number);
    const call = await placeCall(world, instance.id);
    await world.system.advance(70_000);
    const { status, outcome } = await world.storedCall(call);
    expect([status, outcome?.reason]).toEqual(["FAILED", reason]);
    if (detail instanceof RegExp) expect(outcome?.detail).toMatch(detail);
    else expect(outcome?.detail).toBe(detail);
    expect(scene.client.voip.getCalls()).toEqual([]);
    for (const { ended } of scene.network.calls) expect(ended).toBeDefined();
    await world.stop();
  });

  test("reports WhatsApp's form of the number if it differs", async () => {
    for (const [reason, devices] of [
      ["message_played", undefined],
      ["declined", [{ does: "decline", afterMs: 2_000 }]],
    ] as const) {
      const { scene, world, instance } = await start({ exists: false });
      scene.network.number("+551187654321", devices ? { devices } : {});
      const call = await placeCall(world, instance.id);
      await world.system.advance(10_000);
      const { targetPhone, outcome } = await world.storedCall(call);
      const address = "resolved_address: 551187654321@s.whatsapp.net";
      const detail = devices ? `rejected by the callee; ${address}` : address;
      expect([targetPhone, outcome?.reason, outcome?.detail]).toEqual([ANA, reason, detail]);
      await world.stop();
    }
  });

  test("waits for a relay that connects late", async () => {
    const { world, instance } = await start({ mediaAfterMs: 18_000 });
    const call = await placeCall(world, instance.id);
    await world.system.advance(30_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    await world.stop();
  });

  test("counts the audio heard so far when the callee ends it", async () => {
    const { scene, world, instance } = await start({ hangsUpAfterMs: 3_100 });
    const call = await placeCall(world, instance.id, "x".repeat(200));
    await world.system.advance(10_000);
    const { outcome } = await world.storedCall(call);
    expect(outcome?.reason).toBe("callee_hung_up");
    const heard = audiblePart(scene.network.call().heard).length / 16;
    expect(heard - outcome!.heardMs!).toBeGreaterThanOrEqual(-1);
    expect(heard - outcome!.heardMs!).toBeLessThanOrEqual(61);
    await world.stop();
  });

  test("survives a short loss of its line while ringing, and ends with its session", async () => {
    const { scene, world, instance } = await start({ devices: [{ does: "answer", afterMs: 8_000 }] });
    const call = await placeCall(world, instance.id, "x".repeat(400));
    await world.system.advance(1_000);
    world.line(instance).goOffline();
    scene.port.lose();
    await world.system.advance(5_000);
    world.line(instance).goOnline();
    scene.port.restore();
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    scene.port.lose("unlinked on the phone", true);
    await world.system.settle();
    const { outcome } = await world.storedCall(call);
    expect([outcome?.reason, outcome?.detail]).toEqual(["instance_lost", "unlinked on the phone"]);
    await world.stop();
  });

  test("waits, and is dialled again, if the socket is down when it is dialled", async () => {
    const { scene, world, instance } = await start();
    scene.client.disturb("startCall", new Error("noise session not ready"));
    const call = await placeCall(world, instance.id);
    await world.system.advance(15_000);
    expect(scene.network.calls.length).toBe(1);
    expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
    await world.stop();
  });

  test("carries a live stream both ways: in frames of 20 ms, with its marks", async () => {
    const { scene, world, instance } = await start({}, { streamPreview: true });
    const client = new RecordingClient(8_000);
    const { id: instanceId } = instance;
    const target = { phoneNumber: ANA };
    const call = await world.app.calls.create(ALICE, { instanceId, type: "DYNAMIC_STREAM", target });
    const attachment = (await world.app.calls.stream(ALICE, call.id)).attach(client);
    await world.system.advance(2_000);
    attachment.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    attachment.mark("said");
    scene.network.call().say(tone(880, 1_000, RATE, 9_000));
    await world.system.advance(3_000);
    expect(client.frames.every(({ length }) => length === 160)).toBe(true);
    expect(toneShare(audiblePart(client.heard), 880, 8_000)).toBeGreaterThan(0.95);
    expect(client.eventNames).toContain("mark");
    expect(toneShare(audiblePart(scene.network.call().heard), 440, RATE)).toBeGreaterThan(0.95);
    await world.stop();
  });
});
