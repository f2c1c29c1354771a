import { describe, expect, test } from "vitest";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { type FakeLoginRefusal, FakeWhatsApp } from "../../../../../src/testing/whatsapp/fake-whatsapp.ts";
import { SessionScene } from "./sessions.ts";

const HOUR_MS = 3_600_000;

/** Every refusal of a login by WhatsApp that does not unlink the device, and the number of logins in an hour. */
const REFUSALS: readonly (readonly [refusal: FakeLoginRefusal, maxLogins: number])[] = [
  [400, 10],
  [402, 1],
  [405, 4],
  [408, 10],
  [409, 1],
  [411, 10],
  [415, 10],
  [418, 10],
  [429, 10],
  [440, 10],
  [499, 10],
  [500, 20],
  [501, 20],
  [503, 20],
  [515, 20],
  ["other", 20],
  ["drop", 20],
];

describe.each([
  ["after the connection opened", false],
  ["at once", true],
])("a login that is refused %s", (_, refusesAtOnce) => {
  async function restartRefused(
    refuses: FakeLoginRefusal,
    refusalAttrs: Readonly<Record<string, string>> = {},
  ): Promise<SessionScene> {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    Object.assign(scene.network, { refuses, refusalAttrs, refusesAtOnce });
    scene.network.logins.length = 0;
    scene.takeReports();
    scene.open();
    return scene;
  }

  test.each(REFUSALS)(
    "with %s costs at most %i logins in an hour, and no online report",
    async (refusal, maxLogins) => {
      const scene = await restartRefused(refusal);
      await scene.system.advance(HOUR_MS);
      expect(scene.network.logins.length).toBeGreaterThanOrEqual(1);
      expect(scene.network.logins.length).toBeLessThanOrEqual(maxLogins);
      expect(scene.takeReports()).not.toContain("online");
      expect(scene.client.getState().connected).toBe(false);
      expect(scene.host.storedRecords.size).toBeGreaterThan(0);
    },
  );

  test("with 402 costs two logins if WhatsApp names the end, and the next one clears the restriction", async () => {
    const scene = await restartRefused(402, { code: "101", expire: "86400" });
    await scene.system.advance(60_000);
    expect(scene.session.probe()).toEqual({
      state: "offline",
      reason: "WhatsApp has restricted the number until 2026-01-02 00:00 UTC (402)",
    });
    expect(scene.conditions).toEqual(["restricted"]);
    await scene.system.advance(23.9 * HOUR_MS);
    scene.network.refuses = undefined;
    await scene.system.advance(HOUR_MS);
    expect(scene.network.logins.map(({ refused: code }) => code)).toEqual([402, undefined]);
    expect(scene.isOnline).toBe(true);
  });

  test("with 402 costs at most three logins a day without a named end", async () => {
    const scene = await restartRefused(402);
    await scene.system.advance(24 * HOUR_MS);
    expect(scene.network.logins.length).toBeLessThanOrEqual(3);
    scene.network.refuses = undefined;
    await scene.system.advance(48 * HOUR_MS);
    expect(scene.isOnline).toBe(true);
  });
});

describe("a client's unrequested login", () => {
  /** Runs a scene for an hour in which this event follows each accepted login. */
  async function runDisturbedHour(
    disturb: (scene: SessionScene) => void,
    prepare: (scene: SessionScene) => void = () => {},
  ): Promise<SessionScene> {
    const scene = await new SessionScene().linkNumber();
    prepare(scene);
    scene.network.logins.length = 0;
    scene.client.on("debug_connection_success", () => disturb(scene));
    disturb(scene);
    await scene.system.advance(HOUR_MS);
    expect(scene.network.logins.length).toBeGreaterThanOrEqual(10);
    expect(scene.network.clients).toHaveLength(1);
    return scene;
  }

  test("counts if each login's stream ends", async () => {
    const scene = await runDisturbedHour(({ client }) => client.streamError("other"));
    expect(scene.network.logins.length).toBeLessThanOrEqual(20);
  });

  test("also counts during a call", async () => {
    const scene = await runDisturbedHour(
      ({ client }) => client.streamError("other"),
      (number) => void number.call(),
    );
    expect(scene.network.logins.length).toBeLessThanOrEqual(20);
  });

  test("counts if the client silently opens another socket", async () => {
    const scene = await runDisturbedHour(({ client }) => client.dropSocket(25));
    // Such a login is detected only once it is accepted, so there may be one too many.
    expect(scene.network.logins.length).toBeLessThanOrEqual(21);
  });

  test("is not an outage if it happens once", async () => {
    for (const cause of ["other", "drop"] as const) {
      const scene = await new SessionScene().linkNumber();
      scene.network.logins.length = 0;
      if (cause === "drop") scene.client.dropSocket(25);
      else scene.client.streamError(cause);
      await scene.system.advance(HOUR_MS);
      expect(scene.network.logins).toHaveLength(1);
      expect(scene.takeReports()).toEqual([]);
    }
  });

  test("counts during a call even if the socket closes before WhatsApp accepts it", async () => {
    const network = new FakeWhatsApp(new ManualSystem({ seed: 1 }), { latencyMs: 250 });
    const scene = await new SessionScene({ network }).linkNumber();
    scene.call();
    network.logins.length = 0;
    network.refuses = "drop";
    scene.client.dropSocket();
    await scene.system.advance(HOUR_MS);
    expect(network.logins.length).toBeGreaterThanOrEqual(10);
    expect(network.logins.length).toBeLessThanOrEqual(20);
  });
});

describe("after a restart", () => {
  /** Restarts the server after a second, and runs it for `ms`. */
  async function restart(scene: SessionScene, ms: number): Promise<void> {
    await scene.session.close();
    await scene.system.advance(1_000);
    scene.takeReports();
    scene.open();
    await scene.system.advance(ms);
  }

  test.each([
    ["with an end", { expire: "86400" }, "until 2026-01-02 00:00 UTC (402)", 24 * HOUR_MS],
    ["without an end", {}, "for a while (402)", 9 * HOUR_MS],
  ] as const)("a restriction %s continues without a login", async (_, attrs, reason, ms) => {
    const scene = await new SessionScene().linkNumber();
    scene.client.fail(402, attrs);
    await scene.system.advance(60_000);
    scene.network.logins.length = 0;
    for (let hour = 1; hour <= 5; hour++) await restart(scene, HOUR_MS);
    expect(scene.network.logins).toEqual([]);
    expect(scene.takeReports()).toEqual(["offline", "condition"]);
    expect(scene.conditions.at(-1)).toBe("restricted");
    expect(scene.session.probe()).toEqual({ state: "offline", reason: expect.stringContaining(reason) });
    await scene.system.advance(ms - 5 * HOUR_MS);
    expect(scene.network.logins).toHaveLength(1);
    expect(scene.isOnline).toBe(true);
  });

  test("a second restriction without an end is checked twice as late", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.refuses = 402;
    scene.client.fail(402);
    await restart(scene, 10 * HOUR_MS);
    await restart(scene, HOUR_MS);
    expect(scene.network.logins.filter(({ refused }) => refused === 402)).toHaveLength(1);
    await scene.system.advance(12 * HOUR_MS);
    expect(scene.network.logins.filter(({ refused }) => refused === 402)).toHaveLength(1);
  });

  test("the logins of the last hour count", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.system.advance(HOUR_MS);
    scene.network.logins.length = 0;
    for (let start = 1; start <= 30; start++) await restart(scene, 30_000);
    expect(scene.network.logins).toHaveLength(20);
    expect(scene.session.probe()).toEqual({
      state: "offline",
      reason: expect.stringContaining("has logged in 20 times within an hour, and logs in again at"),
    });
    await scene.system.advance(HOUR_MS);
    expect(scene.isOnline).toBe(true);
  });

  test("an unreadable or unknown record does not keep the number offline", async () => {
    const scene = await new SessionScene().linkNumber();
    for (const text of ["", "[]", "null", '{"logins":"many","restriction":{"reason":7}}', '{"logins":[1e999,null]}']) {
      scene.host.storedRecords.set("ringport/logins", new TextEncoder().encode(text));
      await restart(scene, 1_000);
      expect(scene.isOnline).toBe(true);
    }
    const { records } = scene.host;
    const get = records.get.bind(records);
    Object.assign(records, {
      get: (keys: readonly string[]) => (keys.includes("ringport/logins") ? new Promise(() => {}) : get(keys)),
    });
    await restart(scene, 5_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.logLines.join()).toContain("the logins of an earlier process could not be read");
  });

  test("a newly linked number has no past logins", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.fail(402, { expire: "86400" });
    await scene.system.advance(1_000);
    const unlinking = scene.session.unlink();
    await scene.system.advance(10_000);
    await unlinking;
    expect(scene.host.storedRecords.size).toBe(0);
    await scene.linkNumber();
    await restart(scene, 1_000);
    expect(scene.isOnline).toBe(true);
  });
});
