import { type ClientRecord, isBytes, isNestedObject } from "./client-types.ts";
import type { RecordSet } from "./record-set.ts";

/** The credentials of the linked device: what proves to WhatsApp that this is the device that was linked. */
export interface AuthStore {
  load(): Promise<ClientRecord | null>;
  save(credentials: ClientRecord): Promise<void>;
  clear(): Promise<void>;
}

const NAME = "credentials";

export function authStore(records: RecordSet<object>): AuthStore {
  return {
    load: async () => (await records.get(NAME)) ?? null,
    save: (credentials) => records.set(new Map([[NAME, credentials]])),
    clear: () => records.clear(),
  };
}

/** True if a stored value has the keys without which the client cannot start. */
export function isCredentials(value: unknown): value is object {
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
