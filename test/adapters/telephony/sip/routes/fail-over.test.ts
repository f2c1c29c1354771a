import { afterEach, describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../../../src/audio/tones/tone.ts";
import { realSystem, type System } from "../../../../../src/ports/system.ts";
import { DialError, type LineHealth } from "../../../../../src/ports/telephony.ts";
import { TestLineHost } from "../../../../../src/testing/telephony-host.ts";
import type { PlacedCall } from "../../../../../src/testing/telephony-network.ts";
import { datagramPeer, streamPeer } from "../../../../sip-stack/transport/sockets.ts";
import type { Script } from "../../../../support/sip/far-end.ts";
import { invites, type RouteScene, routeEvents, routeScene } from "./route-scene.ts";

const NUMBER = "+12025550100";
const scenes: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const openedScene of scenes.splice(0).reverse()) await openedScene.close();
});

async function scene(...args: Parameters<typeof routeScene>): Promise<RouteScene> {
  const openedScene = await routeScene(...args);
  scenes.push(openedScene);
  return openedScene;
}

async function call({ network }: RouteScene): Promise<PlacedCall> {
  return await network.call(await network.linkedLine(), NUMBER);
}

/** The end of a call that we do not hang up, and the number of INVITEs at each server. */
async function endOf(
  setup: RouteScene,
): Promise<readonly [cause: string, detail: string | null, inviteCounts: number[]]> {
  const { events } = await call(setup);
  const { cause, detail } = await events.next("ended", 10_000);
  await events.over;
  return [cause, detail, setup.farEnds.map(invites)];
}

const refusalOf = (dialling: Promise<unknown>): Promise<DialError> =>
  dialling.then(
    () => Promise.reject(new Error("the call was placed")),
    (fault: unknown) => (fault instanceof DialError ? fault : Promise.reject(fault)),
  );

const refusingCallee = (status: number, rings: readonly number[] = []): Script => ({ rings, status, reason: "No" });

/** A system whose time runs faster than the clock by this factor. */
const fasterSystem = (factor: number): System => ({
  now: realSystem.now,
  random: realSystem.random,
  monotonic: () => realSystem.monotonic() * factor,
  after: (ms, run) => realSystem.after(ms / factor, run),
});

describe("a call that the first trunk does not accept", () => {
  test.each([500, 503, 580])("continues over the second after %i, as one call", async (status) => {
    const setup = await scene([{ callee: refusingCallee(status) }, { callee: { says: { hz: 1_000 } } }]);
    const { leg, events, playout, recorder } = await call(setup);
    playout.enqueue(tone(440, 3_000, 8_000, 8_000));
    await events.next("connected", 5_000);
    await setup.network.until(() => recorder.frames.length >= 40, "the callee's audio");
    const [, second] = setup.farEnds;
    await setup.network.until(() => second!.calls[0]!.heard.length >= 6_400, "our audio");
    await leg.hangUp();
    await events.over;
    expect(setup.farEnds.map(invites)).toEqual([1, 1]);
    expect(setup.farEnds[0]!.calls[0]!.count("ACK")).toBe(1);
    expect(toneShare(recorder.heard().subarray(1_600, 4_800), 1_000, 8_000)).toBeGreaterThan(0.9);
    expect(toneShare(second!.calls[0]!.heard.subarray(1_600, 4_800), 440, 8_000)).toBeGreaterThan(0.9);
    const [firstCallId, secondCallId] = setup.farEnds.map(({ calls }) => calls[0]!.callId);
    expect(firstCallId).not.toBe(secondCallId);
    const expectedTypes = ["noted", "placed", "noted", "alerting", "answered", "connected", "ended"];
    expect(events.types).toEqual(expectedTypes);
    expect(routeEvents(events.all)).toEqual([
      { trunk: "first", attempt: 1, reason: null, sip_call_id: firstCallId },
      {
        trunk: "second",
        attempt: 2,
        reason: expect.stringMatching(`^trunk first: SIP ${status} No`),
        sip_call_id: secondCallId,
      },
    ]);
  });

  test("continues over the second after refused TCP", async () => {
    const closedPeer = await streamPeer();
    await closedPeer.close();
    const server = `sip:127.0.0.1:${closedPeer.port};transport=tcp`;
    const setup = await scene([{ server, probe: "none" }, { callee: refusingCallee(486) }]);
    expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [0, 1]]);
  });

  // Deno reports no ICMP errors: the INVITE may have arrived.
  test.skipIf("Deno" in globalThis)("continues over the second after an ICMP error", async () => {
    const closedPeer = await datagramPeer();
    await closedPeer.close();
    const server = `sip:127.0.0.1:${closedPeer.port}`;
    const setup = await scene([{ server, probe: "none" }, { callee: refusingCallee(486) }]);
    expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [0, 1]]);
  });

  test("continues over the second after an unknown name", async () => {
    const setup = await scene([{ server: "sip:nowhere.invalid", probe: "none" }, { callee: refusingCallee(486) }]);
    expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [0, 1]]);
  });

  test("ends with the last refusal, naming every trunk", async () => {
    const setup = await scene([{ callee: refusingCallee(500) }, { callee: refusingCallee(503) }, { maxCalls: 1 }]);
    const third = await setup.separateNetworks[2]!.call(await setup.separateNetworks[2]!.linkedLine(), NUMBER);
    await third.events.next("connected", 5_000);
    const [cause, detail, inviteCounts] = await endOf(setup);
    expect(cause).toBe("unreachable");
    expect(detail).toMatch(/^trunk first: SIP 500 No; trunk second: SIP 503 No.*; trunk third: .*maxCalls is 1/);
    expect(inviteCounts).toEqual([1, 1, 1]);
    await third.leg.hangUp();
  });
});

describe("no other trunk is tried", () => {
  test.each([180, 181, 183, 199])("after %i, whatever follows", async (progress) => {
    const setup = await scene([{ callee: refusingCallee(503, [progress]) }, {}]);
    expect(await endOf(setup)).toEqual(["unreachable", expect.stringMatching(/^trunk first: SIP 503 No/), [1, 0]]);
  });

  test.each([
    [404, "number_invalid"],
    [480, "unreachable"],
    [486, "busy"],
    [600, "busy"],
    [603, "declined"],
    [302, "rejected_by_network"],
  ])("after a final %i", async (status, cause) => {
    const setup = await scene([{ callee: refusingCallee(status) }, {}]);
    const text = expect.stringMatching(`^trunk first: SIP ${status} No`);
    expect(await endOf(setup)).toEqual([cause, text, [1, 0]]);
  });

  test("after an INVITE without any response", async () => {
    const setup = await scene([{ probe: "none" }, { probe: "none" }], { system: fasterSystem(16) });
    setup.farEnds[0]!.isUnplugged = true;
    const { events } = await call(setup);
    const { cause, detail } = await events.next("ended", 10_000);
    expect([cause, detail]).toEqual(["unreachable", expect.stringMatching(/^trunk first: INVITE .* no response/)]);
    expect(routeEvents(events.all)).toHaveLength(1);
    expect(setup.farEnds.map(invites)).toEqual([0, 0]);
  });

  test("after an INVITE on a connection that broke", async () => {
    const peer = await streamPeer();
    scenes.push(peer);
    const server = `sip:127.0.0.1:${peer.port};transport=tcp`;
    const setup = await scene([{ server, probe: "none" }, {}]);
    const outcome = endOf(setup);
    await setup.network.until(() => peer.received().includes("INVITE"), "the INVITE");
    for (const socket of peer.sockets) socket.destroy();
    expect(await outcome).toEqual(["unreachable", expect.stringMatching(/^trunk first: /), [0, 0]]);
  });

  test("after the deadline for dialling", async () => {
    const setup = await scene([{ callee: { ...refusingCallee(503), afterMs: 300 } }, {}]);
    const { line, host } = await setup.network.link();
    const { events } = await setup.network.call(line, NUMBER);
    await setup.farEnds[0]!.call();
    host.deadlines.dial = 0;
    const { cause, detail } = await events.next("ended", 10_000);
    expect([cause, setup.farEnds.map(invites)]).toEqual(["unreachable", [1, 0]]);
    expect(detail).toMatch(
      /^trunk first: SIP 503 No.*; trunk second: the lease on the database was not renewed in time/,
    );
  });

  test("if the call is hung up before the second INVITE", async () => {
    const setup = await scene([{ callee: refusingCallee(503) }, { callsPerSecond: 2 }]);
    const [first, second] = setup.farEnds;
    const directNetwork = setup.separateNetworks[1]!;
    const line = await directNetwork.linkedLine();
    const earlierCall = await directNetwork.call(line, NUMBER); // takes the second trunk's turn
    const { leg, events } = await call(setup);
    await setup.network.until(() => first!.calls[0]?.count("ACK") === 1, "the refusal");
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
    const laterCall = await directNetwork.call(line, NUMBER); // takes the turn after the one that the call waited for
    await laterCall.events.next("connected", 5_000);
    expect(setup.farEnds.map(invites)).toEqual([1, 2]);
    expect(second!.calls).toHaveLength(2);
    await Promise.all([earlierCall.leg.hangUp(), laterCall.leg.hangUp()]);
  });
});

describe("a trunk is skipped", () => {
  test("at its limit; if no other trunk is left, the call waits", async () => {
    const setup = await scene([{ maxCalls: 1 }, { maxCalls: 1 }]);
    const line = await setup.network.linkedLine();
    const placeCall = () => setup.network.call(line, NUMBER);
    const calls = [await placeCall(), await placeCall()];
    for (const { events } of calls) await events.next("connected", 5_000);
    expect(setup.farEnds.map(invites)).toEqual([1, 1]);
    expect(routeEvents(calls[1]!.events.all)).toEqual([
      {
        trunk: "second",
        attempt: 1,
        reason: expect.stringMatching(/^trunk first: .*maxCalls is 1/),
        sip_call_id: expect.any(String),
      },
    ]);
    const dialError = await refusalOf(placeCall());
    expect(dialError).toMatchObject({ release: "line_lost", retryAfterMs: 1_000 });
    expect(dialError.message).toMatch(/trunk first: .*maxCalls is 1.*; trunk second: .*maxCalls is 1/);
    await calls[0]!.leg.hangUp();
    const nextCall = await placeCall();
    await nextCall.events.next("connected", 5_000);
    expect(setup.farEnds.map(invites)).toEqual([2, 1]);
    await Promise.all([calls[1]!, nextCall].map(({ leg }) => leg.hangUp()));
  });

  test("during a Retry-After, for every call", async () => {
    const overloadedCallee: Script = { ...refusingCallee(503), fields: [["Retry-After", "30"]] };
    const setup = await scene([{ callee: overloadedCallee }, { callee: refusingCallee(486) }]);
    for (let n = 1; n <= 2; n++) expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [1, n]]);
    const [directNetwork] = setup.separateNetworks;
    const dialError = await refusalOf(directNetwork!.call(await directNetwork!.linkedLine(), NUMBER));
    expect(dialError.release).toBe("line_lost");
    expect(dialError.retryAfterMs).toBeGreaterThan(25_000);
    expect(setup.farEnds.map(invites)).toEqual([1, 2]);
  });

  test("if it refuses or cannot write the number", async () => {
    const setup = await scene([
      { allowedPrefixes: ["+49"] },
      { numberFormat: "0{national:49}" },
      { callee: refusingCallee(486) },
    ]);
    expect(await endOf(setup)).toEqual(["busy", "trunk third: SIP 486 No", [0, 0, 1]]);
  });

  test("while offline; the line is online if any trunk is", async () => {
    const setup = await scene([{}, { callee: refusingCallee(486) }], { system: fasterSystem(8) });
    const [first, second] = setup.farEnds;
    first!.health = 503;
    expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [0, 1]]);
    second!.health = 503;
    const host = new TestLineHost();
    const { line } = await setup.network.open(host);
    await host.reports.next("online", 5_000);
    const { reason } = await host.reports.next("offline", 10_000);
    const offlineHealth: LineHealth = { state: "offline", reason };
    expect(reason).toMatch(/^trunk first: .*SIP 503.*; trunk second: .*SIP 503/);
    expect(await line.probe()).toMatchObject(offlineHealth);
    expect((await refusalOf(setup.network.call(line, NUMBER))).release).toBe("line_lost");
    first!.health = 200;
    await host.reports.next("online", 10_000, host.reports.all.length);
    const { leg, events } = await setup.network.call(line, NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    expect(setup.farEnds.map(invites)).toEqual([1, 1]);
  });
});

test("a route has a lasting fault only if all trunks have one", async () => {
  const account = { user: "100", password: "wrong", register: true };
  const setup = await scene([account, account], { system: fasterSystem(8) });
  const [first, second] = setup.farEnds;
  first!.health = 403;
  second!.health = 503;
  const host = new TestLineHost();
  const { line } = await setup.network.open(host);
  expect(await host.reports.next("offline", 10_000)).not.toHaveProperty("lasting");
  second!.health = 403;
  await setup.network.until(() => host.reports.all.some((report) => "lasting" in report), "a lasting fault", 10_000);
  expect(await line.probe()).toMatchObject({ reason: expect.stringMatching(/403.*403/), lasting: true });
});

test("only the longest prefix's trunks are tried", async () => {
  const route = {
    trunks: [
      { trunk: "first" },
      { trunk: "second", prefixes: ["+1", "+1202"] },
      { trunk: "third", prefixes: ["+1202"], order: 1 },
    ],
  };
  const setup = await scene([{}, { callee: refusingCallee(486) }, { callee: refusingCallee(500) }], { route });
  expect(await endOf(setup)).toEqual(["busy", "trunk second: SIP 486 No", [0, 1, 1]]);
});
