import type { ClientRecord } from "./client-types.ts";
import type { RecordSet } from "./record-set.ts";

/** The identity of the linked device, and its signed pre-key. */
export interface SignalStore {
  getRegistrationInfo(): Promise<ClientRecord | null>;
  setRegistrationInfo(info: ClientRecord): Promise<void>;
  getSignedPreKey(): Promise<ClientRecord | null>;
  setSignedPreKey(record: ClientRecord): Promise<void>;
  getSignedPreKeyById(keyId: number): Promise<ClientRecord | null>;
  setSignedPreKeyRotationTs(value: number | null): Promise<void>;
  getSignedPreKeyRotationTs(): Promise<number | null>;
  clear(): Promise<void>;
}

export function signalStore(records: RecordSet<object>): SignalStore {
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
