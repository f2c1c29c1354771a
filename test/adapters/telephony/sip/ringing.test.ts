import { describe, expect, test } from "vitest";
import type { Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

/** Events of a call to this callee, and the cause of its end. */
async function eventsAndCause(callee: Script): Promise<readonly [types: readonly string[], cause: string]> {
  const scene = await Scene.open({}, { callees: { [NUMBER]: callee } });
  const { events } = await scene.call(NUMBER);
  const { cause } = await events.next("ended", 5_000);
  return [events.types, cause];
}

const UNAVAILABLE_CALLEE: Script = { status: 480, reason: "Temporarily Unavailable" };

describe("a ringing phone", () => {
  test.each([
    ["180", { rings: [180, 180] }],
    ["183 with Alert-Info", { rings: [183, 183], allFields: [["Alert-Info", "<urn:alert:service:normal>"]] }],
    ["both", { rings: [183, 180, 183], allFields: [["Alert-Info", "<urn:alert:service:normal>"]] }],
  ] as const)("is reported once for %s", async (_, callee) => {
    expect(await eventsAndCause({ ...UNAVAILABLE_CALLEE, ...callee })).toEqual([
      ["placed", "alerting", "ended"],
      "no_answer",
    ]);
  });

  test.each([[[181]], [[182]], [[183]], [[181, 182, 183]]])("is not reported for %j", async (rings) => {
    expect(await eventsAndCause({ ...UNAVAILABLE_CALLEE, rings })).toEqual([["placed", "ended"], "unreachable"]);
  });

  test("is not reported for early media", async () => {
    const scene = await Scene.open({}, { callees: { [NUMBER]: { rings: [183, 183], earlyMedia: true } } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    await events.over;
    expect(events.types).toEqual(["placed", "early_media", "answered", "connected", "ended"]);
  });
});
