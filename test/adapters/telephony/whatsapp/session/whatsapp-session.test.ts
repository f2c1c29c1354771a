import { describe, expect, test } from "vitest";
import { whatsappStore } from "../../../../../adapters/telephony/whatsapp/store/whatsapp-store.ts";
import { DEADLINE_PASSED } from "../../../../../src/ports/telephony.ts";
import type { WhatsAppClientFactory } from "../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../../src/testing/telephony-host.ts";
import type { FakeWhatsAppClient } from "../../../../../src/testing/whatsapp/client.ts";
import { FakeWhatsApp } from "../../../../../src/testing/whatsapp/fake-whatsapp.ts";
import { PHONE, SessionScene } from "./sessions.ts";

/** A linked number, and the sessions with other devices that its client stores. */
async function linkWithSessions() {
  const scene = await new SessionScene().linkNumber();
  const { records, sessionId } = scene.client.context;
  return { scene, sessions: whatsappStore(records).backends.ringport.stores.session(sessionId) };
}

const keysOf = (scene: SessionScene, part: string): string[] =>
  [...scene.host.storedRecords.keys()].filter((key) => key.includes(part));

describe("linking", () => {
  test("codes have a sequence number, and expire when the client's time has passed", async () => {
    const scene = new SessionScene();
    const startedAt = scene.system.now();
    await scene.code();
    await scene.system.advance(90_000);
    const codes = scene.codes;
    expect(codes.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const lifetimes = codes.map(({ expiresAt }, index) => expiresAt - (codes[index - 1]?.expiresAt ?? startedAt));
    expect(lifetimes[0]).toBeGreaterThanOrEqual(60_000);
    expect(lifetimes.slice(1)).toEqual([20_000, 20_000]);
  });

  test("after six codes, silence is reported as qr_expired, and the client is disconnected", async () => {
    const scene = new SessionScene();
    await scene.code();
    await scene.system.advance(170_000);
    expect(scene.codes).toHaveLength(6);
    expect(scene.conditions).toEqual(["qr_expired"]);
    expect(scene.client.getState().connected).toBe(false);
  });

  test("a later request starts again, with a new client and sequence 1", async () => {
    const scene = new SessionScene();
    await scene.code();
    await scene.system.advance(170_000);
    await scene.code();
    expect(scene.codes.at(-1)?.sequence).toBe(1);
    expect(scene.network.clients).toHaveLength(2);
    const [first, second] = scene.network.clients.map(({ context }) => context.sessionId);
    expect(first).not.toBe(second);
  });

  test("two requests at once start one client", async () => {
    const scene = new SessionScene();
    await Promise.all([scene.session.link(), scene.code()]);
    expect(scene.network.clients).toHaveLength(1);
  });

  test("a scan is reported as linked with the phone's number, then online", async () => {
    const scene = new SessionScene();
    scene.network.scan(await scene.code(), PHONE);
    await scene.system.advance(1_000);
    expect(scene.reports).toEqual(["linked", "online"]);
    expect(scene.host.reports.all.find((report) => report.type === "linked")).toMatchObject({ phone: PHONE });
    expect(scene.isOnline).toBe(true);
  });

  test("no number is linked before all keys are stored, even if the storage is down for a while", async () => {
    const scene = new SessionScene();
    const qr = await scene.code();
    const { records } = scene.host;
    const set = records.set.bind(records);
    let storedCount = 0;
    let isDown = true;
    Object.assign(records, {
      async set(changes: Parameters<typeof set>[0]) {
        const { StorageUnavailable } = await import("../../../../../src/ports/storage.ts");
        if (isDown) throw new StorageUnavailable("the database does not respond");
        storedCount += changes.size;
        await set(changes);
      },
    });
    scene.network.scan(qr, PHONE);
    await scene.system.advance(5_000);
    expect(scene.reports).toEqual([]);
    isDown = false;
    await scene.system.advance(3_000);
    expect(storedCount).toBeGreaterThanOrEqual(1);
    expect(scene.reports).toEqual(["linked", "online"]);
  });

  test("a link waits for the client's writes", async () => {
    const scene = new SessionScene();
    scene.network.onClient = (client) =>
      client.on("auth_paired", () => void client.context.records.set(new Map([["late", new Uint8Array(1)]])));
    const qr = await scene.code();
    const { records } = scene.host;
    const set = records.set.bind(records);
    Object.assign(records, {
      async set(changes: Parameters<typeof set>[0]) {
        await new Promise<void>((resolve) => void scene.system.after(2_000, resolve));
        await set(changes);
      },
    });
    scene.network.scan(qr, PHONE);
    await scene.system.advance(3_000);
    expect(scene.reports).toEqual([]);
    await scene.system.advance(2_000);
    expect(scene.reports).toEqual(["linked", "online"]);
    expect(scene.host.storedRecords.has("late")).toBe(true);
  });

  test("a line stays offline while the core stores the link", async () => {
    const scene = new SessionScene();
    let release = () => {};
    scene.host.linkedBarrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    scene.network.scan(await scene.code(), PHONE);
    await scene.system.advance(5_000);
    expect(scene.session.probe()).toEqual({ state: "offline", reason: "the link is being stored" });
    expect(scene.reports).toEqual([]);
    release();
    await scene.system.advance(0);
    expect(scene.reports).toEqual(["linked", "online"]);
  });

  test("a link that the core refuses is removed at WhatsApp, with its keys", async () => {
    const scene = new SessionScene();
    scene.host.linkedBarrier = Promise.reject(new Error("the instance is deleted"));
    scene.host.linkedBarrier.catch(() => {});
    scene.network.scan(await scene.code(), PHONE);
    await scene.system.advance(10_000);
    expect(scene.host.storedRecords.size).toBe(0);
    expect(scene.network.linkedDevices(PHONE)).toEqual([]);
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.session.hasLink).toBe(false);
  });

  test("a pairing code also links, and is a condition until then", async () => {
    const scene = new SessionScene();
    const pairing = scene.session.pairingCode(PHONE, new AbortController().signal);
    await scene.system.advance(1_000);
    const { code, expiresAt } = await pairing;
    expect(expiresAt).toBeGreaterThan(scene.system.now() + 170_000);
    expect(scene.conditions).toEqual(["pairing_code"]);
    scene.network.typeCode(code, PHONE);
    await scene.system.advance(1_000);
    expect(scene.reports).toEqual(["condition", "linked", "online"]);
  });

  test("the same number gets the same pairing code while that is valid, another one a new code", async () => {
    const scene = new SessionScene();
    const requestCode = async (phone: string) => {
      const pairing = scene.session.pairingCode(phone, new AbortController().signal);
      await scene.system.advance(1_000);
      return await pairing;
    };
    const first = await requestCode(PHONE);
    expect(await requestCode(PHONE)).toEqual(first);
    expect((await requestCode("+5511987654321")).code).not.toBe(first.code);
    scene.client.refreshCode();
    expect(scene.conditions.at(-1)).toBeUndefined();
    expect((await requestCode("+5511987654321")).code).not.toBe(first.code);
  });

  test("a pairing code that is refused or never arrives is a silent network", async () => {
    for (const fault of ["hang", new Error(`companion hello for ${PHONE.slice(1)}: rate-overlimit`)] as const) {
      const scene = new SessionScene();
      await scene.code();
      scene.client.disturb("requestPairingCode", fault);
      const pairing = scene.session.pairingCode(PHONE, new AbortController().signal).catch((error: unknown) => error);
      await scene.system.advance(30_000);
      expect(await pairing).toMatchObject({
        code: "network_silent",
        message: expect.stringContaining("no pairing code"),
      });
      expect(scene.logLines.join()).not.toContain("5511912345678");
    }
  });

  test("an account with a passkey cannot be linked, and the reason is reported", async () => {
    const scene = new SessionScene();
    scene.network.needsPasskey = true;
    scene.network.scan(await scene.code(), PHONE);
    await scene.system.advance(1_000);
    expect(scene.conditions).toEqual(["passkey_required"]);
    expect(scene.client.getState().connected).toBe(false);
  });

  test("a client that cannot be created fails the request, and is retried", async () => {
    let attempts = 0;
    const scene = new SessionScene({
      client: () => {
        attempts++;
        throw new Error("Cannot find package 'zapo-js'");
      },
    });
    await expect(scene.session.link()).rejects.toThrow("the WhatsApp client could not be created");
    expect(scene.logLines.join()).toContain("Cannot find package 'zapo-js'");
    await scene.system.advance(60_000);
    expect(attempts).toBeGreaterThan(2);
    expect(scene.reports).toEqual(["condition"]);
  });

  test("a factory without a client is called again", async () => {
    const scene = new SessionScene();
    let factoryCalls = 0;
    scene.open((context) => (factoryCalls++ < 2 ? (undefined as never) : scene.network.client(context)));
    await expect(scene.session.link()).rejects.toThrow("the WhatsApp client could not be created");
    expect(scene.logLines.join()).toContain("the factory `client` returned no WhatsApp client");
    await scene.system.advance(20_000);
    expect(scene.codes.length).toBeGreaterThanOrEqual(1);
  });

  test("a hanging factory is abandoned, and a late client is not connected", async () => {
    const scene = new SessionScene();
    let resolveClient = () => {};
    scene.session = scene.open(
      (context) =>
        new Promise((resolve) => {
          resolveClient = () => resolve(scene.network.client(context));
        }),
    );
    const linking = scene.session.link().catch(() => {});
    await scene.system.advance(35_000);
    await linking;
    await scene.session.close();
    resolveClient();
    await scene.system.advance(5_000);
    expect(scene.network.clients.map((client) => client.getState().connected)).toEqual([false]);
  });

  test("a socket that drops before the scan reopens with new codes", async () => {
    const scene = new SessionScene();
    await scene.code();
    scene.client.dropSocket();
    await scene.system.advance(5_000);
    expect(scene.codes.map(({ sequence }) => sequence)).toEqual([1, 2]);
    scene.network.scan(scene.codes.at(-1)?.payload ?? "", PHONE);
    await scene.system.advance(1_000);
    expect(scene.isOnline).toBe(true);
  });

  test("an outdated client is reported while linking", async () => {
    const scene = new SessionScene();
    scene.network.refuses = 405;
    const linking = scene.session.link();
    linking.catch(() => {});
    await scene.system.advance(1_000);
    await expect(linking).rejects.toThrow("(405)");
    expect(scene.conditions).toEqual(["client_outdated"]);
    expect(scene.logLines.some((line) => line.startsWith("error"))).toBe(true);
  });

  test("an overloaded WhatsApp is retried for a code", async () => {
    const scene = new SessionScene();
    scene.network.refuses = 503;
    const linking = scene.session.link();
    linking.catch(() => {});
    await scene.system.advance(1_000);
    await expect(linking).rejects.toThrow("WhatsApp is unavailable (503)");
    scene.network.refuses = undefined;
    await scene.system.advance(30_000);
    expect(scene.codes.length).toBeGreaterThanOrEqual(1);
  });
});

describe("a linked session", () => {
  test("opens again after a restart without a code, with the same keys", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    expect(scene.clientRecords).toBe(1);
    const codes = scene.codes.length;
    scene.open();
    await scene.system.advance(1_000);
    expect(scene.takeReports()).toEqual(["online"]);
    expect(scene.isOnline).toBe(true);
    expect(scene.codes).toHaveLength(codes);
    const [first, second] = scene.network.clients.map(({ context }) => context.sessionId);
    expect(first).toBe(second);
  });

  test("notices a dropped socket and its return", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.reachable = false;
    await scene.system.advance(5_000);
    expect(scene.takeReports()).toEqual(["offline"]);
    expect(scene.isOnline).toBe(false);
    scene.network.reachable = true;
    await scene.system.advance(60_000);
    expect(scene.takeReports().at(-1)).toBe("online");
    expect(scene.network.clients).toHaveLength(1);
  });

  test("notices a dropped socket even if the core keeps asking for a link", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.reachable = false;
    for (let second = 0; second < 5; second++) {
      await scene.session.link();
      await scene.system.advance(1_000);
    }
    expect(scene.takeReports()).toEqual(["offline"]);
  });

  test("notices a dropped socket within 1 s during a call, and its return", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    scene.client.dropSocket(2_000);
    await scene.system.advance(1_000);
    expect(events).toEqual(["lost"]);
    await scene.system.advance(2_000);
    expect(events.filter((event) => !event.startsWith("stanza"))).toEqual(["lost", "restored"]);
  });

  test("a probe reports a drop and a return immediately", async () => {
    const scene = await new SessionScene().linkNumber();
    expect(scene.isOnline).toBe(true);
    scene.client.dropSocket(3_000);
    expect(scene.isOnline).toBe(false);
    await scene.system.advance(3_000);
    expect(scene.isOnline).toBe(true);
  });

  test("a broken socket is reopened", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.dropSocket(Infinity);
    await scene.system.advance(40_000);
    expect(scene.takeReports()).toEqual(["offline", "online"]);
    expect(scene.network.clients).toHaveLength(1);
    expect(scene.isOnline).toBe(true);
  });

  test("515 is an unnoticed reconnect", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    scene.client.streamError(515);
    await scene.system.advance(10_000);
    expect(scene.takeReports()).toEqual([]);
    expect(events.filter((event) => !event.startsWith("stanza"))).toEqual([]);
    expect(scene.isOnline).toBe(true);
  });

  test.each([
    ["a client that does not report accepted logins", 25, false],
    ["a slow network", 1_500, true],
  ])("515 is a single unnoticed login over %s", async (_, latencyMs, reportsAccepted) => {
    const network = new FakeWhatsApp(new ManualSystem({ seed: 1 }), { latencyMs });
    const client: WhatsAppClientFactory = async (context) => {
      const fakeClient = (await network.client(context)) as FakeWhatsAppClient;
      const on = fakeClient.on.bind(fakeClient);
      fakeClient.on = (event, listener) =>
        event === "debug_connection_success" && !reportsAccepted ? fakeClient : on(event, listener);
      return fakeClient;
    };
    const scene = new SessionScene({ network, client });
    const linking = scene.session.link();
    await scene.system.advance(7_000);
    await linking;
    network.scan(scene.codes.at(-1)?.payload ?? "", PHONE);
    await scene.system.advance(10_000);
    scene.takeReports();
    network.logins.length = 0;
    scene.client.streamError(515);
    await scene.system.advance(60_000);
    expect(scene.takeReports()).toEqual([]);
    expect(network.logins).toHaveLength(1);
    expect(scene.isOnline).toBe(true);
  });

  test("515 without a new connection is a drop after 4 s", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.streamError(515);
    scene.network.reachable = false;
    await scene.system.advance(3_000);
    expect(scene.takeReports()).toEqual([]);
    await scene.system.advance(2_000);
    expect(scene.takeReports()).toEqual(["offline"]);
  });

  test("replaced: halts, keeps its keys, and reconnects on request", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    scene.client.streamError("replaced");
    await scene.system.advance(24 * 3_600_000);
    expect(scene.takeReports()).toEqual(["offline", "condition"]);
    expect(scene.conditions).toEqual(["replaced"]);
    expect(events).toEqual(["lost permanently"]);
    expect(scene.session.probe()).toMatchObject({ state: "offline", lasting: true });
    expect(scene.network.clients).toHaveLength(1);
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.clientRecords).toBe(1);
    await scene.session.link();
    await scene.system.advance(1_000);
    expect(scene.isOnline).toBe(true);
  });

  test("two servers on one link: one is online, the other halts", async () => {
    const scene = await new SessionScene().linkNumber();
    const first = scene.session;
    const second = scene.open();
    await scene.system.advance(60 * 60_000);
    expect([first.probe().state, second.probe().state]).toEqual(["offline", "online"]);
    expect(scene.network.clients).toHaveLength(2);
  });

  test.each([
    ["device_removed", "the device was removed from the linked devices on the phone"],
    [516, "WhatsApp has logged this device out (516)"],
    [401, "WhatsApp no longer knows this device (401)"],
    [403, "WhatsApp has locked the account (403)"],
    [406, "WhatsApp has banned the number (406)"],
  ] as const)("%s: is unlinked with the reason, erases its keys and stays disconnected", async (cause, reason) => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    if (cause === "device_removed" || cause === 516) scene.client.streamError(cause);
    else scene.client.fail(cause);
    await scene.system.advance(60_000);
    expect(scene.host.reports.all.at(-1)).toEqual({ type: "unlinked", reason });
    expect(events).toEqual(["lost permanently"]);
    expect(scene.host.storedRecords.size).toBe(0);
    expect(scene.client.getState()).toMatchObject({ connected: false, hasQr: false });
    expect(scene.isOnline).toBe(false);
    await scene.linkNumber();
    expect(scene.isOnline).toBe(true);
    expect(scene.network.clients).toHaveLength(2);
  });

  test("a lingering client is disconnected again, even if it only lost its socket", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.disturb("disconnect", "hang");
    scene.host.deadlines.send = -Infinity; // another server has the number
    await scene.system.advance(8_000);
    scene.client.dropSocket(10_000);
    await scene.system.advance(60_000);
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.network.clients).toHaveLength(1);
  });

  test("516: a client that connects again stays disconnected, even without a code", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.offersCodes = false;
    scene.client.streamError(516);
    await scene.system.advance(100);
    expect(scene.client.getState().connected).toBe(true);
    await scene.system.advance(10_000);
    expect(scene.client.getState().connected).toBe(false);
  });

  test("402: is restricted until the end that WhatsApp named, then online", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.fail(402, { expire: "3600" });
    await scene.system.advance(0);
    expect(scene.takeReports()).toEqual(["offline", "condition"]);
    expect(scene.conditions).toEqual(["restricted"]);
    expect(scene.session.probe()).toMatchObject({
      state: "offline",
      reason: expect.stringContaining("until 2026-01-01 01:00 UTC"),
    });
    await scene.system.advance(3_500_000);
    expect(scene.isOnline).toBe(false);
    await scene.system.advance(200_000);
    expect(scene.takeReports()).toEqual(["online"]);
    expect(scene.isOnline).toBe(true);
  });

  test("402, then 409: is no longer restricted, and connects on request", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.fail(402, { expire: "3600" });
    scene.network.refuses = 409;
    await scene.system.advance(2 * 3_600_000);
    expect(scene.session.probe()).toMatchObject({ lasting: true, reason: expect.stringContaining("(409)") });
    expect(scene.conditions).toEqual(["restricted", undefined]);
    scene.network.refuses = undefined;
    await scene.session.link();
    await scene.system.advance(1_000);
    expect(scene.isOnline).toBe(true);
  });

  test("405: keeps its keys, waits long, and is online after an update", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.refuses = 405;
    scene.client.fail(405);
    await scene.system.advance(60_000);
    expect(scene.session.probe()).toMatchObject({ lasting: true, reason: expect.stringContaining("(405)") });
    expect(scene.conditions).toContain("client_outdated");
    expect(scene.clientRecords).toBe(1);
    scene.network.refuses = undefined;
    await scene.system.advance(12 * 3_600_000);
    expect(scene.isOnline).toBe(true);
  });

  test.each([
    ["405", async (scene: SessionScene) => scene.client.fail(405), "client_outdated"],
    ["replaced", async (scene: SessionScene) => scene.client.streamError("replaced"), "replaced"],
  ] as const)("%s: the condition ends when another attempt fails for another reason", async (_, refuse, condition) => {
    const scene = await new SessionScene().linkNumber();
    await refuse(scene);
    await scene.system.advance(100);
    expect(scene.conditions).toEqual([condition]);
    scene.network.reachable = false;
    void scene.session.link();
    await scene.system.advance(20_000);
    expect(scene.session.probe()).toEqual({ state: "offline", reason: expect.any(String) }); // not lasting
    expect(scene.conditions).toEqual([condition, undefined]);
  });

  test("409: a lasting fault, and no further attempt", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.fail(409);
    await scene.system.advance(12 * 3_600_000);
    expect(scene.session.probe()).toMatchObject({ lasting: true, reason: expect.stringContaining("(409)") });
    expect(scene.takeReports()).toEqual(["offline"]);
  });

  test("503: retries with the same client until WhatsApp is back", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.refuses = 503;
    scene.client.fail(503);
    await scene.system.advance(20 * 60_000);
    expect(scene.isOnline).toBe(false);
    expect(scene.clientRecords).toBe(1);
    scene.network.refuses = undefined;
    await scene.system.advance(11 * 60_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.network.clients).toHaveLength(1);
  });

  test("an unreachable network is retried with its keys", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.reachable = false;
    await scene.system.advance(30 * 60_000);
    expect(scene.isOnline).toBe(false);
    scene.network.reachable = true;
    await scene.system.advance(6 * 60_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.reports).not.toContain("unlinked");
  });

  test("a client whose disconnect hangs is replaced by a fresh one with the same keys", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.disturb("disconnect", "hang");
    scene.client.dropSocket(Infinity);
    await scene.system.advance(60_000);
    expect(scene.network.clients).toHaveLength(2);
    expect(scene.isOnline).toBe(true);
  });

  test.each([1, 2])("a client whose disconnect throws %i times does not return unnoticed", async (times) => {
    const scene = await new SessionScene().linkNumber();
    scene.network.reachable = false;
    await scene.system.advance(5_000);
    expect(scene.session.probe()).toMatchObject({ state: "offline" });
    scene.client.disturb("disconnect", new Error("no"), times);
    scene.client.disturb("connect", "hang");
    const first = scene.client;
    await scene.system.advance(27_500); // the grace period has nearly ended, and the socket is still down
    scene.network.reachable = true;
    let maxUnseenMs = 0;
    for (let unseenMs = 0, remainingMs = 60_000; remainingMs > 0; remainingMs -= 500) {
      await scene.system.advance(500);
      const { connected } = first.getState();
      const isUnseen = connected && scene.reports.at(-1) !== "online";
      unseenMs = isUnseen ? unseenMs + 500 : 0;
      maxUnseenMs = Math.max(maxUnseenMs, unseenMs);
    }
    expect(maxUnseenMs).toBeLessThanOrEqual(5_000);
    await scene.system.advance(60_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.network.clients.filter((client) => client.getState().connected)).toHaveLength(1);
  });

  test("an abandoned client that returns does not take the number offline permanently", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.disturb("disconnect", "hang", 20);
    scene.client.dropSocket(60_000);
    await scene.system.advance(45_000);
    expect([scene.network.clients.length, scene.isOnline]).toEqual([2, true]);
    await scene.system.advance(60_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.conditions).toEqual([]);
    expect(scene.network.clients.map((client) => client.getState().connected)).toEqual([false, true]);
  });

  test("a client that is replaced while the storage is down loses no key", async () => {
    const { scene, sessions } = await linkWithSessions();
    scene.storage.isDown = true;
    const writes = ["u1", "u2", "u3"].map((user) => sessions.setSession({ user, device: 0 }, { user }));
    scene.client.disturb("disconnect", "hang");
    scene.client.dropSocket(Infinity);
    await scene.system.advance(45_000);
    scene.storage.isDown = false;
    await scene.system.advance(60_000);
    await Promise.all(writes);
    expect(keysOf(scene, "/session/")).toHaveLength(3);
    expect(scene.network.clients.length).toBeGreaterThan(1);
    expect(scene.isOnline).toBe(true);
  });

  test("a hanging connect is ended and retried", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    scene.network.onClient = (client) => client.disturb("connect", "hang");
    scene.open();
    await scene.system.advance(29_000);
    expect(scene.isOnline).toBe(false);
    await scene.system.advance(12_000);
    expect(scene.isOnline).toBe(true);
  });

  test("a connection that opens while it is being ended is not reported", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.disturb("connect", { afterMs: 30_100 });
    scene.client.fail(503);
    await scene.system.advance(10_000);
    scene.client.disturb("disconnect", { afterMs: 2_500 });
    scene.takeReports();
    await scene.system.advance(50_000);
    expect(scene.takeReports()).toEqual(["offline", "online"]);
    expect(scene.client.getState().connected).toBe(true);
  });

  test("a session without its records is unlinked", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    scene.host.storedRecords.clear();
    scene.open();
    await scene.system.advance(5_000);
    expect(scene.takeReports()).toEqual(["unlinked"]);
    expect(scene.codes).toHaveLength(1);
    expect(scene.client.getState().connected).toBe(false);
  });

  test("a server that lost its database disconnects, and reconnects with the lease", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    scene.host.deadlines.send = -Infinity;
    await scene.system.advance(4_000);
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.session.probe()).toEqual({ state: "offline", reason: DEADLINE_PASSED });
    expect(events).toEqual(["end", "lost permanently"]);
    await scene.system.advance(60_000);
    expect(scene.client.getState().connected).toBe(false);
    scene.host.deadlines.send = Infinity;
    await scene.system.advance(3_000);
    expect(scene.isOnline).toBe(true);
  });

  test("logs each transition at debug, with its reason and without codes", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.dropSocket(10_000);
    await scene.system.advance(20_000);
    expect(scene.logLines.filter((line) => line.startsWith("debug"))).toEqual([
      "debug: whatsapp: idle -> linking: waiting for the code to be scanned",
      "debug: whatsapp: linking -> connecting: connecting",
      "debug: whatsapp: connecting -> online",
      "debug: whatsapp: online -> waiting: the connection to WhatsApp dropped",
      "debug: whatsapp: waiting -> connecting: connecting",
      "debug: whatsapp: connecting -> online",
    ]);
    for (const { payload } of scene.codes) expect(scene.logLines.join()).not.toContain(payload);
  });

  test("a client created after the server lost the number connects with the new lease", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    let connectCount = 0;
    scene.open(async (context) => {
      await new Promise<void>((resolve) => void scene.system.after(10_000, resolve));
      const client = scene.network.client(context) as FakeWhatsAppClient;
      const connect = client.connect.bind(client);
      client.connect = () => {
        connectCount++;
        return connect();
      };
      return client;
    });
    await scene.system.advance(1_000);
    scene.host.deadlines.send = -Infinity;
    await scene.system.advance(60_000);
    expect(connectCount).toBe(0);
    scene.host.deadlines.send = Infinity;
    await scene.system.advance(3_000);
    expect(scene.isOnline).toBe(true);
  });

  test("incoming calls are left to the owner", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    const incomingCall = scene.network.ring(scene.client);
    await scene.system.advance(10_000);
    expect(incomingCall.touched).toBe(false);
    expect(events.filter((event) => event.startsWith("stanza"))).toEqual(["stanza call"]);
  });
});

describe("unlinking", () => {
  test("removes the device at WhatsApp and its keys, and the number can be linked again", async () => {
    const scene = await new SessionScene().linkNumber();
    const { events } = scene.call();
    const keys = new Map(scene.host.storedRecords);
    const { stored: storedCredentials } = scene.host;
    const unlinking = Promise.all([scene.session.unlink(), scene.session.unlink()]);
    await scene.system.advance(10_000);
    await unlinking;
    expect(scene.host.storedRecords.size).toBe(0);
    expect(events).toContain("lost permanently");
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.reports).not.toContain("unlinked");
    await scene.linkNumber();
    expect(scene.isOnline).toBe(true);
    // WhatsApp no longer accepts the old keys.
    const copiedScene = new SessionScene({ host: new TestLineHost(storedCredentials), network: scene.network });
    for (const [key, value] of keys) copiedScene.host.storedRecords.set(key, value);
    await scene.system.advance(5_000);
    expect(copiedScene.host.reports.all.at(-1)).toEqual({
      type: "unlinked",
      reason: "WhatsApp no longer knows this device (401)",
    });
  });

  test.each([
    ["while it is online", async () => {}],
    ["while WhatsApp has closed the connection", async (scene: SessionScene) => scene.client.fail(503)],
    ["while another client has taken its place", async (scene: SessionScene) => scene.client.streamError("replaced")],
    [
      "right after it was opened",
      async (scene: SessionScene) => {
        await scene.session.close();
        scene.open();
      },
    ],
  ])("removes the device %s", async (_, prepare) => {
    const scene = await new SessionScene().linkNumber();
    expect(scene.network.linkedDevices(PHONE)).toHaveLength(1);
    await prepare(scene);
    await scene.system.settle();
    const unlinking = scene.session.unlink();
    await scene.system.advance(5_000);
    await unlinking;
    expect(scene.network.linkedDevices(PHONE)).toEqual([]);
    expect(scene.client.getState().connected).toBe(false);
    expect(scene.host.storedRecords.size).toBe(0);
    expect(scene.logLines.join()).not.toContain("could not be removed");
  });

  test.each(["logout", "disconnect"] as const)(
    "ends within 10 s when %s hangs, and erases the keys",
    async (method) => {
      const scene = await new SessionScene().linkNumber();
      scene.client.disturb(method, "hang", 9);
      let hasEnded = false;
      void scene.session.unlink().then(() => {
        hasEnded = true;
      });
      await scene.system.advance(10_000);
      expect(hasEnded).toBe(true);
      expect(scene.host.storedRecords.size).toBe(0);
    },
  );

  test("ends in time without a network, and erases the keys", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.network.reachable = false;
    let hasEnded = false;
    void scene.session.unlink().then(() => {
      hasEnded = true;
    });
    await scene.system.advance(10_000);
    expect(hasEnded).toBe(true);
    expect(scene.host.storedRecords.size).toBe(0);
    expect(scene.logLines.join()).toContain("the device could not be removed at WhatsApp");
  });
});

describe("closing", () => {
  test("disconnects and keeps the link at any moment", async () => {
    for (const ms of [0, 10, 30, 60, 500, 1_010, 1_030, 1_060, 1_100]) {
      const scene = new SessionScene();
      const linking = scene.session.link().catch(() => {});
      if (ms > 1_000) {
        await scene.system.advance(1_000);
        scene.network.scan(scene.codes[0]?.payload ?? "", PHONE);
      }
      await scene.system.advance(ms % 1_000);
      const closing = Promise.all([scene.session.close(), scene.session.close()]);
      await scene.system.advance(6_000);
      await closing;
      await linking;
      expect(scene.network.clients.map((client) => client.getState().connected)).toEqual([false]);
      const reportCount = scene.reports.length;
      await scene.system.advance(600_000);
      expect(scene.reports).toHaveLength(reportCount);
      expect(scene.system.waiting).toBe(0);
    }
  });

  test("leaves no timer, and the line offline", async () => {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    expect(scene.session.probe()).toEqual({ state: "offline", reason: "closed" });
    await scene.system.advance(10_000);
    expect(scene.system.waiting).toBe(0);
    expect(scene.clientRecords).toBe(1);
  });

  test("stores the client's writes, even if the storage is slow", async () => {
    const { scene, sessions } = await linkWithSessions();
    scene.storage.slowMs = 20;
    const writes = ["u1", "u2", "u3"].map((user) => sessions.setSession({ user, device: 0 }, { user }));
    await scene.system.advance(1);
    writes.push(sessions.setSession({ user: "u4", device: 0 }, { user: "u4" }));
    const closing = scene.session.close();
    await scene.system.advance(1_000);
    await Promise.all([...writes, closing]);
    expect(keysOf(scene, "/session/")).toHaveLength(4);
  });

  test("ends in time if the storage is down, and rejects pending writes", async () => {
    const { scene, sessions } = await linkWithSessions();
    scene.storage.isDown = true;
    const write = sessions.setSession({ user: "u1", device: 0 }, {}).catch((error: Error) => error.message);
    const closing = scene.session.close();
    await scene.system.advance(4_500);
    await closing;
    expect(await write).toContain("no longer in use");
    expect(scene.logLines.join()).toContain("the last keys of the client were not stored");
  });

  test("ends in time with a stuck client", async () => {
    const scene = await new SessionScene().linkNumber();
    scene.client.disturb("disconnect", "hang", 9);
    let hasClosed = false;
    void scene.session.close().then(() => {
      hasClosed = true;
    });
    await scene.system.advance(4_500);
    expect(hasClosed).toBe(true);
  });
});
