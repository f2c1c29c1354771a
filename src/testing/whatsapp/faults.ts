import type { System } from "../../ports/system.ts";

/** A method of the client that a test can make misbehave. */
export type FaultyMethod =
  | "connect"
  | "disconnect"
  | "logout"
  | "requestPairingCode"
  | "getLidsByPhoneNumbers"
  | "sendNode"
  | "getReachoutTimelock"
  | "startCall"
  | "endCall";

/**
 * `hang`: the promise never settles. An error: the promise rejects with it. `afterMs`: the method starts that much
 * later.
 */
export type NetworkFault = "hang" | Error | { readonly afterMs: number };

/** The faults that a test has requested, by method. */
export class Faults {
  readonly #pendingFaults = new Map<FaultyMethod, NetworkFault[]>();
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  add(method: FaultyMethod, fault: NetworkFault, times: number): void {
    const pendingFaults = this.#pendingFaults.get(method) ?? [];
    for (let i = 0; i < times; i++) pendingFaults.push(fault);
    this.#pendingFaults.set(method, pendingFaults);
  }

  /** Result of the next fault of a method; undefined for a method that works. */
  take(method: FaultyMethod): Promise<void> | undefined {
    const fault = this.#pendingFaults.get(method)?.shift();
    if (fault === undefined) return undefined;
    if (fault instanceof Error) return Promise.reject(fault);
    if (fault === "hang") return new Promise(() => {});
    return new Promise((resolve) => void this.#system.after(fault.afterMs, resolve));
  }

  /** Applies the next fault of a method; a method without one continues at once. */
  async apply(method: FaultyMethod): Promise<void> {
    await this.take(method);
  }
}
