import {
  DEADLINE_PASSED,
  DialError,
  type DialOptions,
  type InstanceRef,
  type Line,
  type LineCondition,
  type LineHealth,
  type LineHost,
  type LineRecords,
  type PairingCode,
} from "../../ports/telephony.ts";
import type { ScriptedTelephony } from "../scripted-telephony.ts";
import { ScriptedLeg } from "./leg.ts";

/** One line: the methods of `Line`, and those by which a test controls it. */
export class ScriptedLine implements Line {
  readonly #telephony: ScriptedTelephony;
  readonly #host: LineHost;
  readonly instance: InstanceRef;
  /** The result of a probe. */
  health: LineHealth = { state: "offline", reason: "not linked" };
  /** Number of probes. */
  probes = 0;
  /** Set to delay `probe`, `unlink` and `dial`, as an unresponsive network does. */
  barrier: Promise<unknown> | undefined;
  /** Set to delay `link`. */
  linkBarrier: Promise<unknown> | undefined;
  /** Set to delay `close`. */
  closeBarrier: Promise<unknown> | undefined;
  /** Set to delay `pairingCode`. */
  pairingBarrier: Promise<unknown> | undefined;
  /** A code for a number; undefined unless the network has `pairingCodes`. */
  readonly pairingCode: ((phone: string, signal: AbortSignal) => Promise<PairingCode>) | undefined;
  closed = false;
  #codeCount = 0;
  #isScanned = false;

  constructor(telephony: ScriptedTelephony, instance: InstanceRef, host: LineHost) {
    this.#telephony = telephony;
    this.#host = host;
    this.instance = instance;
    this.pairingCode = telephony.pairingCodes ? (phone) => this.#pairingCode(phone) : undefined;
    if (telephony.capabilities.linking === "operator") this.health = telephony.reachability;
    else if (this.linked) this.health = { state: "online" };
  }

  /** The records that the core keeps for this line. */
  get records(): LineRecords {
    return this.#host.records;
  }

  /** Reports a notice for the owner of the number; undefined withdraws it. */
  showCondition(condition: LineCondition | undefined, reason?: string): void {
    this.#host.condition(condition, reason);
  }

  /** True if a phone is linked. */
  get linked(): boolean {
    return this.#telephony.devices.has(this.instance.id);
  }

  async link(): Promise<void> {
    await this.linkBarrier;
    // Even if the network knows a device: an earlier process may have linked it and died before storing the link.
    if ((this.#isScanned && this.linked) || this.waitsForScan) return;
    this.health = { state: "offline", reason: "not linked" };
    this.showCode();
  }

  async #pairingCode(phone: string): Promise<PairingCode> {
    await this.pairingBarrier;
    await this.link();
    return { code: `PAIR-${phone.slice(-4)}`, expiresAt: this.#telephony.system.now() + 180_000 };
  }

  /** True if a code is shown that has not been scanned yet. */
  get waitsForScan(): boolean {
    return this.#codeCount > 0;
  }

  /** Reports a new linking code. */
  showCode(validMs = 20_000): void {
    const expiresAt = this.#telephony.system.now() + validMs;
    this.#codeCount++;
    this.#host.code({
      payload: `scripted:${this.instance.id}:${this.#codeCount}`,
      expiresAt,
      sequence: this.#codeCount,
    });
  }

  /**
   * Scans the code as a person would: the number is linked, its credentials are stored, the line comes online. If the
   * host refuses the link, rejects and forgets the device.
   */
  async scan(phone: string | null = "+12025550199"): Promise<void> {
    const { devices } = this.#telephony;
    devices.set(this.instance.id, phone);
    try {
      await this.#host.linked(phone, new TextEncoder().encode(phone ?? ""));
    } catch (error) {
      devices.delete(this.instance.id);
      throw error;
    }
    if (!this.linked) return; // unlinked again while the link was being stored
    this.#codeCount = 0;
    this.#isScanned = true;
    this.goOnline();
  }

  goOnline(): void {
    this.health = { state: "online" };
    this.#host.online();
  }

  /**
   * @param report false: the line does not report it, so that only a probe finds out
   * @param lasting true if a person must fix the fault
   */
  goOffline(
    reason = "the network does not respond",
    { report = true, lasting = false }: { report?: boolean; lasting?: boolean } = {},
  ): void {
    this.health = lasting ? { state: "offline", reason, lasting } : { state: "offline", reason };
    if (report) this.#host.offline(reason, lasting);
  }

  /** Unlinks the device, as the phone's owner would. */
  unlinkByOwner(reason = "unlinked on the phone"): void {
    this.#telephony.devices.delete(this.instance.id);
    this.health = { state: "offline", reason };
    this.#host.unlinked(reason);
  }

  async probe(): Promise<LineHealth> {
    this.probes++;
    const { health } = this; // the health at the start of the probe
    await this.barrier;
    return health;
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<ScriptedLeg> {
    if (this.health.state === "offline") throw new DialError("line_lost", this.health.reason);
    if (this.#telephony.system.monotonic() >= this.#host.deadlines.dial)
      throw new DialError("line_lost", DEADLINE_PASSED);
    const leg = new ScriptedLeg({
      ...options,
      to,
      instanceId: this.instance.id,
      sampleRate: this.#telephony.sampleRate,
      frameMs: this.#telephony.frameMs,
      system: this.#telephony.system,
      deadlines: this.#host.deadlines,
      transfers: this.#telephony.capabilities.transfers === true,
    });
    this.#telephony.legs.push(leg);
    signal.addEventListener("abort", () => void leg.hangUp(), { once: true });
    await this.#telephony.onDial(leg);
    await this.barrier;
    return leg;
  }

  async unlink(): Promise<void> {
    await this.barrier;
    this.#telephony.devices.delete(this.instance.id);
    this.health = { state: "offline", reason: "not linked" };
  }

  async close(): Promise<void> {
    await this.closeBarrier;
    this.closed = true;
    this.health = { state: "offline", reason: "closed" };
  }
}
