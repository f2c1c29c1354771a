/** The callee's devices known to a call. */
export interface CalleeDevices {
  /** Numbers of the devices that have the offer; empty if unknown. */
  readonly offeredDevices: readonly number[];
  /** Devices that have reported that they ring; undefined stands for an unnamed one. */
  readonly ringingDevices: readonly (number | undefined)[];
  /** Devices that have rejected the call only for themselves, with their reasons. */
  readonly rejections: ReadonlyMap<number, string>;
}

/** Number of the phone itself. */
const PHONE = 0;

export const UNKNOWN_DEVICES: CalleeDevices = { offeredDevices: [], ringingDevices: [], rejections: new Map() };

/** Adds a device that has reported that it rings. */
export function withRinging(devices: CalleeDevices, device: number | undefined): CalleeDevices {
  const { ringingDevices } = devices;
  return ringingDevices.includes(device) ? devices : { ...devices, ringingDevices: [...ringingDevices, device] };
}

/** Adds a device that has rejected the call only for itself; only its first reason is kept. */
export function withRejection(devices: CalleeDevices, device: number, reason: string): CalleeDevices {
  const { rejections } = devices;
  return rejections.has(device) ? devices : { ...devices, rejections: new Map([...rejections, [device, reason]]) };
}

/** True if the devices are known, and each of them has rejected the call. */
export function isRejectedByAll({ offeredDevices, rejections }: CalleeDevices): boolean {
  return offeredDevices.length > 0 && offeredDevices.every((device) => rejections.has(device));
}

/** True if the phone itself is busy, and no other device is known, by a list or its own report, that may still ring. */
export function isOnlyPhoneBusy({ offeredDevices, ringingDevices, rejections }: CalleeDevices): boolean {
  const areOthersRinging = ringingDevices.some((device) => device === undefined || !rejections.has(device));
  return rejections.get(PHONE) === "busy" && offeredDevices.length === 0 && !areOthersRinging;
}
