/**
 * A record of the client, such as its credentials. The store passes records through; the fields that it reads are typed
 * where they are read.
 */
// biome-ignore lint/suspicious/noExplicitAny: these are the client's types, and only `any` accepts all of them
export type ClientRecord = any;

/** The address of a device, as the client's protocol names it. */
export interface DeviceAddress {
  readonly user: string;
  readonly server?: string;
  readonly device: number;
}

/** The name of an address in a key; no two addresses share one. */
export function addressName({ user, server = "s.whatsapp.net", device }: DeviceAddress): string {
  return [user, server, String(device)].map(encodeURIComponent).join("|");
}

export function isNestedObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
