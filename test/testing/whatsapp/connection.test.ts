import { describe, expect, test } from "vitest";
import { FakeNetwork, OWNER, outcomeOf } from "../../support/whatsapp/fake-network.ts";

const OPEN = { status: "open", reason: "connected", code: null, isLogout: false, isNewLogin: false };

describe("a dropped socket", () => {
  test("is visible only in the state, and silently recovers after 2 s", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.dropSocket();
    expect(client.getState()).toMatchObject({ connected: false, registered: true });
    await fake.system.advance(1_999);
    expect(client.getState().connected).toBe(false);
    await fake.system.advance(1);
    expect(client.getState().connected).toBe(true);
    await fake.system.advance(10_000);
    expect(fake.names).toEqual([]);
  });

  test("makes every request reject", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.dropSocket(Infinity);
    const peerJid = "12025550100@s.whatsapp.net";
    await expect(client.voip.startCall({ peerJid })).rejects.toThrow("client is not connected");
    await expect(client.profile.getLidsByPhoneNumbers(["12025550100"])).rejects.toThrow("client is not connected");
    await expect(client.auth.requestPairingCode("+12025550100")).rejects.toThrow("client is not connected");
    expect(client.voip.getCalls()).toEqual([]);
    await fake.system.advance(3_600_000);
    expect(client.getState().connected).toBe(false);
  });

  test("makes a call to a known peer fail when it is offered", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const peerJid = "12025550100@s.whatsapp.net";
    void client.voip.startCall({ peerJid });
    await fake.system.advance(25);
    client.dropSocket(Infinity);
    await expect(client.voip.startCall({ peerJid })).rejects.toThrow("noise session not ready");
    expect(client.voip.getCalls()).toHaveLength(1);
  });

  test("is reported as open by connect, although it is down", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.dropSocket();
    await client.connect();
    expect(fake.argumentsOf("connection")).toEqual([OPEN]);
    expect(client.getState().connected).toBe(false);
  });

  test("sends an unlinked client new codes when it recovers", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    const first = client.shown.qr;
    client.dropSocket();
    await fake.system.advance(3_000);
    expect(client.shown.qr).not.toBe(first);
    expect(fake.argumentsOf("auth_qr").map(({ ttlMs }) => ttlMs)).toEqual([60_000, 60_000]);
  });

  test("affects every client while the network is unreachable", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    fake.network.reachable = false;
    await fake.system.advance(60_000);
    expect(client.getState().connected).toBe(false);
    fake.network.reachable = true;
    await fake.system.advance(2_000);
    expect(client.getState().connected).toBe(true);
    expect(fake.names).toEqual([]);
  });
});

describe("connecting", () => {
  test("fails after 10 s if the network is unreachable", async () => {
    const fake = new FakeNetwork();
    fake.network.reachable = false;
    const client = await fake.client();
    const connectOutcome = outcomeOf(client.connect());
    await fake.system.advance(9_999);
    expect(connectOutcome).toEqual({});
    await fake.system.advance(1);
    expect(connectOutcome.error?.message).toBe("comms connection timeout after 10000ms");
  });

  test("rejects if the client disconnects in the meantime", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    const connectOutcome = outcomeOf(client.connect());
    await client.disconnect();
    await fake.system.advance(100);
    expect(connectOutcome.error?.message).toBe("start comms superseded by newer lifecycle");
    expect(client.getState().connected).toBe(false);
  });

  test("twice concurrently opens one connection", async () => {
    const fake = new FakeNetwork();
    const first = await fake.online();
    await first.disconnect();
    fake.events.length = 0;
    await Promise.all([first.connect(), first.connect(), fake.system.advance(100)]);
    expect(fake.argumentsOf("connection")).toEqual([OPEN]);
  });

  test("rejects if the records cannot be read", async () => {
    const fake = new FakeNetwork();
    fake.records.failure = new Error("the database is down");
    const client = await fake.client();
    await expect(client.connect()).rejects.toThrow("the database is down");
  });
});

describe("disconnecting", () => {
  test("is reported, and the next connect replaces the voip object", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const { voip } = client;
    await client.disconnect();
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "client_disconnected", code: null, isLogout: false },
    ]);
    expect(client.voip).toBeUndefined();
    void client.connect();
    await fake.system.advance(100);
    expect(client.voip).toBeDefined();
    expect(client.voip).not.toBe(voip);
  });

  test("forgets all calls without an event", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const { voip } = client;
    const startOutcome = outcomeOf(voip.startCall({ peerJid: "12025550100@s.whatsapp.net" }));
    await fake.system.advance(2_000);
    expect(voip.getCall(startOutcome.value!)?.stateData.state).toBe("active");
    fake.events.length = 0;
    await client.disconnect();
    await fake.system.advance(2_000);
    expect(voip.getCall(startOutcome.value!)).toBeNull();
    expect(fake.names).toEqual(["connection"]);
    expect(fake.network.call().ended).toBeUndefined(); // the callee is left in the call
  });

  test("keeps stanza filters", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await client.disconnect();
    void client.connect();
    await fake.system.advance(100);
    void client.receive({ tag: "ib", attrs: { id: "after" } });
    await fake.system.settle();
    expect(fake.stanzas.at(-1)).toMatchObject({ attrs: { id: "after" } });
  });
});

describe("the server", () => {
  test("515 closes the connection, and the client reopens it immediately", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.streamError(515);
    await fake.system.advance(25);
    expect(fake.argumentsOf("connection")).toEqual([
      { status: "close", reason: "stream_error_force_login", code: 515, isLogout: false, isNewLogin: false },
      { ...OPEN, reason: "reconnected" },
    ]);
    expect(client.getState()).toMatchObject({ connected: true, registered: true });
  });

  test("516 unlinks the client, which reopens the connection for new codes", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.streamError(516);
    await fake.system.advance(100);
    expect(fake.names).toEqual(["connection", "auth_qr"]);
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "stream_error_force_logout", code: 516, isLogout: true },
    ]);
    expect(client.getState()).toEqual({ connected: true, registered: false, hasQr: true, hasPairingCode: false });
  });

  test("516 reopens the connection even if the client disconnects in the meantime", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.on("connection", ({ isLogout }) => {
      if (isLogout) void client.disconnect();
    });
    client.streamError(516);
    await fake.system.advance(100);
    expect(fake.names).toEqual(["connection", "connection", "auth_qr"]);
    expect(client.getState()).toMatchObject({ connected: true, registered: false });
  });

  test("a replaced client is closed permanently, but stays linked", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.streamError("replaced");
    await fake.system.advance(600_000);
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "stream_error_replaced", code: null, isLogout: false },
    ]);
    expect(client.getState()).toMatchObject({ connected: false, registered: true });
    expect(fake.records.values.size).toBe(1);
  });

  test("a removed device is unlinked, and its session is deleted", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    fake.network.unlink(OWNER);
    await fake.system.advance(100);
    expect(fake.names).toEqual(["connection"]);
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "stream_error_device_removed", code: null, isLogout: true },
    ]);
    expect(client.getState()).toMatchObject({ connected: false, registered: false });
    expect(fake.records.values.size).toBe(0);
  });

  test.each([
    [401, "failure_not_authorized"],
    [403, "failure_locked"],
    [406, "failure_banned"],
  ])("%i unlinks the client, and its session is deleted", async (code, reason) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.fail(code);
    await fake.system.advance(100);
    expect(fake.names).toEqual(["stream_failure", "connection"]);
    expect(fake.argumentsOf("stream_failure")).toMatchObject([{ failureReason: code }]);
    expect(fake.argumentsOf("connection")).toMatchObject([{ status: "close", reason, code, isLogout: true }]);
    expect(client.getState().registered).toBe(false);
    expect(fake.records.values.size).toBe(0);
  });

  test("402 reports a failure, and closes the socket", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.fail(402, { code: "101", expire: "3600", message: "too many calls" });
    await fake.system.advance(100);
    expect(fake.names).toEqual(["stream_failure"]);
    expect(fake.argumentsOf("stream_failure")).toEqual([
      {
        failureReason: 402,
        failureCode: 101,
        failureMessage: "too many calls",
        rawNode: { tag: "failure", attrs: { reason: "402", code: "101", expire: "3600", message: "too many calls" } },
      },
    ]);
    expect(client.getState()).toMatchObject({ connected: false, registered: true });
  });

  test.each([402, 408, 440, 500])("%i at login makes the client log in again every 2 s", async (refuses) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await client.disconnect();
    Object.assign(fake.network, { refuses, refusalAttrs: { expire: "3600" } });
    fake.network.logins.length = 0;
    fake.events.length = 0;
    void client.connect();
    await fake.system.advance(60_000);
    expect(fake.network.logins.length).toBeGreaterThan(25);
    expect(new Set(fake.argumentsOf("stream_failure").map(({ failureReason }) => failureReason))).toEqual(
      new Set([refuses]),
    );
    expect(fake.argumentsOf("connection")).toEqual([OPEN]);
    await client.disconnect();
    const { length } = fake.network.logins;
    await fake.system.advance(60_000);
    expect(fake.network.logins).toHaveLength(length);
  });

  test("515 at login makes the client log in again immediately", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await client.disconnect();
    fake.network.refuses = 515;
    void client.connect();
    await fake.system.advance(1_000);
    expect(fake.network.logins.length).toBeGreaterThan(10);
    await client.disconnect();
  });

  test("reports an accepted login, even of a silently reopened socket", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    let acceptedCount = 0;
    client.on("debug_connection_success", () => void acceptedCount++);
    client.dropSocket();
    await fake.system.advance(3_000);
    expect(acceptedCount).toBe(1);
    expect(fake.names).toEqual([]);
  });

  test.each([
    [405, "failure_client_too_old"],
    [409, "failure_bad_user_agent"],
    [503, "failure_service_unavailable"],
  ])("%i closes the client permanently, but it stays linked", async (code, reason) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.fail(code);
    await fake.system.advance(600_000);
    expect(fake.names).toEqual(["stream_failure", "connection"]);
    expect(fake.argumentsOf("connection")).toMatchObject([{ status: "close", reason, code, isLogout: false }]);
    expect(client.getState()).toMatchObject({ connected: false, registered: true });
    expect(fake.records.values.size).toBe(1);
  });

  test("refuses every login on request, after the client has reported an open connection", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await client.disconnect();
    fake.network.refuses = 503;
    fake.events.length = 0;
    for (const _ of [1, 2]) {
      void client.connect();
      await fake.system.advance(100);
    }
    const expectedOnce = ["connection", "stream_failure", "connection"];
    expect(fake.names).toEqual([...expectedOnce, ...expectedOnce]);
    fake.network.refuses = undefined;
    void client.connect();
    await fake.system.advance(100);
    expect(client.getState().connected).toBe(true);
  });

  test.each([401, 503])("%i before the login closes the connection, and connect rejects", async (code) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    await client.disconnect();
    Object.assign(fake.network, { refuses: code, refusesAtOnce: true });
    fake.events.length = 0;
    const connectOutcome = outcomeOf(client.connect());
    await fake.system.advance(100);
    expect(fake.names).toEqual(["stream_failure", "connection"]);
    expect(fake.argumentsOf("connection")).toMatchObject([{ status: "close", code, isLogout: code === 401 }]);
    expect(connectOutcome.error?.message).toBe("start comms superseded by newer lifecycle");
  });

  test("another stream error drops the socket without an event", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.streamError("other");
    expect(client.getState().connected).toBe(false);
    await fake.system.advance(100);
    expect(client.getState().connected).toBe(true);
    expect(fake.names).toEqual([]);
  });
});

describe("a stanza filter", () => {
  test("sees neither failures nor stream errors", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.fail(402);
    await fake.system.advance(3_000);
    client.streamError("other");
    await fake.system.advance(100);
    expect(new Set(fake.stanzas.map(({ tag }) => tag))).toEqual(new Set(["ib"]));
  });

  test("that throws or rejects is skipped", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.lowlevel.registerIncomingStanzaFilter(() => {
      throw new Error("no");
    });
    client.lowlevel.registerIncomingStanzaFilter(() => Promise.reject(new Error("no")));
    const seenEvents: string[] = [];
    client.lowlevel.registerIncomingStanzaFilter(({ tag }) => void seenEvents.push(tag));
    await client.receive({ tag: "receipt", attrs: {} });
    expect(seenEvents).toEqual(["receipt"]);
  });

  test("stops when removed, even twice", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const seenEvents: string[] = [];
    const remove = client.lowlevel.registerIncomingStanzaFilter(({ tag }) => void seenEvents.push(tag));
    remove();
    remove();
    await client.receive({ tag: "receipt", attrs: {} });
    expect(seenEvents).toEqual([]);
    expect(fake.stanzas).toHaveLength(1); // the other filter stays
  });
});

describe("a listener", () => {
  test("stays on the client across connections until it is removed", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const seenEvents: string[] = [];
    const listener = ({ status }: { status: string }): void => void seenEvents.push(status);
    client.on("connection", listener);
    await client.disconnect();
    void client.connect();
    await fake.system.advance(100);
    client.off("connection", listener);
    client.off("never", listener);
    await client.disconnect();
    expect(seenEvents).toEqual(["close", "open"]);
  });
});

describe("a disturbed method", () => {
  test("hangs, rejects or starts late, the configured number of times", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.disturb("getLidsByPhoneNumbers", "hang");
    client.disturb("getLidsByPhoneNumbers", new Error("rate-overlimit"), 2);
    client.disturb("getLidsByPhoneNumbers", { afterMs: 5_000 });
    const outcomes = [1, 2, 3, 4, 5].map(() => outcomeOf(client.profile.getLidsByPhoneNumbers(["+12025550100"])));
    await fake.system.advance(4_000);
    expect(outcomes.map(({ error, value }) => error?.message ?? value?.length)).toEqual([
      undefined,
      "rate-overlimit",
      "rate-overlimit",
      undefined,
      1,
    ]);
    await fake.system.advance(2_000);
    expect(outcomes[3]!.value).toHaveLength(1);
    await fake.system.advance(3_600_000);
    expect(outcomes[0]).toEqual({});
  });

  test.each(["connect", "disconnect", "logout"] as const)("can be %s", async (method) => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    client.disturb(method, new Error("broken"));
    await expect(client[method]()).rejects.toThrow("broken");
    client.disturb(method, "hang");
    const hangingOutcome = outcomeOf(client[method]());
    await fake.system.advance(3_600_000);
    expect(hangingOutcome).toEqual({});
    expect(client.getState().connected).toBe(true);
  });
});
