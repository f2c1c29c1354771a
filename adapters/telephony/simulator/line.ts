import type { System } from "../../../src/ports/system.ts";
import {
  type CallerId,
  DEADLINE_PASSED,
  DialError,
  type DialOptions,
  type InstanceRef,
  type Leg,
  type Line,
  type LineHealth,
  type LineHost,
} from "../../../src/ports/telephony.ts";
import { LinkAttempt } from "../linking/link-attempt.ts";
import type { PendingLinkCodes } from "../linking/pending-link-codes.ts";
import type { CalleeActions, SimulatedCallee } from "./callee.ts";
import { type Device, encodeDevice, newDevice } from "./device.ts";
import { SimulatedLeg, type SimulatedLegOptions } from "./leg.ts";
import type { SimulatedPhone } from "./scanned-code-page.ts";

const CONNECT_MS = 200;

/** Options of {@link SimulatedLine}. */
export interface SimulatedLineOptions {
  readonly instance: InstanceRef;
  readonly host: LineHost;
  /** The device that the line is already linked to. */
  readonly device: Device | undefined;
  readonly codes: PendingLinkCodes<SimulatedPhone>;
  /** Reason why no line can connect until the cause is fixed. */
  readonly lastingFault: string | undefined;
  /** Options that all legs share. */
  readonly leg: Omit<
    SimulatedLegOptions,
    "callee" | "to" | "callId" | "instanceId" | "from" | "mayCall" | "deadlines" | "loseLine" | "onEnded"
  >;
  /** Creates the callee for a number. */
  readonly callee: (to: string, from: CallerDetails, call: CalleeActions) => SimulatedCallee;
  /** Called when a call is placed. */
  readonly onPlaced: (leg: SimulatedLeg) => void;
  /** Called when a call has ended. */
  readonly onEnded: (leg: SimulatedLeg) => void;
  /** Called when the line is closed. */
  readonly onClosed: (line: SimulatedLine) => void;
}

/** The caller's details, for a callee. */
export interface CallerDetails {
  readonly callId: string;
  readonly instance: InstanceRef;
  readonly from: CallerId;
}

/** One linked number of the simulated network. */
export class SimulatedLine implements Line, SimulatedPhone {
  readonly instance: InstanceRef;
  readonly host: LineHost;
  readonly #options: SimulatedLineOptions;
  readonly #system: System;
  #attempt: LinkAttempt<SimulatedPhone>;
  #device: Device | undefined;
  /** Reason why it cannot place calls; undefined while it is online. */
  #offlineReason: string | undefined = "not linked";
  #isClosed = false;
  #acceptPromise: Promise<string> | undefined;
  #cancelConnect: (() => void) | undefined;
  readonly #legs = new Set<SimulatedLeg>();

  constructor(options: SimulatedLineOptions) {
    this.instance = options.instance;
    this.host = options.host;
    this.#options = options;
    this.#system = options.leg.system;
    this.#attempt = new LinkAttempt(options.codes, this);
    this.#device = options.device;
    if (this.#device !== undefined) this.#connectIn(CONNECT_MS * options.leg.timeScale, "connecting");
  }

  async link(): Promise<void> {
    if (!this.#isClosed && this.#device === undefined) this.#attempt.requestCode();
  }

  async accept(): Promise<string | undefined> {
    if (this.#isClosed || this.#device !== undefined) return undefined;
    // Closing and unlinking wait for this, so that a line is never half linked.
    this.#acceptPromise ??= this.#link().finally(() => {
      this.#acceptPromise = undefined;
    });
    return this.#acceptPromise;
  }

  async #link(): Promise<string> {
    const { host, leg } = this.#options;
    const device = newDevice((bytes) => this.#system.random(bytes));
    await host.linked(device.phone, encodeDevice(device));
    this.#device = device;
    this.#attempt.stop();
    if (!this.#isClosed) this.#connectIn(CONNECT_MS * leg.timeScale, "connecting");
    return device.phone;
  }

  async probe(): Promise<LineHealth> {
    if (this.#offlineReason === undefined) return { state: "online" };
    const { lastingFault } = this.#options;
    const lasting = lastingFault !== undefined && this.#offlineReason === lastingFault;
    return lasting
      ? { state: "offline", reason: lastingFault, lasting }
      : { state: "offline", reason: this.#offlineReason };
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    if (this.#isClosed) throw new DialError("unreachable", "the line is closed");
    if (this.#device === undefined) throw new DialError("unreachable", "the line is not linked");
    if (this.#offlineReason !== undefined)
      throw new DialError("line_lost", `the line is offline: ${this.#offlineReason}`);
    if (signal.aborted) throw new DialError("released", "hung up before the call was placed");
    const { deadlines } = this.#options.host;
    if (this.#system.monotonic() >= deadlines.dial) throw new DialError("line_lost", DEADLINE_PASSED);
    const { callId } = options;
    const from = { phoneNumber: this.#device.phone, ...options.from };
    const leg = new SimulatedLeg({
      ...this.#options.leg,
      callId,
      instanceId: this.instance.id,
      from: options.from,
      mayCall: options.mayCall,
      deadlines,
      to,
      callee: (number, call) => this.#options.callee(number, { callId, instance: this.#options.instance, from }, call),
      loseLine: (ms) => this.#dropLine(ms),
      onEnded: () => {
        signal.removeEventListener("abort", hangUp);
        this.#legs.delete(leg);
        this.#options.onEnded(leg);
      },
    });
    const hangUp = (): void => void leg.hangUp();
    signal.addEventListener("abort", hangUp, { once: true });
    this.#legs.add(leg);
    this.#options.onPlaced(leg);
    leg.start();
    return leg;
  }

  async unlink(): Promise<void> {
    // A loop, because another link may start before this one resumes.
    while (this.#acceptPromise !== undefined) await this.#acceptPromise.catch(() => {});
    this.#device = undefined;
    await this.#disconnect("not linked");
    this.#attempt = new LinkAttempt(this.#options.codes, this); // a new attempt counts its codes from 1
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#acceptPromise?.catch(() => {});
    await this.#disconnect("closed");
    this.#options.onClosed(this);
  }

  async #disconnect(reason: string): Promise<void> {
    this.#cancelConnect?.();
    this.#offlineReason = reason;
    this.#attempt.stop();
    await Promise.all([...this.#legs].map((leg) => leg.hangUp()));
  }

  #connectIn(ms: number, reason: string): void {
    this.#offlineReason = reason;
    this.#cancelConnect?.();
    this.#cancelConnect = this.#system.after(ms, () => {
      const { host, lastingFault } = this.#options;
      this.#offlineReason = lastingFault;
      if (lastingFault === undefined) host.online();
      else host.offline(lastingFault, true);
    });
  }

  /** Makes the network disappear without a signal: calls stay open until one side hangs up. */
  #dropLine(ms: number): void {
    if (this.#isClosed || this.#device === undefined) return;
    for (const leg of this.#legs) leg.cutOff();
    this.#connectIn(ms, "the network does not respond");
    this.#options.host.offline("the network does not respond");
  }
}
