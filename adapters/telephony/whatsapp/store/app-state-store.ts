import { toHex } from "../../../../src/base/hex.ts";
import type { ClientRecord } from "./client-types.ts";
import { inTurn } from "./in-turn.ts";
import type { RecordSet } from "./record-set.ts";

/** Data that the phone shares with its linked devices, such as contacts' names, and the keys that encrypt it. */
export interface AppStateStore {
  exportData(): Promise<ClientRecord>;
  /** Returns the number of new keys. */
  upsertSyncKeys(keys: readonly ClientRecord[]): Promise<number>;
  getSyncKeysBatch(keyIds: readonly Uint8Array[]): Promise<readonly (ClientRecord | null)[]>;
  getSyncKeyData(keyId: Uint8Array): Promise<Uint8Array | null>;
  getSyncKeyDataBatch(keyIds: readonly Uint8Array[]): Promise<readonly (Uint8Array | null)[]>;
  getActiveSyncKey(): Promise<ClientRecord | null>;
  getCollectionState(collection: string): Promise<ClientRecord>;
  getCollectionStates(collections: readonly string[]): Promise<readonly ClientRecord[]>;
  setCollectionStates(updates: readonly ClientRecord[]): Promise<void>;
  clear(): Promise<void>;
}

interface SyncKey {
  readonly keyId: Uint8Array;
  readonly keyData: Uint8Array;
}

interface CollectionState {
  readonly version: number;
  readonly hash: Uint8Array;
  readonly indexValueMap: ReadonlyMap<string, Uint8Array>;
}

/** Size of an empty collection's hash, bytes. */
const EMPTY_HASH_BYTES = 128;
/** Number of parts of a collection, by the first digit of the index, so that no part grows too large. */
const PARTS = 16;

export function appStateStore(keys: RecordSet<object>, collections: RecordSet<object>): AppStateStore {
  const runInTurn = inTurn();

  async function syncKeys(keyIds: readonly Uint8Array[]): Promise<(SyncKey | null)[]> {
    return (await keys.getAll(keyIds.map(toHex))).map((key) => (key as SyncKey | undefined) ?? null);
  }

  async function allKeys(): Promise<SyncKey[]> {
    return (await keys.getAll(await keys.names())).filter((key) => key !== undefined) as SyncKey[];
  }

  async function stateOf(collection: string): Promise<CollectionState | undefined> {
    const names = [collection, ...partNames(collection)];
    const [head, ...parts] = (await collections.getAll(names)) as [CollectionState | undefined, ...unknown[]];
    if (head === undefined) return undefined;
    const entries = parts.flatMap((part) => (part instanceof Map ? [...(part as Map<string, Uint8Array>)] : []));
    return { version: head.version, hash: head.hash, indexValueMap: new Map(entries) };
  }

  async function collectionState(collection: string): Promise<ClientRecord> {
    const state = await stateOf(collection);
    const emptyState = { version: 0, hash: new Uint8Array(EMPTY_HASH_BYTES), indexValueMap: new Map() };
    return { initialized: state !== undefined, ...(state ?? emptyState) };
  }

  return {
    exportData: async () => {
      const names = (await collections.names()).filter((name) => !name.includes("/"));
      const states = await Promise.all(names.map(async (name) => [name, await stateOf(name)] as const));
      const contents = states.map(([name, state]) => [
        name,
        { ...state, indexValueMap: Object.fromEntries(state?.indexValueMap ?? []) },
      ]);
      return { keys: await allKeys(), collections: Object.fromEntries(contents) };
    },
    upsertSyncKeys: (updates) =>
      runInTurn(async () => {
        const storedKeys = await syncKeys(updates.map(({ keyId }) => keyId));
        const changedKeys = (updates as readonly SyncKey[]).filter(
          ({ keyData }, index) => !equalBytes(storedKeys[index]?.keyData, keyData),
        );
        await keys.set(new Map(changedKeys.map((key) => [toHex(key.keyId), key])));
        return changedKeys.length;
      }),
    getSyncKeysBatch: syncKeys,
    getSyncKeyData: async (keyId) => (await syncKeys([keyId]))[0]?.keyData ?? null,
    getSyncKeyDataBatch: async (keyIds) => (await syncKeys(keyIds)).map((key) => key?.keyData ?? null),
    getActiveSyncKey: async () => activeKey(await allKeys()),
    getCollectionState: collectionState,
    getCollectionStates: (names) => Promise.all(names.map(collectionState)),
    setCollectionStates: (updates) =>
      runInTurn(async () => {
        const records = updates.flatMap((update) => partsOf(update.collection, update));
        const storedParts = await collections.getAll(records.map(([name]) => name));
        await collections.set(new Map(records.filter(([, part], index) => !equalParts(storedParts[index], part))));
      }),
    clear: () => runInTurn(async () => void (await Promise.all([keys.clear(), collections.clear()]))),
  };
}

function partNames(collection: string): string[] {
  return Array.from({ length: PARTS }, (_, part) => `${collection}/${part}`);
}

/** The records of a collection; undefined for parts without entries. */
function partsOf(collection: string, state: CollectionState): [string, object | undefined][] {
  const parts = partNames(collection).map((name) => [name, new Map<string, Uint8Array>()] as const);
  for (const [index, value] of state.indexValueMap) parts[partOf(index)]?.[1].set(index, value);
  return [
    [collection, { version: state.version, hash: state.hash }],
    ...parts.map(([name, part]): [string, object | undefined] => [name, part.size > 0 ? part : undefined]),
  ];
}

function partOf(index: string): number {
  const part = Number.parseInt(index.charAt(0), PARTS);
  return Number.isNaN(part) ? 0 : part;
}

/** The key of the highest epoch; of the lower device if two have the same. */
function activeKey(keys: readonly SyncKey[]): SyncKey | null {
  let activeSyncKey: SyncKey | null = null;
  for (const key of keys) {
    const lead = activeSyncKey === null ? 1 : epochOf(key) - epochOf(activeSyncKey);
    if (lead > 0 || (lead === 0 && activeSyncKey !== null && deviceOf(key) < deviceOf(activeSyncKey)))
      activeSyncKey = key;
  }
  return activeSyncKey;
}

/** An id has two bytes for the device's number, then four for the epoch. */
function epochOf({ keyId }: SyncKey): number {
  return keyId.length < 6 ? -1 : new DataView(keyId.buffer, keyId.byteOffset).getUint32(2);
}

function deviceOf({ keyId }: SyncKey): number {
  return keyId.length < 6 ? Infinity : new DataView(keyId.buffer, keyId.byteOffset).getUint16(0);
}

function equalParts(a: object | undefined, b: object | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (!(a instanceof Map && b instanceof Map) || a.size !== b.size) return false;
  for (const [index, value] of b) if (!equalBytes(a.get(index), value)) return false;
  return true;
}

function equalBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}
