import { addressName, type ClientRecord, type DeviceAddress } from "./client-types.ts";
import type { RecordSet } from "./record-set.ts";

/** The encryption sessions with other devices. */
export interface SessionStore {
  hasSession(address: DeviceAddress): Promise<boolean>;
  hasSessions(addresses: readonly DeviceAddress[]): Promise<readonly boolean[]>;
  getSession(address: DeviceAddress): Promise<ClientRecord | null>;
  getSessionsBatch(addresses: readonly DeviceAddress[]): Promise<readonly (ClientRecord | null)[]>;
  setSession(address: DeviceAddress, session: ClientRecord): Promise<void>;
  setSessionsBatch(
    entries: readonly { readonly address: DeviceAddress; readonly session: ClientRecord }[],
  ): Promise<void>;
  deleteSession(address: DeviceAddress): Promise<void>;
  clear(): Promise<void>;
}

export function sessionStore(records: RecordSet<object>): SessionStore {
  const read = (addresses: readonly DeviceAddress[]): Promise<(object | undefined)[]> =>
    records.getAll(addresses.map(addressName));
  return {
    hasSession: async (address) => (await read([address]))[0] !== undefined,
    hasSessions: async (addresses) => (await read(addresses)).map((session) => session !== undefined),
    getSession: async (address) => (await read([address]))[0] ?? null,
    getSessionsBatch: async (addresses) => (await read(addresses)).map((session) => session ?? null),
    setSession: (address, session) => records.set(new Map([[addressName(address), session]])),
    setSessionsBatch: (entries) =>
      records.set(new Map(entries.map(({ address, session }) => [addressName(address), session]))),
    deleteSession: (address) => records.set(new Map([[addressName(address), undefined]])),
    clear: () => records.clear(),
  };
}

/** The identity keys of other devices. */
export interface IdentityStore {
  getRemoteIdentity(address: DeviceAddress): Promise<Uint8Array | null>;
  getRemoteIdentities(addresses: readonly DeviceAddress[]): Promise<readonly (Uint8Array | null)[]>;
  setRemoteIdentity(address: DeviceAddress, identityKey: Uint8Array): Promise<void>;
  setRemoteIdentities(
    entries: readonly { readonly address: DeviceAddress; readonly identityKey: Uint8Array }[],
  ): Promise<void>;
  clear(): Promise<void>;
}

export function identityStore(records: RecordSet<Uint8Array>): IdentityStore {
  const read = async (addresses: readonly DeviceAddress[]): Promise<(Uint8Array | null)[]> =>
    (await records.getAll(addresses.map(addressName))).map((key) => key ?? null);
  return {
    getRemoteIdentity: async (address) => (await read([address]))[0] ?? null,
    getRemoteIdentities: read,
    setRemoteIdentity: (address, identityKey) => records.set(new Map([[addressName(address), identityKey]])),
    setRemoteIdentities: (entries) =>
      records.set(new Map(entries.map(({ address, identityKey }) => [addressName(address), identityKey]))),
    clear: () => records.clear(),
  };
}
