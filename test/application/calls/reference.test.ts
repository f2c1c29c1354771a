import { describe, expect, test } from "vitest";
import { ALICE, NUMBER, World } from "../../support/application.ts";

describe("a call's reference", () => {
  test("is in its call's events, from queued to failed", async () => {
    const world = await World.start();
    const { id: instanceId } = await world.activeInstance();
    const input = { instanceId, type: "FIXED_TTS", target: { phoneNumber: NUMBER } } as const;
    const tts = { text: "Hello there", voiceId: "en-US-1" };
    const call = await world.app.calls.create(ALICE, { ...input, tts, reference: "order 7", metadata: { shop: 3 } });
    expect(call).toMatchObject({ reference: "order 7", metadata: { shop: 3 } });
    await world.system.settle();
    world.leg(call).placed();
    await world.system.settle();
    await world.app.calls.hangUp(ALICE, call.id);
    const { events } = await world.app.calls.timeline(ALICE, call.id);
    expect(events.filter(({ type }) => type !== "message_ready")).toMatchObject([
      { type: "queued", data: { reference: "order 7" } },
      { type: "ringing", data: { reference: "order 7" } },
      { type: "failed", data: { reference: "order 7", metadata: { shop: 3 } } },
    ]);
    expect(await world.app.calls.list(ALICE, { reference: "order 7" })).toMatchObject([{ id: call.id }]);
    expect(await world.app.calls.list(ALICE, { reference: "order 8" })).toEqual([]);
  });

  test("is absent from the events if the call has none", async () => {
    const world = await World.start();
    const { id: instanceId } = await world.activeInstance();
    const call = await world.app.calls.create(ALICE, {
      instanceId,
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: NUMBER },
    });
    await world.app.calls.hangUp(ALICE, call.id);
    const { events } = await world.app.calls.timeline(ALICE, call.id);
    for (const { data } of events) expect(data).not.toHaveProperty("reference");
  });
});
