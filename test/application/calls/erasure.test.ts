import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Event } from "../../../src/domain/events.ts";
import { ALICE, BOB, NUMBER, World } from "../../support/application.ts";

const OTHER_NUMBER = "+12025550199";

/** An ended call that belongs to the principal. */
async function endedCall(world: World, phoneNumber: string, principal = ALICE): Promise<Call> {
  const { id: instanceId } = await world.newInstance(principal);
  const input = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } } as const;
  const call = await world.app.calls.create(principal, input, { idempotencyKey: `key-${instanceId}` });
  await world.app.calls.hangUp(principal, call.id);
  return call;
}

describe("erasing a phone number", () => {
  test("deletes all users' calls to it, with events and idempotency keys", async () => {
    const world = await World.start();
    const calls = [await endedCall(world, NUMBER), await endedCall(world, NUMBER, BOB)];
    const otherCall = await endedCall(world, OTHER_NUMBER);
    const result = await world.app.erase(NUMBER);
    expect(result).toEqual({
      calls: 2,
      events: 4,
      transcriptLines: 0,
      recordings: 0,
      receipts: 2,
      lineRecords: 0,
      targets: 0,
      activeCalls: [],
      instances: [],
    });
    for (const call of calls) {
      expect(await world.storage.calls.get(call.id)).toBeUndefined();
      expect(await world.timeline(call)).toEqual([]);
    }
    expect(await world.eventTypes(otherCall)).toEqual(["queued", "failed"]);
    expect(await world.storage.calls.counts()).toEqual({ FAILED: 1 });
    expect(await world.app.erase(NUMBER)).toMatchObject({ calls: 0, events: 0, receipts: 0 });
    await world.stop();
  });

  test.each([
    ["+5511987654321", "+551187654321"],
    ["+525512345678", "+5215512345678"],
    ["+541112345678", "+5491112345678"],
  ])("in the form %s or %s deletes calls to both", async (form, otherForm) => {
    const world = await World.start();
    for (const phone of [form, otherForm]) {
      await endedCall(world, form);
      await endedCall(world, otherForm);
      expect(await world.app.erase(phone)).toMatchObject({ calls: 2, activeCalls: [] });
    }
    await world.stop();
  });

  test("deletes a call transferred to it", async () => {
    const world = await World.start();
    const call = await endedCall(world, OTHER_NUMBER);
    const event = (await world.storage.events.ofCall(call.id, {}))[0]!;
    const { position: _, sequence: __, ...source } = event;
    const transferEvent = {
      ...source,
      id: `${event.id}t`,
      type: "transferred",
      data: { to: NUMBER, detail: null },
    } as const;
    await world.storage.events.append([transferEvent as Event]);
    expect(await world.app.erase(NUMBER)).toMatchObject({ calls: 1, events: 3 });
    expect(await world.storage.calls.get(call.id)).toBeUndefined();
    await world.stop();
  });

  test("first ends a live call, whose session stops writing", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(100));
    await world.system.advance(1_000);
    const erasure = world.app.erase(NUMBER);
    await world.system.advance(10_000);
    expect(await erasure).toMatchObject({ calls: 1, activeCalls: [] });
    expect(world.leg(call).hangUps).toBeGreaterThan(0);
    expect(await world.timeline(call)).toEqual([]);
    expect(await world.storage.calls.counts()).toEqual({});
    await world.stop();
  });

  test("deletes recordings, even of unknown length, and the network's data", async () => {
    const world = await World.start();
    const forgottenIds: string[] = [];
    Object.assign(world.network, { forget: async (ids: string[]) => void forgottenIds.push(...ids) });
    const call = await endedCall(world, NUMBER);
    world.recordings.record(call.id, 8_000, () => {});
    await world.app.erase(NUMBER);
    expect(world.recordings.stored.size).toBe(0);
    expect(forgottenIds).toEqual([call.id]);
    await world.stop();
  });

  test("names the instances that the number is linked to, and forgets past links", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const phone = (await world.storage.instances.get(instance.id))?.phone ?? "";
    expect(await world.app.erase(phone)).toMatchObject({ instances: [instance.id], events: 0 });
    await world.app.instances.delete(ALICE, instance.id);
    expect(await world.app.erase(phone)).toMatchObject({ instances: [], events: 1 });
    await world.stop();
  });

  test.each(["", "12025550100", "+0202555010", "+1 202 555 0100", "%"])("refuses %j", async (phone) => {
    const world = await World.start();
    await expect(world.app.erase(phone)).rejects.toMatchObject({ errors: [{ code: "phone_number_invalid" }] });
    await world.stop();
  });
});
