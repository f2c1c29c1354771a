import {
  DialError,
  type DialOptions,
  type InstanceRef,
  type LineHost,
  type ReleaseCause,
} from "../../../src/ports/telephony.ts";
import { type ScriptedLeg, type ScriptedLine, ScriptedTelephony } from "../../../src/testing/scripted-telephony.ts";
import type { Method } from "./adapter-faults.ts";
import type { Process } from "./process.ts";

/** A request to the network to place a call. Times are ms on the monotonic clock of its process. */
export interface Attempt {
  readonly callId: string;
  readonly instanceId: string;
  /** The dialled number. */
  readonly to: string;
  readonly process: Process;
  readonly askedAt: number;
  /** The process, and its term as owner. */
  readonly life: string;
  leg?: ScriptedLeg;
  /** Time at which the dial returned the leg. */
  legAt?: number;
  isPlaced?: boolean;
  isAnswered?: boolean;
  connectedAt?: number;
  /** True if the network was not asked, and the process knows it: the call may wait again. */
  isReturned?: boolean;
}

/** The network as one process sees it: methods may hang, and every dial is recorded. */
export class ModelNetwork extends ScriptedTelephony {
  readonly #owner: Process;
  readonly attempts: Attempt[] = [];
  override readonly devices: Map<string, string | null>;

  constructor(owner: Process) {
    super(owner.system, { capabilities: { lines: Infinity } });
    this.#owner = owner;
    this.devices = owner.run.devices;
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

  /** The request for a leg. */
  attempt(leg: ScriptedLeg): Attempt {
    return this.attempts.find((attempt) => attempt.leg === leg) as Attempt;
  }

  /** Ends a leg on behalf of the peer or the network. */
  end(leg: ScriptedLeg, cause: ReleaseCause): void {
    const attempt = this.attempt(leg);
    if (leg.live && cause === "line_lost" && !attempt.isPlaced) attempt.isReturned = true;
    leg.end(cause);
  }

  async #dial(
    dial: ScriptedLine["dial"],
    to: string,
    options: DialOptions,
    signal: AbortSignal,
    instanceId: string,
  ): Promise<ScriptedLeg> {
    if (!this.#owner.isAlive) return new Promise(() => {});
    const { callId } = options;
    const askedAt = this.#owner.system.monotonic();
    const { life } = this.#owner;
    const attempt: Attempt = { callId, instanceId, to, process: this.#owner, askedAt, life };
    this.attempts.push(attempt);
    this.#owner.onDial(attempt);
    await this.#pass("dial", instanceId);
    try {
      const { busyUntil, clock } = this.#owner.run;
      if ((busyUntil.get(instanceId) ?? 0) > clock.monotonic())
        throw new DialError("line_lost", "the line carries another call", { retryAfterMs: 1_000 });
      const legs = this.legs.length;
      const dialling = dial(to, options, signal);
      const leg = this.legs[legs];
      if (leg) this.#watch(leg, attempt);
      await dialling;
    } catch (error) {
      if (error instanceof DialError && error.release === "line_lost") attempt.isReturned = true;
      throw error;
    }
    await this.#pass("leg", instanceId);
    attempt.legAt = this.#owner.system.monotonic();
    return attempt.leg as ScriptedLeg;
  }

  /** Reports every outgoing frame of a leg. */
  #watch(leg: ScriptedLeg, attempt: Attempt): void {
    attempt.leg = leg;
    this.#owner.run.owners.onDial(attempt);
    const connectMedia = leg.connectMedia.bind(leg);
    leg.connectMedia = (source, sink) => {
      const read = (frame: Int16Array) => {
        this.#owner.run.owners.onFrame(attempt);
        return source.read(frame);
      };
      connectMedia({ read }, sink);
    };
  }

  async #pass(method: Method, instanceId: string): Promise<void> {
    await this.#owner.run.adapterFaults.pass(method, instanceId);
    if (!this.#owner.isAlive) await new Promise(() => {});
  }
}
