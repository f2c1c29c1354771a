import { describe, expect, test } from "vitest";
import type { Instance } from "../../src/domain/instances/instance.ts";
import { createRingport } from "../../src/ringport.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ScriptedTelephony } from "../../src/testing/scripted-telephony.ts";
import { ALICE, ToneSpeech, World } from "../support/application.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const neverSettles = new Promise<never>(() => {});

/** A promise that the test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The error that configure fails with, and the time until it does, ms. */
async function refusal(world: World, instance: Instance): Promise<{ code: string; message: string; ms: number }> {
  const startedAt = world.system.monotonic();
  let outcome: { code: string; message: string; ms: number } | undefined;
  world.app.instances.configure(ALICE, instance.id).catch(({ code, message }) => {
    outcome = { code, message, ms: world.system.monotonic() - startedAt };
  });
  await world.system.advance(60_000);
  if (!outcome) throw new Error("configure was not refused within a minute");
  return outcome;
}

/** Duration of a stop, ms. */
async function stopMs(world: World): Promise<number> {
  const startedAt = world.system.monotonic();
  let ms: number | undefined;
  void world.app.stop(0).then(() => {
    ms = world.system.monotonic() - startedAt;
  });
  await world.system.advance(60_000);
  if (ms === undefined) throw new Error("the application did not stop within a minute");
  expect(world.system.waiting, "no timer is left").toBe(0);
  return ms;
}

describe("a network that does not respond", () => {
  test("makes configure fail after ten seconds while a line is opening, with the reason", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    world.network.openBarrier = neverSettles;
    const message = expect.stringContaining("the network did not");
    expect(await refusal(world, instance)).toEqual({ code: "qr_unavailable", message, ms: 10_000 });
    const { connection } = await world.app.instances.get(ALICE, instance.id);
    expect(connection).toMatchObject({
      state: "unlinked",
      reason: "the network did not open the line within 10000 ms",
    });
    world.network.openBarrier = undefined;
    expect((await world.app.instances.configure(ALICE, instance.id)).sequence).toBe(1);
    await world.stop();
  });

  test("makes configure fail after ten seconds when linking starts, with the reason", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    world.line(instance).linkBarrier = neverSettles;
    const message = expect.stringContaining("the network did not respond within 10000 ms");
    expect(await refusal(world, instance)).toEqual({ code: "qr_unavailable", message, ms: 10_000 });
    await world.stop();
  });

  test("makes configure fail after ten seconds with operator linking", async () => {
    const world = await World.start({ capabilities: { linking: "operator" } });
    world.network.openBarrier = neverSettles;
    const instance = await world.newInstance();
    const { code, ms } = await refusal(world, instance);
    expect(code).toBe("qr_unavailable");
    expect(ms).toBeLessThanOrEqual(10_000);
    await stopMs(world);
  });

  test("does not delay a stop while a line opens", async () => {
    const world = await World.start();
    await world.activeInstance();
    const restartedWorld = new World({ before: world });
    restartedWorld.network.openBarrier = neverSettles;
    await restartedWorld.app.start();
    expect(await stopMs(restartedWorld)).toBeLessThanOrEqual(5_000);
  });

  test("delays a stop by five seconds while a line is closing", async () => {
    const world = await World.start();
    for (let n = 0; n < 3; n++) world.line(await world.activeInstance()).closeBarrier = neverSettles;
    expect(await stopMs(world)).toBe(5_000);
    expect(world.warnings.map(({ err }) => String(err)).join()).toContain("the line did not close within 5000 ms");
  });
});

test("a network that never closes delays the stop by five seconds", async () => {
  const system = new ManualSystem();
  const telephony = new ScriptedTelephony(system);
  telephony.closeBarrier = neverSettles;
  const warnings: unknown[] = [];
  const log = { debug() {}, info() {}, warn: (_: object, message: string) => void warnings.push(message), error() {} };
  const speech = new ToneSpeech();
  const ringport = createRingport({ system, telephony, speech, log, data: temporaryFolder("bounds") });
  await ringport.start();
  let isStopped = false;
  const stop = ringport.stop({ drainMs: 0 }).then(() => {
    isStopped = true;
  });
  await expect.poll(() => system.waiting, { timeout: 10_000 }).toBe(1); // only the network is still running
  expect([isStopped, speech.isClosed]).toEqual([false, false]);
  await system.advance(5_000);
  await stop;
  expect(speech.isClosed).toBe(true);
  expect(warnings).toEqual(["the network scripted did not close properly"]);
});

describe("a line that opens too late", () => {
  test("is replaced, closed as soon as it opens, and its events are ignored", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const restartedWorld = new World({ before: world });
    const { opened, open } = gate();
    restartedWorld.network.openBarrier = opened;
    await restartedWorld.app.start();
    await restartedWorld.system.advance(10_000);
    restartedWorld.network.openBarrier = undefined;
    await restartedWorld.system.advance(5_000); // the next probe opens another line
    const [second] = restartedWorld.network.lines;
    expect((await restartedWorld.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    open();
    await restartedWorld.system.settle();
    const lateLine = restartedWorld.network.lines[1];
    expect([lateLine?.closed, second?.closed]).toEqual([true, false]);
    lateLine?.unlinkByOwner();
    await restartedWorld.system.settle();
    expect((await restartedWorld.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    await stopMs(restartedWorld);
  });

  test("is closed even after the server has stopped", async () => {
    const world = await World.start();
    await world.activeInstance();
    const restartedWorld = new World({ before: world });
    const { opened, open } = gate();
    restartedWorld.network.openBarrier = opened;
    await restartedWorld.app.start();
    await stopMs(restartedWorld);
    open();
    await restartedWorld.system.settle();
    expect(restartedWorld.network.lines.map(({ closed }) => closed)).toEqual([true]);
  });
});
