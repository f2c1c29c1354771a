import {
  DialError,
  type DialOptions,
  type InstanceRef,
  type LineHost,
  type ReleaseCause,
} from "../../../src/ports/telephony.ts";
import { type ScriptedLeg, type ScriptedLine, ScriptedTelephony } from "../../../src/testing/scripted-telephony.ts";
import type { AdapterFaults, Method } from "./adapter-faults.ts";
import type { ModelSystem } from "./model-system.ts";

/** One time that the network was asked to place a call. Times are ms on the clock of its process that never jumps. */
export interface Attempt {
  readonly callId: string;
  readonly instanceId: string;
  /** Counts the processes of a run from 1. */
  readonly process: number;
  readonly askedAt: number;
  leg?: ScriptedLeg;
  /** When the dial was answered with the leg. */
  legAt?: number;
  placed?: boolean;
  answered?: boolean;
  connectedAt?: number;
  /** Nobody was asked, and the process knows: the call may wait again. */
  givenBack?: boolean;
}

/** What a network belongs to. */
export interface NetworkOwner {
  readonly number: number;
  readonly system: ModelSystem;
  readonly alive: boolean;
  readonly faults: AdapterFaults;
  /** Called with each dial, before it is carried out. */
  dialled(attempt: Attempt): void;
}

/** The network as one process sees it: methods may hang, and every dial is written down. */
export class ModelNetwork extends ScriptedTelephony {
  readonly #owner: NetworkOwner;
  readonly attempts: Attempt[] = [];
  /** Until when a leg of a dead process keeps the line of an instance, ms of the clock that never jumps. */
  readonly busyUntil: Map<string, number> = new Map();

  constructor(owner: NetworkOwner) {
    super(owner.system);
    this.#owner = owner;
  }

  override async open(instance: InstanceRef, host: LineHost): Promise<ScriptedLine> {
    await this.#pass("open", instance.id);
    const line = await super.open(instance, host);
    for (const method of ["link", "unlink", "close"] as const) {
      const original = line[method].bind(line);
      line[method] = async () => {
        await this.#pass(method, instance.id);
        return original();
      };
    }
    const probe = line.probe.bind(line);
    line.probe = async () => {
      await this.#pass("probe", instance.id);
      return probe();
    };
    const dial = line.dial.bind(line);
    line.dial = (to, options, signal) => this.#dial(dial, to, options, signal, instance.id);
    return line;
  }

  /** What was asked for a leg. */
  attempt(leg: ScriptedLeg): Attempt {
    return this.attempts.find((attempt) => attempt.leg === leg) as Attempt;
  }

  /** The far side, or the network, ends a leg. */
  end(leg: ScriptedLeg, cause: ReleaseCause): void {
    const attempt = this.attempt(leg);
    if (leg.live && cause === "line_lost" && !attempt.placed) attempt.givenBack = true;
    leg.end(cause);
  }

  async #dial(
    dial: ScriptedLine["dial"],
    to: string,
    options: DialOptions,
    signal: AbortSignal,
    instanceId: string,
  ): Promise<ScriptedLeg> {
    if (!this.#owner.alive) return new Promise(() => {});
    const { callId } = options;
    const askedAt = this.#owner.system.monotonic();
    const attempt: Attempt = { callId, instanceId, process: this.#owner.number, askedAt };
    this.attempts.push(attempt);
    this.#owner.dialled(attempt);
    await this.#pass("dial", instanceId);
    try {
      if ((this.busyUntil.get(instanceId) ?? 0) > askedAt)
        throw new DialError("line_lost", "the line carries another call", { retryAfterMs: 1_000 });
      const legs = this.legs.length;
      const dialling = dial(to, options, signal);
      const leg = this.legs[legs];
      if (leg) attempt.leg = leg;
      await dialling;
    } catch (error) {
      if (error instanceof DialError && error.release === "line_lost") attempt.givenBack = true;
      throw error;
    }
    await this.#pass("leg", instanceId);
    attempt.legAt = this.#owner.system.monotonic();
    return attempt.leg as ScriptedLeg;
  }

  async #pass(method: Method, instanceId: string): Promise<void> {
    await this.#owner.faults.pass(method, instanceId);
    if (!this.#owner.alive) await new Promise(() => {});
  }
}
