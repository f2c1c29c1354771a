import { beforeEach, describe, expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import { toneShare } from "../../../../src/audio/tones/tone.ts";
import type { Call } from "../../../../src/domain/calls/call.ts";
import { createRingport, type Ringport } from "../../../../src/ringport.ts";
import { FakeWhatsApp, type FakeWhatsAppOptions } from "../../../../src/testing/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech } from "../../../support/application.ts";
import { advanceUntilDone } from "../../../support/during.ts";
import { instantCrypto } from "../../../support/instant-crypto.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const OWNER = "+5511912345678";
const CALLEE = "+5511987654321";
const CONTACT = "+12025550101";

/** A Ringport whose only network is WhatsApp, over scripted clients and on a manual clock. */
class WhatsAppScene {
  readonly system = new ManualSystem();
  readonly network: FakeWhatsApp;
  readonly #data = temporaryFolder("whatsapp");
  ringport: Ringport;
  instanceId = "";

  constructor(options?: FakeWhatsAppOptions) {
    this.network = new FakeWhatsApp(this.system, options);
    this.ringport = this.start();
  }

  start(): Ringport {
    const { system, network } = this;
    const telephony = whatsapp({ client: network.client, system });
    // The manual clock does not wait for the disk.
    const embedded = { synchronous: "NORMAL" } as const;
    this.ringport = createRingport({ data: this.#data, system, telephony, speech: new ToneSpeech(), embedded });
    return this.ringport;
  }

  advanceUntilDone<T>(work: Promise<T>): Promise<T> {
    return advanceUntilDone(this.system, work);
  }

  async create(): Promise<void> {
    const { id } = await this.ringport.instances.create(ALICE, { name: "Front desk" });
    this.instanceId = id;
  }

  code(): Promise<string> {
    return this.advanceUntilDone(this.ringport.instances.configure(ALICE, this.instanceId)).then(
      ({ payload }) => payload,
    );
  }

  async link(): Promise<void> {
    this.network.scan(await this.code(), OWNER);
    await this.waitForStatus("ACTIVE", 5_000);
  }

  /** Advances time until the instance has this status. Throws an Error if that takes longer than `ms`. */
  async waitForStatus(status: string, ms: number): Promise<void> {
    for (let elapsedMs = 0; elapsedMs <= ms; elapsedMs += 250) {
      if ((await this.instance()).status === status) return;
      await this.system.advance(250);
    }
    throw new Error(`not ${status} within ${ms} ms: ${JSON.stringify(await this.instance())}`);
  }

  async instance() {
    const { status, phone, connection } = await this.ringport.instances.get(ALICE, this.instanceId);
    return { status, phone, condition: connection.condition, reason: connection.reason };
  }

  /** Places a call to a number; returns it a minute later. */
  async outcomeOfCall(phoneNumber: string): Promise<Call> {
    const tts = { text: "Your table is ready", voiceId: "en-US-1" };
    const input = { instanceId: this.instanceId, type: "FIXED_TTS", target: { phoneNumber }, tts } as const;
    const { id } = await this.ringport.calls.create(ALICE, input);
    await this.system.advance(60_000);
    return await this.ringport.calls.get(ALICE, id);
  }

  async restart(): Promise<void> {
    await this.advanceUntilDone(this.ringport.stop());
    this.start();
    await this.advanceUntilDone(this.ringport.start());
    await this.waitForStatus("ACTIVE", 5_000);
  }

  async stop(): Promise<void> {
    await this.advanceUntilDone(this.ringport.stop());
  }
}

async function linkScene(options?: FakeWhatsAppOptions): Promise<WhatsAppScene> {
  const scene = new WhatsAppScene(options);
  await scene.create();
  await scene.link();
  return scene;
}

beforeEach(instantCrypto);

describe("a Ringport with linked WhatsApp numbers", () => {
  test("links with a code, places an audible call, and reconnects after a restart", async () => {
    const scene = await linkScene();
    expect(await scene.instance()).toEqual({ status: "ACTIVE", phone: OWNER, condition: null, reason: null });
    for (const round of ["first", "after a restart"]) {
      const tts = { text: "Your table is ready", voiceId: "en-US-1" };
      const input = { instanceId: scene.instanceId, type: "FIXED_TTS", target: { phoneNumber: CALLEE }, tts } as const;
      const { id } = await scene.ringport.calls.create(ALICE, { ...input, reference: round });
      await scene.system.advance(60_000);
      const call = await scene.ringport.calls.get(ALICE, id);
      expect(call).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heardRatio: 1 } });
      expect(toneShare(scene.network.call().heard, 440, 16_000)).toBeGreaterThan(0.5);
      if (round === "first") await scene.restart();
    }
    expect((await scene.instance()).status).toBe("ACTIVE");
    await scene.stop();
  });

  test("a call whose relay needs 18 s is heard", async () => {
    const scene = await linkScene();
    scene.network.number(CALLEE, { mediaAfterMs: 18_000 });
    const tts = { text: "Your table is ready", voiceId: "en-US-1" };
    const input = { instanceId: scene.instanceId, type: "FIXED_TTS", target: { phoneNumber: CALLEE }, tts } as const;
    const { id } = await scene.ringport.calls.create(ALICE, input);
    await scene.system.advance(60_000);
    expect(await scene.ringport.calls.get(ALICE, id)).toMatchObject({ outcome: { reason: "message_played" } });
    await scene.stop();
  });

  test("reports a device that the phone has removed, with the reason, and links again", async () => {
    const scene = await linkScene();
    scene.network.unlink(OWNER);
    await scene.waitForStatus("CREATED", 5_000);
    const reason = "the device was removed from the linked devices on the phone";
    expect(await scene.instance()).toEqual({ status: "CREATED", phone: null, condition: null, reason });
    await scene.link();
    expect((await scene.instance()).status).toBe("ACTIVE");
    await scene.restart();
    expect((await scene.instance()).status).toBe("ACTIVE");
    await scene.stop();
  });

  test("notices a device that was removed while the server was stopped", async () => {
    const scene = await linkScene();
    await scene.advanceUntilDone(scene.ringport.stop());
    scene.network.unlink(OWNER);
    scene.start();
    await scene.advanceUntilDone(scene.ringport.start());
    await scene.waitForStatus("CREATED", 5_000);
    expect(await scene.instance()).toMatchObject({
      status: "CREATED",
      reason: "WhatsApp no longer knows this device (401)",
    });
    await scene.stop();
  });

  test("shows qr_expired when no code is valid, until the next request", async () => {
    const scene = new WhatsAppScene();
    await scene.create();
    await scene.code();
    await scene.system.advance(170_000);
    expect(await scene.instance()).toMatchObject({ status: "CREATED", condition: "qr_expired" });
    await scene.code();
    expect((await scene.instance()).condition).toBeNull();
    await scene.stop();
  });

  test("a replaced number is CONFIGURED, and tries again when a code is requested", async () => {
    const scene = await linkScene();
    scene.network.clientOf().streamError("replaced");
    await scene.system.advance(1_000);
    expect(await scene.instance()).toMatchObject({ status: "CONFIGURED", condition: "replaced" });
    await expect(scene.code()).rejects.toMatchObject({ code: "instance_already_linked" });
    await scene.waitForStatus("ACTIVE", 5_000);
    expect((await scene.instance()).condition).toBeNull();
    await scene.stop();
  });

  test("an outage is CONFIGURED after the grace period, and ACTIVE when WhatsApp is back", async () => {
    const scene = await linkScene();
    scene.network.reachable = false;
    await scene.system.advance(20_000);
    expect((await scene.instance()).status).toBe("ACTIVE");
    await scene.system.advance(60_000);
    expect((await scene.instance()).status).toBe("CONFIGURED");
    scene.network.reachable = true;
    await scene.system.advance(10 * 60_000);
    expect((await scene.instance()).status).toBe("ACTIVE");
    await scene.stop();
  });

  test("a pairing code also links", async () => {
    const scene = new WhatsAppScene();
    await scene.create();
    const { code } = await scene.advanceUntilDone(
      scene.ringport.instances.pairingCode(ALICE, scene.instanceId, { phone: OWNER }),
    );
    expect(await scene.instance()).toMatchObject({ status: "CREATED", condition: "pairing_code" });
    scene.network.typeCode(code, OWNER);
    await scene.waitForStatus("ACTIVE", 5_000);
    expect(await scene.instance()).toMatchObject({ phone: OWNER, condition: null });
    await scene.stop();
  });

  test("an instance is linked again, to another phone", async () => {
    const scene = await linkScene();
    await scene.advanceUntilDone(scene.ringport.instances.unlink(ALICE, scene.instanceId));
    expect(await scene.instance()).toMatchObject({ status: "CREATED", phone: null });
    expect(scene.network.clientOf().getState().connected).toBe(false);
    scene.network.scan(await scene.code(), "+5511955554444");
    await scene.waitForStatus("ACTIVE", 5_000);
    expect((await scene.instance()).phone).toBe("+5511955554444");
    await scene.restart();
    await scene.stop();
  });

  test("a passkey, a restriction and an outdated client are conditions of the instance", async () => {
    const passkeyScene = new WhatsAppScene();
    await passkeyScene.create();
    passkeyScene.network.needsPasskey = true;
    passkeyScene.network.scan(await passkeyScene.code(), OWNER);
    await passkeyScene.system.advance(1_000);
    expect(await passkeyScene.instance()).toMatchObject({ status: "CREATED", condition: "passkey_required" });
    await passkeyScene.stop();
    for (const [code, condition] of [
      [402, "restricted"],
      [405, "client_outdated"],
    ] as const) {
      const scene = await linkScene();
      scene.network.clientOf().fail(code);
      await scene.waitForStatus("CONFIGURED", 60_000);
      expect(await scene.instance()).toMatchObject({
        phone: OWNER,
        condition,
        reason: expect.stringContaining(`${code}`),
      });
      await scene.stop();
    }
  });

  test("a number that may not call strangers is ACTIVE and restricted, and still calls its contacts", async () => {
    const scene = await linkScene();
    const until = scene.system.now() + 3_600_000;
    scene.network.write(CONTACT);
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 3_600_000 });
    await scene.system.advance(1_000);
    expect(await scene.instance()).toMatchObject({ status: "ACTIVE", condition: "restricted", reason: null });
    const { connection } = await scene.ringport.instances.get(ALICE, scene.instanceId);
    expect(connection.notice?.reason).toContain("(463)");
    expect(Math.abs((connection.notice?.until ?? 0) - until)).toBeLessThan(2_000);
    const strangerCall = await scene.outcomeOfCall(CALLEE);
    expect(strangerCall).toMatchObject({ status: "FAILED", outcome: { reason: "instance_paused" }, dialingAt: null });
    expect(strangerCall.outcome?.detail).toContain("(463)");
    expect(scene.network.calls).toHaveLength(0);
    expect(await scene.outcomeOfCall(CONTACT)).toMatchObject({ outcome: { reason: "message_played", heardRatio: 1 } });
    expect(toneShare(scene.network.call().heard, 440, 16_000)).toBeGreaterThan(0.5);
    await scene.system.advance(3_600_000);
    expect(await scene.instance()).toMatchObject({ status: "ACTIVE", condition: null });
    expect(await scene.outcomeOfCall(CALLEE)).toMatchObject({ outcome: { reason: "message_played" } });
    await scene.stop();
  });

  test.each([
    ["an error of unknown meaning", { error: 403 }],
    ["the lock on calls to strangers", { error: 463 }],
    ["no response", "ignored"],
  ] as const)("a contact is called after three calls to strangers that ended with %s", async (_, offer) => {
    const scene = await linkScene({ timelock: false });
    scene.network.number(CALLEE, { offer });
    for (let i = 0; i < 3; i++) {
      if (i > 0) await scene.system.advance(3_600_000); // a lock without a known end is tried again
      expect((await scene.outcomeOfCall(CALLEE)).outcome?.reason).toBe("rejected_by_network");
    }
    scene.network.write(CONTACT);
    expect(await scene.outcomeOfCall(CONTACT)).toMatchObject({ outcome: { reason: "message_played", heardRatio: 1 } });
    expect(toneShare(scene.network.call().heard, 440, 16_000)).toBeGreaterThan(0.5);
    await scene.stop();
  });

  test("a call that WhatsApp refuses temporarily (429) waits, and is placed once", async () => {
    const scene = await linkScene();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    const waitingCall = await scene.outcomeOfCall(CALLEE);
    expect(waitingCall).toMatchObject({ status: "QUEUED", outcome: null, owner: null, dialingAt: null });
    expect(scene.network.calls).toHaveLength(1);
    scene.network.acceptOffers();
    await scene.system.advance(60_000);
    const placedCall = await scene.ringport.calls.get(ALICE, waitingCall.id);
    expect(placedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heardRatio: 1 } });
    expect(scene.network.calls.map(({ heard: { length } }) => length > 0)).toEqual([false, true]);
    await scene.stop();
  });

  test("a waiting call after 429 ends when it is deleted, without ringing", async () => {
    const scene = await linkScene();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    const { id } = await scene.outcomeOfCall(CALLEE);
    await scene.advanceUntilDone(scene.ringport.calls.hangUp(ALICE, id));
    scene.network.acceptOffers();
    await scene.system.advance(120_000);
    expect(await scene.ringport.calls.get(ALICE, id)).toMatchObject({ outcome: { reason: "terminated" } });
    expect(scene.network.calls).toHaveLength(1);
    await scene.stop();
  });

  test("a number that WhatsApp keeps refusing stops dialling", async () => {
    const scene = await linkScene();
    scene.network.refuseOffers({ error: 439 });
    for (let i = 0; i < 3; i++) {
      expect((await scene.outcomeOfCall(CALLEE)).outcome?.reason).toBe("rejected_by_network");
      await expect(scene.code()).rejects.toMatchObject({ code: "instance_already_linked" }); // requests another attempt
      await scene.waitForStatus("ACTIVE", 10_000);
    }
    expect((await scene.outcomeOfCall(CALLEE)).outcome).toMatchObject({ reason: "instance_paused" });
    expect(scene.network.calls).toHaveLength(3);
    await scene.stop();
  });

  test("accepts a client factory, not a client", () => {
    expect(() => whatsapp({ client: {} as never })).toThrow("`client` must be a function");
  });

  test("a deleted instance removes its device at WhatsApp", async () => {
    const scene = await linkScene();
    const client = scene.network.clientOf();
    let isRemoved = false;
    const { logout } = client;
    Object.assign(client, {
      async logout() {
        await logout.call(client);
        isRemoved = true;
      },
    });
    await scene.advanceUntilDone(scene.ringport.instances.delete(ALICE, scene.instanceId));
    expect(isRemoved).toBe(true);
    expect(client.getState().connected).toBe(false);
    await scene.stop();
  });
});
