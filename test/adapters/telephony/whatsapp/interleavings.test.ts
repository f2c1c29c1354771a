import fc from "fast-check";
import { expect, test } from "vitest";
import { ANA, NumberScene, OWNER } from "./number-scene.ts";

type Incident = readonly [name: string, run: (scene: NumberScene) => unknown];

/** Causes of connection losses of a few seconds. */
const OUTAGES: readonly Incident[] = [
  ["503", ({ client }) => client.fail(503)],
  ["515", ({ client }) => client.streamError(515)],
  ["other stream error", ({ client }) => client.streamError("other")],
  ["drop", ({ client }) => client.dropSocket(2_000)],
];
const FAULTS: readonly Incident[] = [
  ["long drop", ({ client }) => client.dropSocket(Infinity)],
  ["connect hangs", ({ client }) => client.disturb("connect", "hang")],
  ["disconnect hangs", ({ client }) => client.disturb("disconnect", "hang")],
  ["disconnect fails", ({ client }) => client.disturb("disconnect", new Error("no"))],
  ["endCall hangs", ({ client }) => client.disturb("endCall", "hang")],
  ["the callee hangs up", ({ network }) => network.calls.at(-1)?.hangUp()],
];

const phase = fc.constantFrom({ does: "answer", afterMs: 500 } as const, { does: "nothing" } as const);
const pause = fc.constantFrom(0, 25, 60, 500, 2_000, 4_000);
const incidents = (choices: readonly Incident[], maxLength: number) =>
  fc.array(fc.tuple(fc.constantFrom(...choices), pause), { maxLength });

type Run = readonly (readonly [Incident, number])[];

/** A call from a number, with incidents before and after the core's hang-up. */
async function callWithIncidents(
  device: { does: "nothing" } | { does: "answer"; afterMs: number },
  before: Run,
  after: Run,
) {
  const scene = await NumberScene.openLinked();
  scene.network.number(ANA, { devices: [device] });
  const call = scene.dial();
  await scene.system.advance(1_000);
  for (const [[, run], ms] of before) {
    run(scene);
    await scene.system.advance(ms);
  }
  void call.leg?.hangUp();
  for (const [[, run], ms] of after) {
    run(scene);
    await scene.system.advance(ms);
  }
  await scene.system.advance(15 * 60_000);
  expect(call.events.filter(({ type }) => type === "ended")).toHaveLength(1);
  expect(await scene.line.probe()).toEqual({ state: "online" });
  expect(scene.clientCalls).toEqual([]);
  expect(scene.network.linkedDevices(OWNER)).toHaveLength(1);
  return scene;
}

test("a callee is notified of the end of a call despite short outages", async () => {
  await fc.assert(
    fc.asyncProperty(phase, incidents(OUTAGES, 2), incidents(OUTAGES, 1), async (device, before, after) => {
      const scene = await callWithIncidents(device, before, after);
      expect(scene.network.call().ended).toBeDefined();
    }),
    { numRuns: 30 },
  );
});

test("the client keeps no call, and the number is online again after any fault", async () => {
  const anyIncidents = incidents([...OUTAGES, ...FAULTS], 4);
  await fc.assert(
    fc.asyncProperty(
      phase,
      anyIncidents,
      anyIncidents,
      async (device, before, after) => void (await callWithIncidents(device, before, after)),
    ),
    { numRuns: 12 },
  );
});

test("an unlinked number leaves no device on the phone, despite short outages before", async () => {
  await fc.assert(
    fc.asyncProperty(incidents(OUTAGES, 4), async (before) => {
      const scene = await NumberScene.openLinked();
      for (const [[, run], ms] of before) {
        run(scene);
        await scene.system.advance(ms);
      }
      const unlinking = scene.line.unlink();
      await scene.system.advance(15_000);
      await unlinking;
      expect(scene.network.linkedDevices(OWNER)).toEqual([]);
      expect(scene.client.getState().connected).toBe(false);
      expect(scene.host.storedRecords.size).toBe(0);
    }),
    { numRuns: 30 },
  );
});
