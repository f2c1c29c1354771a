import type { System } from "../ports/system.ts";
import type { InstanceRef, LineHealth, LineHost, Telephony, TelephonyCapabilities } from "../ports/telephony.ts";
import type { ScriptedLeg } from "./scripted-telephony/leg.ts";
import { ScriptedLine } from "./scripted-telephony/line.ts";

export { ScriptedLeg } from "./scripted-telephony/leg.ts";
export { ScriptedLine } from "./scripted-telephony/line.ts";

/** Options of {@link ScriptedTelephony}. */
export interface ScriptedTelephonyOptions {
  /** Default: `scripted`. */
  readonly name?: string;
  /** Default: keys arrive as events, inbound audio is not certain. */
  readonly capabilities?: Partial<TelephonyCapabilities>;
  /** Rate of every leg, Hz. Default: 8000. */
  readonly sampleRate?: number;
  /** Length of every leg's frames, ms. Default: 20. */
  readonly frameMs?: number;
  /** True if lines have pairing codes. Default: false. */
  readonly pairingCodes?: boolean;
  /** Default: everyone. */
  readonly users?: Telephony["users"];
}

/**
 * A telephone network that a test controls: the test links lines, takes them offline, and decides what each leg does.
 * The audio of an answered leg runs on its `System`, a frame every `frameMs`.
 *
 * ```ts
 * const network = new ScriptedTelephony(system);
 * await network.line(instance.id).scan("+12025550199");
 * const leg = network.leg(call.id); // once a call was created
 * leg.placed();
 * leg.answer();
 * await system.advance(5_000);
 * leg.heard; // the audio played to the callee
 * ```
 */
export class ScriptedTelephony implements Telephony {
  readonly name: string;
  readonly capabilities: TelephonyCapabilities;
  users: Telephony["users"];
  readonly pairingCodes: boolean;
  readonly sampleRate: number;
  readonly frameMs: number;
  readonly system: System;
  /** All legs, including ended legs, in the order of dialling. */
  readonly legs: ScriptedLeg[] = [];
  /** All lines, including closed lines, in the order of opening. */
  readonly lines: ScriptedLine[] = [];
  /** The numbers that it never calls, with the reasons. */
  readonly refused: Map<string, string> = new Map();
  /** Called for each leg as it is dialled, to script the callee. A `DialError` thrown here refuses the dial. */
  onDial: (leg: ScriptedLeg) => void | Promise<void> = () => {};
  /** Linked instances with their numbers, as the network stores them: outlives lines and processes. */
  readonly devices: Map<string, string | null> = new Map();
  /** State of a newly opened line if the operator links it (`capabilities.linking: "operator"`). */
  reachability: LineHealth = { state: "online" };
  /** Set to delay `open`, as an unresponsive network does. */
  openBarrier: Promise<unknown> | undefined;
  /** Set to delay `close`. */
  closeBarrier: Promise<unknown> | undefined;
  readonly #lines = new Map<string, ScriptedLine>();

  constructor(system: System, options: ScriptedTelephonyOptions = {}) {
    this.system = system;
    this.name = options.name ?? "scripted";
    this.capabilities = { dtmf: "event", inboundAudioCertain: false, ...options.capabilities };
    this.sampleRate = options.sampleRate ?? 8_000;
    this.frameMs = options.frameMs ?? 20;
    this.users = options.users;
    this.pairingCodes = options.pairingCodes ?? false;
  }

  async open(instance: InstanceRef, host: LineHost): Promise<ScriptedLine> {
    await this.openBarrier;
    const line = new ScriptedLine(this, instance, host);
    this.#lines.set(instance.id, line);
    this.lines.push(line);
    return line;
  }

  async refuses(phoneNumber: string): Promise<string | undefined> {
    return this.refused.get(phoneNumber);
  }

  async close(): Promise<void> {
    await this.closeBarrier;
  }

  /** The line of an instance. Throws an Error if none is open. */
  line(instanceId: string): ScriptedLine {
    const line = this.#lines.get(instanceId);
    if (!line) throw new Error(`no line is open for ${instanceId}`);
    return line;
  }

  /** The latest leg of a call, or of all calls. Throws an Error if none was dialled. */
  leg(callId?: string): ScriptedLeg {
    const leg = this.legs.findLast((leg) => callId === undefined || leg.callId === callId);
    if (!leg) throw new Error(`no leg was dialled${callId === undefined ? "" : ` for ${callId}`}`);
    return leg;
  }
}
