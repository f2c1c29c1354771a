import { describe, expect, test } from "vitest";
import { ABANDONED_MS } from "../../../../adapters/telephony/whatsapp/session/offers/abandoned-calls.ts";
import { ANA, NumberScene } from "./number-scene.ts";

const PHASES = [
  ["active", { does: "answer", afterMs: 500 }],
  ["ringing", { does: "nothing" }],
] as const;
const OUTAGES = [
  ["WhatsApp closes the connection", (scene: NumberScene) => scene.client.fail(503)],
  ["the socket drops", (scene: NumberScene) => scene.client.dropSocket(8_000)],
  ["WhatsApp asks for a new connection", (scene: NumberScene) => scene.client.streamError(515)],
] as const;

describe.each(PHASES)("a call that is %s", (phase, device) => {
  test.each(OUTAGES)("and is hung up after %s ends at the callee after a reconnection", async (_, disconnect) => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [device] });
    const call = scene.dial();
    await scene.system.advance(2_000);
    expect(scene.clientCalls).toEqual([phase]);
    disconnect(scene);
    void call.leg?.hangUp();
    await scene.system.advance(2_000);
    expect(call.events.at(-1)).toMatchObject({ type: "ended", cause: "released" });
    await scene.system.advance(30_000);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect(scene.clientCalls).toEqual([]);
    expect(scene.network.call().ended).toBeDefined();
  });
});

describe("a number whose connection drops in each call", () => {
  test("keeps its client's slots free", async () => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "answer", afterMs: 500 }] });
    for (let round = 0; round < 6; round++) {
      const call = scene.dial();
      await scene.system.advance(2_500);
      expect(call.error).toBeUndefined();
      scene.client.fail(503);
      void call.leg?.hangUp();
      await scene.system.advance(180_000);
    }
    expect(scene.network.calls.every(({ ended }) => ended !== undefined)).toBe(true);
  });

  test("closes the audio of an ended call if no connection returns", async () => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "answer", afterMs: 500 }] });
    const call = scene.dial();
    await scene.system.advance(2_000);
    scene.network.refuses = 503;
    scene.client.fail(503);
    void call.leg?.hangUp();
    await scene.system.advance(1_000);
    expect(scene.clientCalls).toEqual(["active"]);
    await scene.system.advance(ABANDONED_MS);
    expect(scene.clientCalls).toEqual([]);
  });

  test("ends calls that the client does not end", async () => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "answer", afterMs: 500 }] });
    const call = scene.dial();
    await scene.system.advance(2_000);
    scene.client.disturb("endCall", "hang");
    void call.leg?.hangUp();
    await scene.system.advance(10_000);
    expect(scene.clientCalls).toEqual([]);
    expect(scene.network.call().ended).toBeDefined();
  });
});

test("a callee still hears the message if only the connection is closed", async () => {
  const scene = await NumberScene.openLinked();
  scene.network.number(ANA, { devices: [{ does: "answer", afterMs: 500 }] });
  scene.dial();
  await scene.system.advance(4_000);
  const heardBefore = scene.heardMs;
  scene.network.refuses = 503;
  scene.client.fail(503);
  await scene.system.advance(9_000);
  expect(scene.heardMs - heardBefore).toBeGreaterThan(8_500);
});
