import type { ClientRecord } from "./client-types.ts";
import { inTurn } from "./in-turn.ts";
import type { RecordSet } from "./record-set.ts";

type Generator = (keyId: number) => ClientRecord | Promise<ClientRecord>;

/** The one-time keys that the server hands out to devices that start a session with this one. */
export interface PreKeyStore {
  putPreKey(record: ClientRecord): Promise<void>;
  getOrGenPreKeys(count: number, generator: Generator): Promise<readonly ClientRecord[]>;
  getPreKeyById(keyId: number): Promise<ClientRecord | null>;
  getPreKeysById(keyIds: readonly number[]): Promise<readonly (ClientRecord | null)[]>;
  consumePreKeyById(keyId: number): Promise<ClientRecord | null>;
  getOrGenSinglePreKey(generator: Generator): Promise<ClientRecord>;
  markKeyAsUploaded(keyId: number): Promise<void>;
  setServerHasPreKeys(value: boolean): Promise<void>;
  getServerHasPreKeys(): Promise<boolean>;
  clear(): Promise<void>;
}

interface PreKey {
  readonly keyId: number;
  readonly uploaded?: boolean;
}

interface Meta {
  readonly nextId: number;
  readonly serverHasPreKeys: boolean;
}

const META = "meta";

/**
 * A pre-key store over records. All changes to keys run in turn, so that no key is consumed twice and no id is issued
 * twice. @param maxKeys limit above which the oldest uploaded keys are deleted
 */
export function preKeyStore(records: RecordSet<object>, maxKeys: number): PreKeyStore {
  const runInTurn = inTurn();

  async function meta(): Promise<Meta> {
    const { nextId = 1, serverHasPreKeys = false } = ((await records.get(META)) ?? {}) as Partial<Meta>;
    return { nextId, serverHasPreKeys };
  }

  /** All keys, by ascending id. */
  async function allKeys(): Promise<PreKey[]> {
    const ids = (await records.names()).filter((name) => name !== META).map(Number);
    const keys = await records.getAll(ids.sort((a, b) => a - b).map(String));
    return keys.filter((key) => key !== undefined) as PreKey[];
  }

  async function add(keys: readonly PreKey[]): Promise<void> {
    const { nextId, serverHasPreKeys } = await meta();
    const changes = new Map<string, object | undefined>(keys.map((key) => [String(key.keyId), key]));
    const uploadedKeys = (await allKeys()).filter(
      ({ uploaded, keyId }) => uploaded === true && !changes.has(String(keyId)),
    );
    const surplus = Math.max(0, (await records.names()).length - 1 + keys.length - maxKeys);
    for (const { keyId } of uploadedKeys.slice(0, surplus)) changes.set(String(keyId), undefined);
    const next = keys.reduce((largest, { keyId }) => Math.max(largest, keyId + 1), nextId);
    await records.set(changes.set(META, { nextId: next, serverHasPreKeys }));
  }

  async function getOrGen(count: number, generator: Generator): Promise<readonly PreKey[]> {
    if (!Number.isSafeInteger(count) || count <= 0) throw new Error(`invalid prekey count: ${count}`);
    const keys = await allKeys();
    const availableKeys = keys.filter(({ uploaded }) => uploaded !== true).slice(0, count);
    const { nextId } = await meta();
    const generatedKeys: PreKey[] = [];
    for (let id = nextId; availableKeys.length + generatedKeys.length < count; id++)
      generatedKeys.push(await generator(id));
    const usedIds = new Set(keys.map(({ keyId }) => keyId));
    for (const { keyId } of generatedKeys) {
      if (usedIds.has(keyId)) throw new Error(`the generator returned pre-key ${keyId}, which already exists`);
      usedIds.add(keyId);
    }
    if (generatedKeys.length > 0) await add(generatedKeys);
    return [...availableKeys, ...generatedKeys];
  }

  return {
    putPreKey: (record) => runInTurn(() => add([record])),
    getOrGenPreKeys: (count, generator) => runInTurn(() => getOrGen(count, generator)),
    getOrGenSinglePreKey: async (generator) => (await runInTurn(() => getOrGen(1, generator)))[0],
    getPreKeyById: async (keyId) => (await records.get(String(keyId))) ?? null,
    getPreKeysById: async (keyIds) => (await records.getAll(keyIds.map(String))).map((key) => key ?? null),
    consumePreKeyById: (keyId) =>
      runInTurn(async () => {
        const key = await records.get(String(keyId));
        if (key !== undefined) await records.set(new Map([[String(keyId), undefined]]));
        return key ?? null;
      }),
    markKeyAsUploaded: (keyId) =>
      runInTurn(async () => {
        const { nextId } = await meta();
        if (keyId < 0 || keyId >= nextId) throw new Error(`prekey ${keyId} is out of boundary`);
        const newlyUploadedKeys = (await allKeys()).filter((key) => key.keyId <= keyId && key.uploaded !== true);
        await records.set(new Map(newlyUploadedKeys.map((key) => [String(key.keyId), { ...key, uploaded: true }])));
      }),
    setServerHasPreKeys: (value) =>
      runInTurn(async () => records.set(new Map([[META, { ...(await meta()), serverHasPreKeys: value }]]))),
    getServerHasPreKeys: async () => (await meta()).serverHasPreKeys,
    clear: () => runInTurn(() => records.clear()),
  };
}
