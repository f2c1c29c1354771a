import type { FakeNumber } from "ringport/testing";
import { describe, expect, test } from "vitest";
import { BUSY_MS } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts";
import { CallScene, endOf, type TestCall, typesOf } from "./scene.ts";

const BUSY_DEVICE = { does: "busy", afterMs: 500 } as const;
const LATE_BUSY_DEVICE = { does: "busy", afterMs: 900 } as const;
const SILENT_DEVICE = { does: "nothing" } as const;

/** A call to a callee, `ms` after the offer. */
async function callAfter(callee: FakeNumber, ms: number): Promise<TestCall> {
  const scene = await CallScene.start(callee);
  const call = await scene.call();
  await scene.system.advance(ms);
  return call;
}

describe("a callee whose devices are listed", () => {
  test.each([
    { addressForm: "called", deviceList: "relay" },
    { addressForm: "other", deviceList: "relay" },
    { addressForm: "both", deviceList: "relay" },
    { addressForm: "called", deviceList: "user" },
    { addressForm: "other", deviceList: "user" },
    { addressForm: "both", deviceList: "user" },
  ] as const)("is busy once each device is ($addressForm, $deviceList)", async (ack) => {
    const scene = await CallScene.start({ devices: [BUSY_DEVICE, LATE_BUSY_DEVICE], ringsAfterMs: 700, ...ack });
    const call = await scene.call();
    await scene.system.advance(800);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(300);
    expect(endOf(call)).toEqual({ cause: "busy", detail: "busy" });
    expect(call.callee.ended).toBe("caller");
  });

  test.each(["called", "other", "both"] as const)(
    "keeps ringing while a device is not busy (%s)",
    async (addressForm) => {
      const call = await callAfter({ devices: [BUSY_DEVICE, SILENT_DEVICE], ringsAfterMs: null, addressForm }, 40_000);
      expect(typesOf(call)).toEqual(["placed"]);
    },
  );
});

describe("a callee whose devices are unknown", () => {
  const unlistedDevices = { deviceList: "none" } as const;
  /** The devices are listed under a LID that was not queried. */
  const listedByUnknownLid = { lid: null, addressForm: "other" } as const;

  test.each([
    ["not listed", unlistedDevices],
    ["listed by an unknown address", listedByUnknownLid],
  ])("is busy 2 s after its phone (%s)", async (_, ack) => {
    const scene = await CallScene.start({ devices: [BUSY_DEVICE, SILENT_DEVICE], ringsAfterMs: null, ...ack });
    const call = await scene.call();
    await scene.system.advance(500 + BUSY_MS - 100);
    expect(endOf(call)).toBeUndefined();
    await scene.system.advance(200);
    expect(endOf(call)).toEqual({ cause: "busy", detail: "busy" });
    expect(call.callee.ended).toBe("caller");
  });

  test("is answered by another device in time", async () => {
    const call = await callAfter(
      { devices: [BUSY_DEVICE, { does: "answer", afterMs: 2_000 }], ...unlistedDevices },
      10_000,
    );
    expect(typesOf(call)).toEqual(["placed", "alerting", "answered", "connected"]);
  });

  test.each([100, 1_500])("keeps ringing if another device reports ringing (after %i ms)", async (ms) => {
    const scene = await CallScene.start({
      devices: [BUSY_DEVICE, SILENT_DEVICE],
      ringsAfterMs: null,
      ...unlistedDevices,
    });
    const call = await scene.call();
    await scene.system.advance(ms);
    call.callee.ring(1);
    await scene.system.advance(40_000);
    expect(typesOf(call)).toEqual(["placed", "alerting"]);
  });

  test("keeps ringing if only a companion is busy", async () => {
    const call = await callAfter(
      { devices: [SILENT_DEVICE, BUSY_DEVICE], ringsAfterMs: null, ...unlistedDevices },
      40_000,
    );
    expect(typesOf(call)).toEqual(["placed"]);
  });

  test("is busy although the phone rang before", async () => {
    const call = await callAfter({ devices: [BUSY_DEVICE], ringsAfterMs: 100, ...unlistedDevices }, 4_000);
    expect(endOf(call)).toEqual({ cause: "busy", detail: "busy" });
  });
});
