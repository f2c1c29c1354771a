import type { System } from "../../../../src/ports/system.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import { type HealthChanged, ONLINE, offline, PROBE_INTERVAL_MS, type Presence } from "./presence.ts";

/**
 * The presence of a trunk without probes (`probe: "none"`): it is considered online until a call fails in the
 * transport, and again half a minute after that, because only another call can test it.
 */
export class AssumedPresence implements Presence {
  readonly #system: System;
  readonly #onChange: HealthChanged;
  #health: LineHealth = ONLINE;
  #cancel: (() => void) | undefined;
  #isStarted = false;

  constructor(system: System, onChange: HealthChanged) {
    this.#system = system;
    this.#onChange = onChange;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#onChange(this.#health);
  }

  async checkHealth(): Promise<LineHealth> {
    return this.#health;
  }

  suspect(detail: string): void {
    if (!this.#isStarted) return;
    this.#cancel?.();
    this.#cancel = this.#system.after(PROBE_INTERVAL_MS, () => this.markReachable());
    this.#report(offline(detail));
  }

  markReachable(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#isStarted && this.#health.state === "offline") this.#report(ONLINE);
  }

  async close(): Promise<void> {
    this.#cancel?.();
    this.#isStarted = false;
  }

  #report(health: LineHealth): void {
    this.#health = health;
    this.#onChange(health);
  }
}
