import type { LineRecords } from "../../../../src/ports/telephony/line-records.ts";
import { type IdentityStore, identityStore, type SessionStore, sessionStore } from "./address-stores.ts";
import { type AppStateStore, appStateStore } from "./app-state-store.ts";
import { type ClientRecord, isBytes, isNestedObject } from "./client-types.ts";
import { type PreKeyStore, preKeyStore } from "./pre-key-store.ts";
import { type PrivacyTokenStore, privacyTokenStore } from "./privacy-token-store.ts";
import { RecordSet, type RecordSetOptions } from "./record-set.ts";
import { RecordWriter } from "./record-writer.ts";
import { type SenderKeyStore, senderKeyStore } from "./sender-key-store.ts";

/** The stores of a client that must survive a restart, by session id. */
export interface WhatsAppStoreBackend {
  readonly stores: {
    readonly auth: (sessionId: string) => AuthStore;
    readonly signal: (sessionId: string) => SignalStore;
    readonly preKey: (sessionId: string) => PreKeyStore;
    readonly session: (sessionId: string) => SessionStore;
    readonly identity: (sessionId: string) => IdentityStore;
    readonly senderKey: (sessionId: string) => SenderKeyStore;
    readonly appState: (sessionId: string) => AppStateStore;
    readonly privacyToken: (sessionId: string) => PrivacyTokenStore;
  };
  readonly caches: Record<never, never>;
}

/** Input of the client's `createStore`: the backend, and the domains that it serves. No messages are kept. */
export interface WhatsAppStoreOptions {
  readonly backends: { readonly ringport: WhatsAppStoreBackend };
  readonly providers: Readonly<Record<keyof WhatsAppStoreBackend["stores"], "ringport">> &
    Readonly<Record<"messages" | "threads" | "contacts", "none">>;
}

/**
 * Maximum number of records of each kind, 18,500 in total; above it, the least recently written records are deleted.
 */
const MAX_RECORDS = {
  preKey: 3000,
  session: 4000,
  identity: 4000,
  senderKey: 2000,
  distribution: 2000,
  privacyToken: 3000,
  syncKey: 500,
} as const;
/** Maximum number of records of each kind that are kept in memory, because they are read for each message or call. */
const MAX_CACHED = 500;
const TOKENS = { isRecord: isNestedObject, maxCached: MAX_CACHED, maxRecords: MAX_RECORDS.privacyToken } as const;

/**
 * The stores of privacy tokens that clients have opened, by their records: a second store would miss writes of the
 * first one.
 */
const OPEN_STORES = new WeakMap<LineRecords, Map<string, PrivacyTokenStore>>();

/** The privacy tokens of a client: the store that it has opened, otherwise a new one on the same records. */
export function privacyTokensOf(records: LineRecords, sessionId: string): PrivacyTokenStore {
  const openStore = OPEN_STORES.get(records)?.get(sessionId);
  return openStore ?? privacyTokenStore(setOf(records, new RecordWriter(records))(sessionId, "privacy-token", TOKENS));
}

/**
 * A zapo client's session data in its line's records: encrypted in Ringport's storage, and deleted with the instance's
 * credentials. Pass it to the client's `createStore`:
 *
 * ```ts
 * import { createStore, WaClient } from "zapo-js";
 * import { whatsapp, whatsappStore } from "ringport/whatsapp";
 *
 * const telephony = whatsapp({
 *   client: ({ sessionId, records }) =>
 *     new WaClient({ sessionId, store: createStore(whatsappStore(records)), plugins: [voipPlugin()] }),
 * });
 * ```
 */
export function whatsappStore(records: LineRecords): WhatsAppStoreOptions {
  const set = setOf(records, new RecordWriter(records));

  function openTokens(sessionId: string): PrivacyTokenStore {
    const tokens = privacyTokenStore(set(sessionId, "privacy-token", TOKENS));
    const openStores = OPEN_STORES.get(records) ?? new Map<string, PrivacyTokenStore>();
    OPEN_STORES.set(records, openStores.set(sessionId, tokens));
    return tokens;
  }

  const objects = (sessionId: string, kind: string, maxRecords?: number, maxCached = MAX_CACHED): RecordSet<object> =>
    set<object>(sessionId, kind, {
      isRecord: isNestedObject,
      maxCached,
      ...(maxRecords !== undefined && { maxRecords }),
    });

  const ringport: WhatsAppStoreBackend = {
    stores: {
      auth: (id) => authStore(set<object>(id, "auth", { isRecord: isCredentials })),
      signal: (id) => signalStore(objects(id, "signal")),
      preKey: (id) => preKeyStore(objects(id, "pre-key", undefined, MAX_RECORDS.preKey + 1), MAX_RECORDS.preKey),
      session: (id) => sessionStore(objects(id, "session", MAX_RECORDS.session)),
      identity: (id) =>
        identityStore(
          set<Uint8Array>(id, "identity", {
            isRecord: isBytes,
            maxRecords: MAX_RECORDS.identity,
            maxCached: MAX_CACHED,
          }),
        ),
      senderKey: (id) =>
        senderKeyStore(
          objects(id, "sender-key", MAX_RECORDS.senderKey),
          objects(id, "distribution", MAX_RECORDS.distribution),
        ),
      appState: (id) =>
        appStateStore(objects(id, "sync-key", MAX_RECORDS.syncKey), objects(id, "collection", undefined, 0)),
      privacyToken: openTokens,
    },
    caches: {},
  };
  return {
    backends: { ringport },
    providers: {
      auth: "ringport",
      signal: "ringport",
      preKey: "ringport",
      session: "ringport",
      identity: "ringport",
      senderKey: "ringport",
      appState: "ringport",
      privacyToken: "ringport",
      messages: "none",
      threads: "none",
      contacts: "none",
    },
  };
}

function setOf(records: LineRecords, writer: RecordWriter) {
  return <T>(
    sessionId: string,
    kind: string,
    options: Pick<RecordSetOptions<T>, "isRecord" | "maxRecords" | "maxCached">,
  ) => new RecordSet<T>({ records, writer, prefix: `${encodeURIComponent(sessionId)}/${kind}/`, ...options });
}

/** The linked device's credentials, which prove to WhatsApp that this is the linked device. */
interface AuthStore {
  load(): Promise<ClientRecord | null>;
  save(credentials: ClientRecord): Promise<void>;
  clear(): Promise<void>;
}

const NAME = "credentials";

function authStore(records: RecordSet<object>): AuthStore {
  return {
    load: async () => (await records.get(NAME)) ?? null,
    save: (credentials) => records.set(new Map([[NAME, credentials]])),
    clear: () => records.clear(),
  };
}

/** True if a stored value has the keys without which the client cannot start. */
function isCredentials(value: unknown): value is object {
  if (!isNestedObject(value)) return false;
  const { noiseKeyPair, registrationInfo, signedPreKey, advSecretKey } = value as ClientRecord;
  return (
    isKeyPair(noiseKeyPair) &&
    isKeyPair(registrationInfo?.identityKeyPair) &&
    isKeyPair(signedPreKey?.keyPair) &&
    isBytes(advSecretKey)
  );
}

function isKeyPair(value: ClientRecord): boolean {
  return isBytes(value?.pubKey) && isBytes(value?.privKey);
}

/** The identity of the linked device, and its signed pre-key. */
interface SignalStore {
  getRegistrationInfo(): Promise<ClientRecord | null>;
  setRegistrationInfo(info: ClientRecord): Promise<void>;
  getSignedPreKey(): Promise<ClientRecord | null>;
  setSignedPreKey(record: ClientRecord): Promise<void>;
  getSignedPreKeyById(keyId: number): Promise<ClientRecord | null>;
  setSignedPreKeyRotationTs(value: number | null): Promise<void>;
  getSignedPreKeyRotationTs(): Promise<number | null>;
  clear(): Promise<void>;
}

function signalStore(records: RecordSet<object>): SignalStore {
  const read = async (name: string): Promise<ClientRecord | null> => (await records.get(name)) ?? null;
  const write = (name: string, value: object | undefined): Promise<void> => records.set(new Map([[name, value]]));
  return {
    getRegistrationInfo: () => read("registration"),
    setRegistrationInfo: (info) => write("registration", info),
    getSignedPreKey: () => read("signed-pre-key"),
    setSignedPreKey: (record) => write("signed-pre-key", record),
    getSignedPreKeyById: async (keyId) => {
      const record = await read("signed-pre-key");
      return record?.keyId === keyId ? record : null;
    },
    setSignedPreKeyRotationTs: (value) => write("rotation", value === null ? undefined : { at: value }),
    getSignedPreKeyRotationTs: async () => (await read("rotation"))?.at ?? null,
    clear: () => records.clear(),
  };
}
