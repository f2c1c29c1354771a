import { describe, expect, test } from "vitest";
import type { FakeWhatsAppOptions } from "../../../../src/testing/index.ts";
import { type DialledCall, NumberScene, OWNER } from "./number-scene.ts";

const CONTACT = "+12025550101";
const HOUR = 3_600_000;

/** A linked number whose owner has a message from one contact. */
async function linkWithContact(options?: FakeWhatsAppOptions): Promise<NumberScene> {
  const scene = await NumberScene.openLinked(1, undefined, options);
  scene.network.write(CONTACT, OWNER);
  await scene.system.advance(1_000);
  return scene;
}

/** Calls a number and hangs up after a second. */
async function call(scene: NumberScene, to: string): Promise<DialledCall> {
  const dialledCall = scene.dial(to);
  await scene.system.advance(1_000);
  const hangUp = dialledCall.leg?.hangUp();
  await scene.system.advance(5_000);
  await hangUp;
  return dialledCall;
}

/** Calls this many strangers in succession. */
async function callStrangers(scene: NumberScene, count: number): Promise<DialledCall[]> {
  const dialledCalls: DialledCall[] = [];
  for (let i = 0; i < count; i++) dialledCalls.push(await call(scene, `+1202555020${i}`));
  return dialledCalls;
}

const endOf = ({ events }: DialledCall) => events.find((event) => event.type === "ended");

describe("a number that may not call strangers (463)", () => {
  test("offers one of five calls, and fails the others without an offer", async () => {
    const scene = await linkWithContact({ timelock: false });
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    const dialledCalls = await callStrangers(scene, 5);
    expect(scene.network.calls).toHaveLength(1);
    const releases = dialledCalls.map(({ error }) => error?.release);
    expect(releases.slice(1)).toEqual(["paused", "paused", "paused", "paused"]);
    expect(dialledCalls[4]?.error?.message).toContain("463");
  });

  test("still calls its contacts, and shows the restriction with its end while it is online", async () => {
    const scene = await linkWithContact();
    const now = scene.system.now();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    await callStrangers(scene, 1);
    const health = await scene.line.probe();
    expect(health).toMatchObject({ state: "online", notice: { condition: "restricted" } });
    const until = health.state === "online" ? (health.notice?.until ?? 0) : 0;
    expect(Math.abs(until - now - 6 * HOUR)).toBeLessThan(2_000);
    expect(scene.host.lastCondition).toBe("restricted");
    const contactCall = await call(scene, CONTACT);
    expect(contactCall.error).toBeUndefined();
    expect(contactCall.events.map(({ type }) => type)).toContain("alerting");
  });

  test("detects the lock and its end before any offer, if the client supports it", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    await scene.system.advance(1_000);
    expect((await callStrangers(scene, 2)).map(({ error }) => error?.release)).toEqual(["paused", "paused"]);
    expect(scene.network.calls).toHaveLength(0);
    await scene.system.advance(6 * HOUR);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect((await callStrangers(scene, 1))[0]?.error).toBeUndefined();
  });

  test("tries one call an hour if the client does not report the lock", async () => {
    const scene = await linkWithContact({ timelock: false });
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers" });
    const [first] = await callStrangers(scene, 5);
    expect(endOf(first as DialledCall)).toMatchObject({
      cause: "rejected_by_network",
      detail: expect.stringMatching(/463/),
    });
    expect(scene.network.calls).toHaveLength(1);
    await scene.system.advance(HOUR);
    await callStrangers(scene, 5);
    expect(scene.network.calls).toHaveLength(2);
    scene.network.acceptOffers();
    await scene.system.advance(HOUR);
    expect((await callStrangers(scene, 1))[0]?.error).toBeUndefined();
  });

  test("calls no stranger before the lock ends, although its own clock is ahead", async () => {
    const scene = await linkWithContact();
    scene.setClock(10_000);
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: HOUR });
    await scene.system.advance(HOUR - 5_000);
    expect((await callStrangers(scene, 1))[0]?.error?.release).toBe("paused");
    expect(scene.network.calls).toHaveLength(0);
    await scene.system.advance(60_000);
    expect((await callStrangers(scene, 1))[0]?.error).toBeUndefined();
  });

  test("calls no stranger between a reconnect and the client's report about the lock", async () => {
    const scene = await linkWithContact();
    await callStrangers(scene, 1); // now their address is cached
    scene.network.reachable = false;
    await scene.system.advance(1_000);
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: HOUR });
    scene.client.disturb("getReachoutTimelock", { afterMs: 500 });
    scene.network.reachable = true;
    while ((await scene.line.probe()).state === "offline") await scene.system.advance(10);
    expect((await callStrangers(scene, 1))[0]?.error?.release).toBe("paused");
    expect(scene.network.calls).toHaveLength(1);
  });

  test("calls a stranger after 2 s if the client does not respond", async () => {
    const scene = await linkWithContact();
    scene.client.disturb("getReachoutTimelock", "hang");
    scene.client.dropSocket();
    await scene.system.advance(1_500);
    while ((await scene.line.probe()).state === "offline") await scene.system.advance(10);
    const dialledCall = scene.dial("+12025550200");
    await scene.system.advance(1_000);
    expect(scene.network.calls).toHaveLength(0);
    await scene.system.advance(1_500);
    expect(dialledCall.leg).toBeDefined();
  });

  test("calls no stranger if the lock starts during the lookup of the callee", async () => {
    const scene = await linkWithContact();
    const mayCall = () => new Promise<boolean>((resolve) => void scene.system.after(2_000, () => resolve(true)));
    const dialledCall = scene.dial("+12025550200", { mayCall });
    await scene.system.advance(500);
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: HOUR });
    await scene.system.advance(5_000);
    expect(dialledCall.error?.release).toBe("paused");
    expect(scene.network.calls).toHaveLength(0);
  });

  test("asks the client again after a reconnect", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    await scene.system.advance(1_000);
    scene.network.reachable = false;
    scene.network.acceptOffers(); // its notification is lost
    await scene.system.advance(60_000);
    scene.network.reachable = true;
    await scene.system.advance(10 * 60_000);
    expect(await scene.line.probe()).toEqual({ state: "online" });
  });
});

describe("a number that must wait between calls (429)", () => {
  test("sends no offer until the wait has ended, and waits longer after another refusal", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    const refusedCall = await call(scene, CONTACT);
    expect(refusedCall.events.map(({ type }) => type).filter((type) => type !== "noted")).toEqual(["ended"]);
    expect(endOf(refusedCall)).toMatchObject({ cause: "line_lost", detail: expect.stringMatching(/error 429$/) });
    const waitingCall = await call(scene, CONTACT);
    expect(waitingCall.error).toMatchObject({ release: "line_lost", retryAfterMs: expect.any(Number) });
    expect(waitingCall.error?.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(scene.network.calls).toHaveLength(1);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    await scene.system.advance(60_000);
    await call(scene, CONTACT);
    expect(scene.network.calls).toHaveLength(2);
    await scene.system.advance(60_000);
    expect((await call(scene, CONTACT)).error?.release).toBe("line_lost");
    scene.network.acceptOffers();
    await scene.system.advance(60_000);
    expect((await call(scene, CONTACT)).error).toBeUndefined();
    expect((await call(scene, CONTACT)).error).toBeUndefined();
  });
});

describe("a client that is too old to call (439)", () => {
  test("takes the line offline until another attempt", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 439 });
    await call(scene, CONTACT);
    expect(await scene.line.probe()).toMatchObject({
      state: "offline",
      lasting: true,
      reason: expect.stringMatching(/439/),
    });
    expect(scene.host.lastCondition).toBe("client_outdated");
    expect((await call(scene, CONTACT)).error?.release).toBe("line_lost");
    expect(scene.network.calls).toHaveLength(1);
    scene.network.acceptOffers();
    await scene.line.link();
    expect((await call(scene, CONTACT)).error).toBeUndefined();
  });
});

test("an unknown error fails its call alone", async () => {
  const scene = await linkWithContact();
  scene.network.number(CONTACT, { offer: { error: 403 } });
  const refusedCall = await call(scene, CONTACT);
  expect(endOf(refusedCall)).toMatchObject({
    cause: "rejected_by_network",
    detail: expect.stringMatching(/error 403$/),
  });
  expect(await scene.line.probe()).toEqual({ state: "online" });
  expect((await callStrangers(scene, 1))[0]?.error).toBeUndefined();
});

/** Ways in which another process gets the number. */
const NEXT_PROCESSES: readonly (readonly [string, (scene: NumberScene) => Promise<void>])[] = [
  ["a crash", (scene) => scene.restart()],
  [
    "a takeover",
    async (scene) => {
      await scene.takeOver();
      scene.client.dropSocket(Infinity); // the earlier process's client
    },
  ],
];

describe.each(NEXT_PROCESSES)("a number after %s", (_, moveProcess) => {
  async function moveNumber(scene: NumberScene): Promise<void> {
    await moveProcess(scene);
    await scene.system.advance(5_000);
    expect((await scene.line.probe()).state).toBe("online");
  }

  test("sends no offer before the end of a wait (429), and waits longer after another one", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    await call(scene, CONTACT);
    await moveNumber(scene);
    const waitingCall = await call(scene, CONTACT);
    expect(waitingCall.error).toMatchObject({ release: "line_lost", retryAfterMs: expect.any(Number) });
    expect(waitingCall.error?.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(scene.network.calls).toHaveLength(1);
    await scene.system.advance(60_000);
    await call(scene, CONTACT);
    expect(scene.network.calls).toHaveLength(2);
    await scene.system.advance(60_000);
    await moveNumber(scene);
    expect((await call(scene, CONTACT)).error?.release).toBe("line_lost");
    expect(scene.network.calls).toHaveLength(2);
  });

  test("offers no call to strangers before the end of their lock (463), and shows it", async () => {
    const scene = await linkWithContact({ timelock: false });
    const endsAt = scene.system.now() + HOUR;
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers" });
    await callStrangers(scene, 1);
    await moveNumber(scene);
    expect((await callStrangers(scene, 5)).map(({ error }) => error?.release)).toEqual(Array(5).fill("paused"));
    expect(scene.network.calls).toHaveLength(1);
    const health = await scene.line.probe();
    expect(health).toMatchObject({ state: "online", notice: { condition: "restricted" } });
    const until = health.state === "online" ? (health.notice?.until ?? 0) : 0;
    expect(Math.abs(until - endsAt)).toBeLessThan(10_000);
    expect((await call(scene, CONTACT)).error).toBeUndefined();
    await scene.system.advance(HOUR);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    await callStrangers(scene, 1);
    expect(scene.network.calls).toHaveLength(3);
  });

  test("offers no call to strangers in their lock if the client does not respond", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    await callStrangers(scene, 1);
    scene.network.onClient = (client) => client.disturb("getReachoutTimelock", "hang");
    await moveNumber(scene);
    await scene.system.advance(2 * HOUR);
    expect((await callStrangers(scene, 1))[0]?.error?.release).toBe("paused");
    expect(scene.network.calls).toHaveLength(0);
  });

  test("calls strangers again if WhatsApp has lifted the lock in the meantime", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: 6 * HOUR });
    await callStrangers(scene, 1);
    scene.kill();
    scene.network.acceptOffers();
    await moveNumber(scene);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect((await callStrangers(scene, 1))[0]?.error).toBeUndefined();
  });

  test("tries the updated client after 439", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 439 });
    await call(scene, CONTACT);
    scene.network.acceptOffers();
    await moveNumber(scene);
    expect((await call(scene, CONTACT)).error).toBeUndefined();
  });
});

describe("a number's stored limits", () => {
  const KEY = "ringport/offer-limits";

  test("are deleted once WhatsApp accepts an offer", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    await call(scene, CONTACT);
    expect(scene.host.storedRecords.has(KEY)).toBe(true);
    scene.network.acceptOffers();
    await scene.system.advance(60_000);
    await call(scene, CONTACT);
    expect(scene.host.storedRecords.has(KEY)).toBe(false);
  });

  test("are deleted once the lock on calls to strangers has ended", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 463, from: OWNER, to: "strangers", forMs: HOUR });
    await scene.system.advance(1_000);
    expect(scene.host.storedRecords.has(KEY)).toBe(true);
    await scene.system.advance(2 * HOUR);
    expect(scene.host.storedRecords.has(KEY)).toBe(false);
  });

  test("survive a graceful stop of the server", async () => {
    const scene = await linkWithContact();
    scene.network.refuseOffers({ error: 429, from: OWNER });
    await call(scene, CONTACT);
    const closing = scene.line.close();
    await scene.system.advance(5_000);
    await closing;
    await scene.takeOver();
    await scene.system.advance(5_000);
    expect((await call(scene, CONTACT)).error?.release).toBe("line_lost");
  });

  test.each(["", "{", "null", "[1, null, {}]", '[{"code":"403","endsAt":1e15,"times":1}]', '[{"code":"429"}]'])(
    "block no call if their record is %j",
    async (record) => {
      const scene = await linkWithContact();
      scene.host.storedRecords.set(KEY, new TextEncoder().encode(record));
      await scene.restart();
      await scene.system.advance(5_000);
      expect((await call(scene, CONTACT)).error).toBeUndefined();
    },
  );

  test("end within their maximum duration, even if the clock was set back", async () => {
    const scene = await linkWithContact({ timelock: false });
    const now = scene.system.now();
    const inTenYears = now + 3_660 * 24 * HOUR;
    const limits = ["429", "463"].map((code) => ({ code, endsAt: inTenYears, times: 1 }));
    scene.host.storedRecords.set(KEY, new TextEncoder().encode(JSON.stringify(limits)));
    await scene.restart();
    await scene.system.advance(5_000);
    const waitingCall = await call(scene, CONTACT);
    expect(waitingCall.error?.retryAfterMs).toBeLessThanOrEqual(HOUR);
    const health = await scene.line.probe();
    const until = health.state === "online" ? (health.notice?.until ?? 0) : 0;
    expect((until - now) / HOUR / 24).toBeCloseTo(366);
  });
});
