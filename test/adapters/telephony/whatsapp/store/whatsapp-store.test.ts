import { describe, expect, test } from "vitest";
import { whatsappStore } from "../../../../../adapters/telephony/whatsapp/store/whatsapp-store.ts";
import { MapRecords } from "../../../../support/whatsapp/map-records.ts";

const ANA = { user: "5511987654321", device: 0 };
const ANA_BY_LID = { user: "777", server: "lid", device: 3 };
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const keyPair = (n: number) => ({ pubKey: bytes(n, 1), privKey: bytes(n, 2) });
const preKey = (keyId: number) => ({ keyId, keyPair: keyPair(keyId) });

/** The stores of a session, and those of a process that opens the same records later. */
function setUp(sessionId = "session") {
  const records = new MapRecords();
  const open = () => {
    const { stores } = whatsappStore(records).backends.ringport;
    return {
      auth: stores.auth(sessionId),
      signal: stores.signal(sessionId),
      preKey: stores.preKey(sessionId),
      session: stores.session(sessionId),
      identity: stores.identity(sessionId),
      senderKey: stores.senderKey(sessionId),
      appState: stores.appState(sessionId),
      privacyToken: stores.privacyToken(sessionId),
    };
  };
  return { records, open, ...open() };
}

const CREDENTIALS = {
  noiseKeyPair: keyPair(1),
  registrationInfo: { registrationId: 5, identityKeyPair: keyPair(2) },
  signedPreKey: { keyId: 1, keyPair: keyPair(3), signature: bytes(1, 2, 3) },
  advSecretKey: bytes(9),
  signedIdentity: { details: bytes(7), accountSignature: null },
  meJid: "5511912345678:1@s.whatsapp.net",
  meLid: undefined,
  serverHasPreKeys: true,
  lastSuccessTs: 1_790_000_000,
};

describe("every store", () => {
  test("keeps a line's sessions apart, and clears only its own", async () => {
    const records = new MapRecords();
    const { stores } = whatsappStore(records).backends.ringport;
    await stores.identity("a").setRemoteIdentity(ANA, bytes(1));
    await stores.identity("b").setRemoteIdentity(ANA, bytes(2));
    await stores.session("a").setSession(ANA, { version: 1 });
    await stores.identity("a").clear();
    expect(await stores.identity("a").getRemoteIdentity(ANA)).toBeNull();
    expect(await stores.identity("b").getRemoteIdentity(ANA)).toEqual(bytes(2));
    expect(await stores.session("a").hasSession(ANA)).toBe(true);
  });

  test("rejects during storage outages, then works", async () => {
    const { records, auth, preKey, identity } = setUp();
    records.failure = new Error("the storage is down");
    await expect(auth.load()).rejects.toThrow("the storage is down");
    await expect(preKey.getOrGenPreKeys(1, preKeyOf)).rejects.toThrow("the storage is down");
    await expect(identity.setRemoteIdentity(ANA, bytes(1))).rejects.toThrow("the storage is down");
    records.failure = undefined;
    expect(await auth.load()).toBeNull();
    expect(await preKey.getOrGenPreKeys(1, preKeyOf)).toHaveLength(1);
  });

  test("is named by a provider, and no messages are kept", () => {
    const { backends, providers } = whatsappStore(new MapRecords());
    expect(backends.ringport.caches).toEqual({});
    const storedDomains = Object.entries(providers).filter(([, provider]) => provider === "ringport");
    expect(storedDomains.map(([domain]) => domain).sort()).toEqual(Object.keys(backends.ringport.stores).sort());
    expect(providers).toMatchObject({ messages: "none", threads: "none", contacts: "none" });
  });
});

describe("the auth store", () => {
  test("loads the stored credentials, even after a restart", async () => {
    const { auth, open } = setUp();
    expect(await auth.load()).toBeNull();
    await auth.save(CREDENTIALS);
    const { meLid: _, ...storedCredentials } = CREDENTIALS;
    expect(await open().auth.load()).toStrictEqual(storedCredentials);
    await auth.clear();
    expect(await open().auth.load()).toBeNull();
  });

  test.each([{}, { ...CREDENTIALS, noiseKeyPair: { pubKey: "text" } }, { ...CREDENTIALS, advSecretKey: 5 }])(
    "refuses stored credentials without their keys: %j",
    async (credentials) => {
      const { auth, open } = setUp();
      await auth.save(credentials);
      await expect(open().auth.load()).rejects.toThrow(/record "session\/auth\/credentials" cannot be read/);
    },
  );
});

describe("the signal store", () => {
  test("keeps the registration, and the signed pre-key with its rotation", async () => {
    const { signal, open } = setUp();
    expect(await signal.getRegistrationInfo()).toBeNull();
    expect(await signal.getSignedPreKey()).toBeNull();
    expect(await signal.getSignedPreKeyRotationTs()).toBeNull();
    await signal.setRegistrationInfo(CREDENTIALS.registrationInfo);
    await signal.setSignedPreKey(CREDENTIALS.signedPreKey);
    await signal.setSignedPreKeyRotationTs(123);
    const reopenedStore = open().signal;
    expect(await reopenedStore.getRegistrationInfo()).toEqual(CREDENTIALS.registrationInfo);
    expect(await reopenedStore.getSignedPreKey()).toEqual(CREDENTIALS.signedPreKey);
    expect(await reopenedStore.getSignedPreKeyById(1)).toEqual(CREDENTIALS.signedPreKey);
    expect(await reopenedStore.getSignedPreKeyById(2)).toBeNull();
    expect(await reopenedStore.getSignedPreKeyRotationTs()).toBe(123);
    await reopenedStore.setSignedPreKeyRotationTs(null);
    expect(await reopenedStore.getSignedPreKeyRotationTs()).toBeNull();
    await reopenedStore.clear();
    expect(await reopenedStore.getRegistrationInfo()).toBeNull();
  });
});

describe("the pre-key store", () => {
  test("generates missing keys, and offers them again until uploaded", async () => {
    const { preKey, records, open } = setUp();
    const first = await preKey.getOrGenPreKeys(3, preKeyOf);
    expect(first.map(({ keyId }) => keyId)).toEqual([1, 2, 3]);
    expect(records.writes).toEqual([4]); // the keys and the next id in one write
    expect(await open().preKey.getOrGenPreKeys(2, preKeyOf)).toEqual([preKeyOf(1), preKeyOf(2)]);
    await preKey.markKeyAsUploaded(2);
    expect((await open().preKey.getOrGenPreKeys(3, preKeyOf)).map(({ keyId }) => keyId)).toEqual([3, 4, 5]);
    expect((await open().preKey.getOrGenSinglePreKey(preKeyOf)).keyId).toBe(3);
  });

  test("consumes a key once, even for two concurrent requests", async () => {
    const { preKey, open } = setUp();
    await preKey.getOrGenPreKeys(2, preKeyOf);
    const consumedKeys = await Promise.all([preKey.consumePreKeyById(1), preKey.consumePreKeyById(1)]);
    expect(consumedKeys).toEqual([preKeyOf(1), null]);
    expect(await open().preKey.consumePreKeyById(1)).toBeNull();
    expect(await preKey.getPreKeysById([2, 1, 2])).toEqual([preKeyOf(2), null, preKeyOf(2)]);
  });

  test("keeps a key if its consumption could not be stored", async () => {
    const { preKey, records } = setUp();
    await preKey.getOrGenPreKeys(1, preKeyOf);
    records.failure = new Error("down");
    await expect(preKey.consumePreKeyById(1)).rejects.toThrow("down");
    records.failure = undefined;
    expect(await preKey.consumePreKeyById(1)).toEqual(preKeyOf(1));
  });

  test("never reuses an id, even if its key was consumed", async () => {
    const { preKey, open } = setUp();
    await preKey.getOrGenPreKeys(2, preKeyOf);
    await preKey.consumePreKeyById(2);
    await preKey.consumePreKeyById(1);
    const results = await Promise.all([open().preKey.getOrGenSinglePreKey(preKeyOf), preKey.getPreKeyById(2)]);
    expect(results).toEqual([preKeyOf(3), null]);
  });

  test("generates keys one request at a time", async () => {
    const { preKey } = setUp();
    const [first, second] = await Promise.all([
      preKey.getOrGenPreKeys(2, preKeyOf),
      preKey.getOrGenPreKeys(3, preKeyOf),
    ]);
    expect(first.map(({ keyId }) => keyId)).toEqual([1, 2]);
    expect(second.map(({ keyId }) => keyId)).toEqual([1, 2, 3]);
  });

  test("stores a key under its own id", async () => {
    const { preKey } = setUp();
    await preKey.putPreKey(preKeyOf(40));
    expect(await preKey.getPreKeyById(40)).toEqual(preKeyOf(40));
    expect((await preKey.getOrGenPreKeys(2, preKeyOf)).map(({ keyId }) => keyId)).toEqual([40, 41]);
  });

  test("refuses invalid input", async () => {
    const { preKey } = setUp();
    await preKey.putPreKey(preKeyOf(5));
    for (const count of [0, -1, 1.5, NaN])
      await expect(preKey.getOrGenPreKeys(count, preKeyOf)).rejects.toThrow(`invalid prekey count: ${count}`);
    for (const keyId of [-1, 6])
      await expect(preKey.markKeyAsUploaded(keyId)).rejects.toThrow(`prekey ${keyId} is out of boundary`);
    await expect(preKey.getOrGenPreKeys(2, () => preKeyOf(5))).rejects.toThrow("which already exists");
  });

  test("drops only the oldest keys above 3000", async () => {
    const { preKey, records } = setUp();
    await preKey.getOrGenPreKeys(2000, preKeyOf);
    await preKey.markKeyAsUploaded(1500);
    await preKey.getOrGenPreKeys(2000, preKeyOf); // 500 are unused, so 1500 more
    expect([...records.values.keys()].filter((key) => key.includes("/pre-key/")).length).toBe(3001);
    expect(await preKey.getPreKeysById([500, 501])).toEqual([null, { ...preKeyOf(501), uploaded: true }]);
  });

  test("remembers whether the server has keys", async () => {
    const { preKey, open } = setUp();
    expect(await preKey.getServerHasPreKeys()).toBe(false);
    await preKey.setServerHasPreKeys(true);
    await preKey.putPreKey(preKeyOf(1));
    expect(await open().preKey.getServerHasPreKeys()).toBe(true);
    await preKey.clear();
    expect(await open().preKey.getServerHasPreKeys()).toBe(false);
    expect((await preKey.getOrGenSinglePreKey(preKeyOf)).keyId).toBe(1);
  });
});

describe("the session store", () => {
  test("keeps a session for each address", async () => {
    const { session, records, open } = setUp();
    const record = { rootKey: bytes(1), recvChains: [{ index: 1 }], initialExchangeInfo: null, prevSessions: [] };
    await session.setSessionsBatch([
      { address: ANA, session: record },
      { address: ANA_BY_LID, session: { ...record, rootKey: bytes(2) } },
    ]);
    expect(records.writes).toEqual([2]);
    const reopenedStore = open().session;
    expect(await reopenedStore.getSession({ ...ANA, server: "s.whatsapp.net" })).toEqual(record); // the default server
    expect(await reopenedStore.getSessionsBatch([ANA_BY_LID, { ...ANA, device: 1 }])).toEqual([
      { ...record, rootKey: bytes(2) },
      null,
    ]);
    expect(await reopenedStore.hasSessions([ANA, { ...ANA_BY_LID, server: "s.whatsapp.net" }])).toEqual([true, false]);
    await reopenedStore.setSession(ANA, { ...record, rootKey: bytes(3) });
    expect(await open().session.getSession(ANA)).toMatchObject({ rootKey: bytes(3) });
    await reopenedStore.deleteSession(ANA);
    expect(await open().session.hasSession(ANA)).toBe(false);
    await reopenedStore.clear();
    expect(records.values.size).toBe(0);
  });

  test("reads a session from the records once", async () => {
    const { session, records, open } = setUp();
    await session.setSession(ANA, { n: 1 });
    const reopenedStore = open().session;
    await reopenedStore.getSession(ANA);
    await reopenedStore.getSession(ANA);
    expect(records.reads).toEqual([1]);
  });

  test("never confuses two addresses", async () => {
    const { session } = setUp();
    await session.setSession({ user: "a|lid|1", server: "x", device: 2 }, { n: 1 });
    expect(await session.hasSession({ user: "a", server: "lid", device: 1 })).toBe(false);
    expect(await session.hasSession({ user: "a", server: "lid|1|x", device: 2 })).toBe(false);
  });
});

describe("the identity store", () => {
  test("keeps a key for each address", async () => {
    const { identity, open } = setUp();
    await identity.setRemoteIdentity(ANA, bytes(1));
    await identity.setRemoteIdentities([
      { address: ANA, identityKey: bytes(2) },
      { address: ANA_BY_LID, identityKey: bytes(3) },
    ]);
    const reopenedStore = open().identity;
    expect(await reopenedStore.getRemoteIdentity(ANA)).toEqual(bytes(2));
    expect(await reopenedStore.getRemoteIdentities([ANA_BY_LID, { ...ANA, device: 9 }])).toEqual([bytes(3), null]);
    await reopenedStore.clear();
    expect(await open().identity.getRemoteIdentity(ANA)).toBeNull();
  });
});

describe("the sender key store", () => {
  const key = (groupId: string, sender = ANA) => ({ groupId, sender, keyId: 1, iteration: 0, chainKey: bytes(1) });
  const distribution = (groupId: string, sender = ANA) => ({ groupId, sender, keyId: 1, timestampMs: 5 });

  test("keeps keys and distributions by group and sender", async () => {
    const { senderKey, records, open } = setUp();
    await senderKey.upsertSenderKey(key("g1"));
    await senderKey.upsertSenderKey(key("g10"));
    await senderKey.upsertSenderKeyDistribution(distribution("g1"));
    await senderKey.upsertSenderKeyDistributions([distribution("g1", ANA_BY_LID), distribution("g2")]);
    expect(records.writes).toEqual([1, 1, 1, 2]);
    const reopenedStore = open().senderKey;
    const { skList, skDistribList } = await reopenedStore.getGroupSenderKeyList("g1");
    expect(skList).toEqual([key("g1")]);
    expect(skDistribList).toHaveLength(2);
    expect(await reopenedStore.getDeviceSenderKey("g10", ANA)).toEqual(key("g10"));
    expect(await reopenedStore.getDeviceSenderKey("g2", ANA)).toBeNull();
    expect(await reopenedStore.getDeviceSenderKeyDistributions("g1", [ANA_BY_LID, { ...ANA, device: 4 }])).toEqual([
      distribution("g1", ANA_BY_LID),
      null,
    ]);
  });

  test("deletes and counts by sender, in one group or in all", async () => {
    const { senderKey } = setUp();
    for (const group of ["g1", "g2", "g3"]) {
      await senderKey.upsertSenderKey(key(group));
      await senderKey.upsertSenderKeyDistribution(distribution(group));
      await senderKey.upsertSenderKey(key(group, ANA_BY_LID));
    }
    expect(await senderKey.deleteDeviceSenderKey(ANA, "g1")).toBe(2);
    expect(await senderKey.deleteDeviceSenderKey(ANA, "g1")).toBe(0);
    expect(await senderKey.deleteDeviceSenderKey(ANA)).toBe(4);
    expect(await senderKey.markForgetSenderKey("g2", [ANA, ANA_BY_LID])).toBe(1);
    expect(await senderKey.markForgetSenderKey("g2", [])).toBe(0);
    expect((await senderKey.getGroupSenderKeyList("g3")).skList).toEqual([key("g3", ANA_BY_LID)]);
    await senderKey.clear();
    expect((await senderKey.getGroupSenderKeyList("g3")).skList).toEqual([]);
  });
});

describe("the privacy token store", () => {
  test("merges later entries into existing ones", async () => {
    const { privacyToken, records, open } = setUp();
    const jid = "5511987654321@s.whatsapp.net";
    await privacyToken.upsert({ jid, tcToken: bytes(1), tcTokenTimestamp: 5, updatedAtMs: 1 });
    await privacyToken.upsertBatch([
      { jid, nctSalt: bytes(2), updatedAtMs: 2 },
      { jid, tcToken: undefined, tcTokenTimestamp: 6, updatedAtMs: 3 },
      { jid: "other@lid", updatedAtMs: 4 },
    ]);
    expect(records.writes).toEqual([1, 2]);
    const reopenedStore = open().privacyToken;
    expect(await reopenedStore.getByJid(jid)).toEqual({
      ...{ jid, tcToken: bytes(1), tcTokenTimestamp: 6, nctSalt: bytes(2), updatedAtMs: 3 },
    });
    expect(await reopenedStore.deleteByJid("other@lid")).toBe(1);
    expect(await reopenedStore.deleteByJid("other@lid")).toBe(0);
    await reopenedStore.clear();
    expect(await open().privacyToken.getByJid(jid)).toBeNull();
  });

  test("loses no data if two upserts of one contact run concurrently", async () => {
    const { privacyToken } = setUp();
    await Promise.all([
      privacyToken.upsert({ jid: "a", tcToken: bytes(1), updatedAtMs: 1 }),
      privacyToken.upsert({ jid: "a", nctSalt: bytes(2), updatedAtMs: 2 }),
    ]);
    expect(await privacyToken.getByJid("a")).toEqual({
      jid: "a",
      tcToken: bytes(1),
      nctSalt: bytes(2),
      updatedAtMs: 2,
    });
  });
});

describe("the app state store", () => {
  const syncKey = (device: number, epoch: number, data = 1) => ({
    keyId: bytes(0, device, 0, 0, 0, epoch),
    keyData: bytes(data),
    timestamp: 5,
  });

  test("counts only new and changed keys", async () => {
    const { appState, open } = setUp();
    expect(await appState.upsertSyncKeys([syncKey(1, 1), syncKey(1, 2)])).toBe(2);
    expect(await appState.upsertSyncKeys([syncKey(1, 1), syncKey(1, 2, 9)])).toBe(1);
    const reopenedStore = open().appState;
    expect(await reopenedStore.getSyncKeyData(syncKey(1, 2).keyId)).toEqual(bytes(9));
    expect(await reopenedStore.getSyncKeyDataBatch([syncKey(1, 1).keyId, bytes(7)])).toEqual([bytes(1), null]);
    expect(await reopenedStore.getSyncKeysBatch([bytes(7), syncKey(1, 1).keyId])).toEqual([null, syncKey(1, 1)]);
  });

  test("uses the key with the highest epoch, then the one from the lowest device", async () => {
    const { appState } = setUp();
    expect(await appState.getActiveSyncKey()).toBeNull();
    await appState.upsertSyncKeys([syncKey(3, 2), syncKey(1, 1), { ...syncKey(0, 0), keyId: bytes(1) }]);
    expect(await appState.getActiveSyncKey()).toEqual(syncKey(3, 2));
    await appState.upsertSyncKeys([syncKey(2, 2), syncKey(4, 2)]);
    expect(await appState.getActiveSyncKey()).toEqual(syncKey(2, 2));
  });

  test("keeps the state of each collection, and writes only changes", async () => {
    const { appState, records, open } = setUp();
    expect(await appState.getCollectionState("regular")).toEqual({
      ...{ initialized: false, version: 0, hash: new Uint8Array(128), indexValueMap: new Map() },
    });
    const indexValues = new Map(Array.from({ length: 100 }, (_, i) => [`${(i % 16).toString(16)}${i}`, bytes(i)]));
    const update = { collection: "regular", version: 3, hash: bytes(4), indexValueMap: indexValues };
    await appState.setCollectionStates([update, { ...update, collection: "critical", indexValueMap: new Map() }]);
    expect(records.writes).toEqual([18]);
    const reopenedStore = open().appState;
    const [regular, critical, low] = await reopenedStore.getCollectionStates(["regular", "critical", "regular_low"]);
    expect(regular).toEqual({ initialized: true, version: 3, hash: bytes(4), indexValueMap: indexValues });
    expect(critical).toMatchObject({ initialized: true, indexValueMap: new Map() });
    expect(low).toMatchObject({ initialized: false });
    const reducedValues = new Map(
      [...indexValues].filter(([index]) => !index.startsWith("5")).concat([["a1", bytes(7)]]),
    );
    await reopenedStore.setCollectionStates([{ ...update, version: 4, indexValueMap: reducedValues }]);
    expect(records.writes).toEqual([18, 3]); // the header, part 5 and part a
    expect(await open().appState.getCollectionState("regular")).toMatchObject({
      version: 4,
      indexValueMap: reducedValues,
    });
  });

  test("exports everything, and clears it", async () => {
    const { appState } = setUp();
    await appState.upsertSyncKeys([syncKey(1, 1)]);
    const state = { version: 1, hash: bytes(1), indexValueMap: new Map([["0a", bytes(2)]]) };
    await appState.setCollectionStates([{ collection: "regular", ...state }]);
    expect(await appState.exportData()).toEqual({
      keys: [syncKey(1, 1)],
      collections: { regular: { version: 1, hash: bytes(1), indexValueMap: { "0a": bytes(2) } } },
    });
    await appState.clear();
    expect(await appState.exportData()).toEqual({ keys: [], collections: {} });
  });
});

function preKeyOf(keyId: number) {
  return preKey(keyId);
}
