import { toHex } from "../../../src/base/hex.ts";
/** The simulated phone that a line is linked to; stored as the line's credentials. */
export interface Device {
  readonly id: string;
  /** Random E.164 number. */
  readonly phone: string;
}

/** A new device. @param random fills an array with random bytes */
export function newDevice(random: (bytes: Uint8Array) => void): Device {
  const bytes = new Uint8Array(10);
  random(bytes);
  const line = 1_000 + (((bytes[8]! << 8) | bytes[9]!) % 9_000); // above the numbers of the plan, 0100 to 0199
  return {
    id: toHex(bytes.subarray(0, 8)),
    phone: `+1202555${line}`,
  };
}

/** Encodes the device as credentials. */
export function encodeDevice(device: Device): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(device));
}

/** Decodes stored credentials; returns undefined if the simulator did not write them. */
export function decodeDevice(credentials: Uint8Array): Device | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(credentials));
    if (typeof value !== "object" || value === null) return undefined;
    const { id, phone } = value as Partial<Record<keyof Device, unknown>>;
    return typeof id === "string" && typeof phone === "string" ? { id, phone } : undefined;
  } catch {
    return undefined;
  }
}
