import { describe, expect, test } from "vitest";
import { FakeNetwork, OWNER, outcomeOf } from "../../support/whatsapp/fake-network.ts";

const UNREGISTERED = { connected: true, registered: false, hasQr: true, hasPairingCode: false };

describe("a QR code", () => {
  test("is shown for 60 s, then five more for 20 s each, then none", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    const connectOutcome = outcomeOf(client.connect());
    await fake.system.advance(100);
    expect(connectOutcome).toEqual({ value: undefined }); // before any scan
    expect(client.getState()).toEqual(UNREGISTERED);
    await fake.system.advance(159_900);
    const codes = fake.events.filter(({ event }) => event === "auth_qr");
    expect(codes.map(({ argument }) => argument.ttlMs)).toEqual([60_000, 20_000, 20_000, 20_000, 20_000, 20_000]);
    expect(codes.map(({ atMs }) => atMs - codes[0]!.atMs)).toEqual([0, 60_000, 80_000, 100_000, 120_000, 140_000]);
    expect(new Set(codes.map(({ argument }) => argument.qr)).size).toBe(6);
    const eventsBefore = fake.events.length;
    await fake.system.advance(600_000);
    expect(client.getState()).toEqual({ ...UNREGISTERED, hasQr: false });
    expect(fake.events.length).toBe(eventsBefore);
  });

  test("links the client when a phone scans it", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    expect(client.getCredentials()).toEqual({});
    fake.events.length = 0;
    fake.network.scan(client.shown.qr!, OWNER);
    await fake.system.advance(25);
    expect(fake.names).toEqual(["auth_paired"]);
    expect(client.getState()).toMatchObject({ connected: false, registered: true, hasQr: false });
    await fake.system.advance(25);
    expect(fake.names).toEqual(["auth_paired", "connection"]);
    expect(fake.argumentsOf("connection")).toEqual([
      { status: "open", reason: "connected", code: null, isLogout: false, isNewLogin: true },
    ]);
    expect(client.getCredentials()).toMatchObject({ meJid: "5511912345678:1@s.whatsapp.net", platform: "android" });
    expect(client.getCredentials()?.meLid).toMatch(/^\d{14}:1@lid$/);
  });

  test("cannot be scanned once the next code is shown", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    const first = client.shown.qr!;
    await fake.system.advance(60_000);
    expect(() => fake.network.scan(first, OWNER)).toThrow("no client shows this QR code");
  });

  test("never appears if the server offers none", async () => {
    const fake = new FakeNetwork();
    fake.network.offersCodes = false;
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(600_000);
    expect(fake.names).toEqual([]);
    expect(client.getState()).toEqual({ ...UNREGISTERED, hasQr: false });
  });

  test("does not link if the phone needs a passkey", async () => {
    const fake = new FakeNetwork();
    fake.network.needsPasskey = true;
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    fake.network.scan(client.shown.qr!, OWNER);
    await fake.system.advance(10_000);
    expect(fake.argumentsOf("auth_passkey_required")).toEqual([{ hasSigner: false }]);
    expect(fake.names).not.toContain("auth_paired");
  });

  test("does not link if the session cannot be stored", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    fake.network.scan(client.shown.qr!, OWNER);
    fake.records.failure = new Error("the disk is full");
    await fake.system.advance(10_000);
    expect(fake.names).not.toContain("auth_paired");
    expect(fake.names).not.toContain("connection");
  });
});

describe("a pairing code", () => {
  test("links the client when its phone's owner types it", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    const codeRequest = outcomeOf(client.auth.requestPairingCode(OWNER));
    await fake.system.advance(25);
    const code = codeRequest.value!;
    expect(code).toMatch(/^[1-9A-HJ-NP-Z]{8}$/);
    expect(fake.argumentsOf("auth_pairing_code")).toEqual([{ code }]);
    expect(client.getState()).toEqual({ ...UNREGISTERED, hasPairingCode: true });
    expect(() => fake.network.typeCode(code, "+12025550100")).toThrow("no client shows the pairing code");
    fake.network.typeCode(`${code.slice(0, 4)}-${code.slice(4)}`, OWNER);
    await fake.system.advance(100);
    expect(fake.argumentsOf("connection")).toMatchObject([{ status: "open", isNewLogin: true }]);
  });

  test.each([
    ["SHORT", "custom pairing code must be 8 characters, got 5"],
    ["OOOOOOOO", 'custom pairing code contains invalid character "O"'],
  ])("chosen by the caller cannot be %s", async (custom, message) => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    const codeRequest = outcomeOf(client.auth.requestPairingCode(OWNER, true, custom));
    await fake.system.advance(25);
    expect(codeRequest.error?.message).toContain(message);
  });

  test("is requested again by the server while one is shown", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    client.refreshCode(true);
    expect(fake.names).not.toContain("auth_pairing_required"); // it never occurs with QR codes
    void client.auth.requestPairingCode(OWNER);
    await fake.system.advance(25);
    client.refreshCode(true);
    expect(fake.argumentsOf("auth_pairing_required")).toEqual([{ forceManual: true }]);
  });

  test("needs a connected client", async () => {
    const fake = new FakeNetwork();
    const client = await fake.client();
    await expect(client.auth.requestPairingCode(OWNER)).rejects.toThrow("client is not connected");
  });
});

describe("a stored session", () => {
  test("opens a new client without a code", async () => {
    const fake = new FakeNetwork();
    const first = await fake.online();
    await first.disconnect();
    fake.events.length = 0;
    const second = await fake.client();
    expect(second.getState().registered).toBe(false); // until it has read its session
    void second.connect();
    await fake.system.advance(100);
    expect(fake.names).toEqual(["connection"]);
    expect(fake.argumentsOf("connection")).toMatchObject([{ status: "open", isNewLogin: false }]);
  });

  test("opens on a network that has not seen it before", async () => {
    const fake = new FakeNetwork();
    await fake.online();
    const laterNetwork = new FakeNetwork();
    for (const [key, value] of fake.records.values) laterNetwork.records.values.set(key, value);
    const client = await laterNetwork.client();
    void client.connect();
    await laterNetwork.system.advance(100);
    expect(laterNetwork.argumentsOf("connection")).toMatchObject([{ status: "open", isNewLogin: false }]);
  });

  test.each(["{", "null", "[]", '{"meJid":7}', '"x"', "\u0000"])("of %j makes connect reject", async (text) => {
    const fake = new FakeNetwork();
    fake.records.values.set("fake-whatsapp/session", new TextEncoder().encode(text));
    const client = await fake.client();
    await expect(client.connect()).rejects.toThrow(Error);
  });

  test("replaces the connection of another client that uses it", async () => {
    const fake = new FakeNetwork();
    const first = await fake.online();
    const second = await fake.client();
    void second.connect();
    await fake.system.advance(100);
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "stream_error_replaced", isLogout: false, code: null },
      { status: "open" },
    ]);
    await fake.system.advance(600_000);
    expect(first.getState()).toMatchObject({ connected: false, registered: true });
    expect(second.getState().connected).toBe(true);
  });
});

describe("logging out", () => {
  test("closes the connection as unlinked, and invalidates the client", async () => {
    const fake = new FakeNetwork();
    const client = await fake.online();
    const logoutOutcome = outcomeOf(client.logout());
    await fake.system.advance(100);
    expect(logoutOutcome).toEqual({ value: undefined });
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "close", reason: "stream_error_device_removed", isLogout: true },
    ]);
    expect(client.getState()).toEqual({ connected: false, registered: false, hasQr: false, hasPairingCode: false });
    expect(fake.records.values.size).toBe(0);
    await expect(client.connect()).rejects.toThrow("the client has logged out");
    const next = await fake.client();
    void next.connect();
    await fake.system.advance(100);
    expect(next.getState()).toEqual(UNREGISTERED);
  });

  test("needs a linked client with a socket", async () => {
    const fake = new FakeNetwork();
    const unlinked = await fake.client();
    await expect(unlinked.logout()).rejects.toThrow("cannot logout: client is not authenticated");
    const client = await fake.online();
    client.dropSocket();
    await expect(client.logout()).rejects.toThrow("client is not connected");
  });

  test("by the phone is noticed at the next login if the client was offline", async () => {
    const fake = new FakeNetwork();
    const first = await fake.online();
    await first.disconnect();
    fake.network.unlink(OWNER);
    fake.events.length = 0;
    const client = await fake.client();
    void client.connect();
    await fake.system.advance(100);
    expect(fake.names).toEqual(["connection", "stream_failure", "connection"]); // it opens before it is refused
    expect(fake.argumentsOf("connection")).toMatchObject([
      { status: "open" },
      { status: "close", reason: "failure_not_authorized", code: 401, isLogout: true },
    ]);
  });
});
