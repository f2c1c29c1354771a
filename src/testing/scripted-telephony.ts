import { Queue } from "../base/queue.ts";
import type { EventData } from "../domain/events.ts";
import type { FrameSink, FrameSource } from "../ports/media.ts";
import type { System } from "../ports/system.ts";
import {
  type CallerId,
  DEADLINE_PASSED,
  type Deadlines,
  DialError,
  type DialOptions,
  type InstanceRef,
  type Leg,
  type LegEvent,
  type Line,
  type LineHealth,
  type LineHost,
  type MediaEvidence,
  type MediaStatistics,
  type ReleaseCause,
  type Telephony,
  type TelephonyCapabilities,
} from "../ports/telephony.ts";

const FRAME_MS = 20;

/** Options of {@link ScriptedTelephony}. */
export interface ScriptedTelephonyOptions {
  /** Default: `scripted`. */
  readonly name?: string;
  /** Default: keys arrive as events, inbound audio is not certain. */
  readonly capabilities?: Partial<TelephonyCapabilities>;
  /** Rate of every leg, Hz. Default: 8000. */
  readonly sampleRate?: number;
  /** Default: everybody. */
  readonly users?: Telephony["users"];
}

/**
 * A telephone network that a test controls: lines link and go offline on command, and so does each leg. The audio of an
 * answered leg runs on its `System`, a frame every 20 ms.
 *
 * ```ts
 * const network = new ScriptedTelephony(system);
 * await network.line(instance.id).scan("+12025550199");
 * const leg = network.leg(call.id); // once a call was created
 * leg.placed();
 * leg.answer();
 * await system.advance(5_000);
 * leg.heard; // what has been played to the callee
 * ```
 */
export class ScriptedTelephony implements Telephony {
  readonly name: string;
  readonly capabilities: TelephonyCapabilities;
  users: Telephony["users"];
  readonly sampleRate: number;
  readonly system: System;
  /** Every leg there ever was, in the order of dialling. */
  readonly legs: ScriptedLeg[] = [];
  /** Every line there ever was, in the order of opening. */
  readonly lines: ScriptedLine[] = [];
  /** Numbers that it never calls, each with the reason. */
  readonly refused: Map<string, string> = new Map();
  /** Called for each leg as it is dialled: scripts far ends. A {@link DialError} thrown here refuses the dial. */
  onDial: (leg: ScriptedLeg) => void | Promise<void> = () => {};
  /** Linked instances, as the network itself remembers them: survives the lines and the process. */
  readonly devices: Map<string, string | null> = new Map();
  /** State of the network when a line is opened, if it links by itself (`capabilities.linking: "operator"`). */
  reachability: LineHealth = { state: "online" };
  /** Set to make `open` wait, as a network does that does not answer. */
  holdOpen: Promise<unknown> | undefined;
  /** Set to make `close` wait. */
  holdClose: Promise<unknown> | undefined;
  readonly #lines = new Map<string, ScriptedLine>();

  constructor(system: System, options: ScriptedTelephonyOptions = {}) {
    this.system = system;
    this.name = options.name ?? "scripted";
    this.capabilities = { dtmf: "event", inboundAudioCertain: false, ...options.capabilities };
    this.sampleRate = options.sampleRate ?? 8_000;
    this.users = options.users;
  }

  async open(instance: InstanceRef, host: LineHost): Promise<ScriptedLine> {
    await this.holdOpen;
    const line = new ScriptedLine(this, instance, host);
    this.#lines.set(instance.id, line);
    this.lines.push(line);
    return line;
  }

  async refuses(phoneNumber: string): Promise<string | undefined> {
    return this.refused.get(phoneNumber);
  }

  async close(): Promise<void> {
    await this.holdClose;
  }

  /** The line of an instance. Throws an Error while none is open. */
  line(instanceId: string): ScriptedLine {
    const line = this.#lines.get(instanceId);
    if (!line) throw new Error(`no line is open for ${instanceId}`);
    return line;
  }

  /** The latest leg of a call, or of all calls. Throws an Error if nobody was dialled. */
  leg(callId?: string): ScriptedLeg {
    const leg = this.legs.findLast((one) => callId === undefined || one.callId === callId);
    if (!leg) throw new Error(`nobody was dialled${callId === undefined ? "" : ` for ${callId}`}`);
    return leg;
  }
}

/** One line, as the network sees it: the methods of `Line`, and what a test lets happen to it. */
export class ScriptedLine implements Line {
  readonly #telephony: ScriptedTelephony;
  readonly #host: LineHost;
  readonly instance: InstanceRef;
  /** What a probe answers. */
  health: LineHealth = { state: "offline", reason: "not linked" };
  /** How often it was probed. */
  probes = 0;
  /** Set to make `probe`, `unlink` or `dial` wait, as a network does that does not answer. */
  hold: Promise<unknown> | undefined;
  /** Set to make `link` wait. */
  holdLink: Promise<unknown> | undefined;
  /** Set to make `close` wait. */
  holdClose: Promise<unknown> | undefined;
  closed = false;
  #codes = 0;
  #scanned = false;

  constructor(telephony: ScriptedTelephony, instance: InstanceRef, host: LineHost) {
    this.#telephony = telephony;
    this.#host = host;
    this.instance = instance;
    if (telephony.capabilities.linking === "operator") this.health = telephony.reachability;
    else if (this.linked) this.health = { state: "online" };
  }

  /** Whether a phone is linked. */
  get linked(): boolean {
    return this.#telephony.devices.has(this.instance.id);
  }

  async link(): Promise<void> {
    await this.holdLink;
    // A device that a process linked and could not store before it died is no reason to show no code.
    if (!(this.#scanned && this.linked) && this.#codes === 0) this.showCode();
  }

  /** A new linking code appears. */
  showCode(validMs = 20_000): void {
    const expiresAt = this.#telephony.system.now() + validMs;
    this.#codes++;
    this.#host.code({ payload: `scripted:${this.instance.id}:${this.#codes}`, expiresAt, sequence: this.#codes });
  }

  /**
   * A person scans the code: the number is linked, its credentials are stored, the line comes online. Rejects if the
   * host does not take the link; the device is forgotten then.
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
    this.#codes = 0;
    this.#scanned = true;
    this.goOnline();
  }

  goOnline(): void {
    this.health = { state: "online" };
    this.#host.online();
  }

  /**
   * @param report false: the line reports nothing, only a probe can find out
   * @param lasting the fault will not pass by itself
   */
  goOffline(
    reason = "the network does not answer",
    { report = true, lasting = false }: { report?: boolean; lasting?: boolean } = {},
  ): void {
    this.health = lasting ? { state: "offline", reason, lasting } : { state: "offline", reason };
    if (report) this.#host.offline(reason, lasting);
  }

  /** The phone's owner removes the device. */
  unlinkByOwner(reason = "unlinked on the phone"): void {
    this.#telephony.devices.delete(this.instance.id);
    this.health = { state: "offline", reason };
    this.#host.unlinked(reason);
  }

  async probe(): Promise<LineHealth> {
    this.probes++;
    const { health } = this; // what was true when the network was asked
    await this.hold;
    return health;
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<ScriptedLeg> {
    if (this.health.state === "offline") throw new DialError("line_lost", this.health.reason);
    if (this.#telephony.system.monotonic() >= this.#host.deadlines.dial)
      throw new DialError("line_lost", DEADLINE_PASSED);
    const leg = new ScriptedLeg(this.#telephony, to, options, this.instance.id, this.#host.deadlines);
    this.#telephony.legs.push(leg);
    signal.addEventListener("abort", () => void leg.hangUp(), { once: true });
    await this.#telephony.onDial(leg);
    await this.hold;
    return leg;
  }

  async unlink(): Promise<void> {
    await this.hold;
    this.#telephony.devices.delete(this.instance.id);
    this.health = { state: "offline", reason: "not linked" };
  }

  async close(): Promise<void> {
    await this.holdClose;
    this.closed = true;
    this.health = { state: "offline", reason: "closed" };
  }
}

/** One leg. The test controls the peer; everything else is recorded. */
export class ScriptedLeg implements Leg {
  readonly sampleRate: number;
  readonly frameMs: number = FRAME_MS;
  readonly events: Queue<LegEvent> = new Queue();
  /** The dialled number. */
  readonly to: string;
  readonly callId: string;
  readonly instanceId: string;
  readonly ringTimeoutMs: number;
  /** The caller that the call names. */
  readonly from: CallerId | undefined;
  /** Number of requests to hang up. */
  hangUps = 0;
  /** Set before a hang-up: the leg does not go by itself, only with {@link end}. */
  stubborn = false;
  /** Whether the far end sends audio (silence, or what {@link say} gives it). */
  talkative = true;
  /** What the network has counted; a test sets it. */
  counted: MediaStatistics | null = null;
  /** What shows that the far end receives our audio; a test sets it. Default: the audio that comes from there. */
  evidence?: () => MediaEvidence;
  readonly #system: System;
  readonly #deadlines: Deadlines;
  readonly #played: Int16Array[] = [];
  readonly #spoken: Int16Array[] = [];
  #source: FrameSource | undefined;
  #sink: FrameSink | undefined;
  #cancelTick: (() => void) | undefined;
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => {};
  #over = false;
  #held = false;

  constructor(
    telephony: ScriptedTelephony,
    to: string,
    { callId, ringTimeoutMs, from }: DialOptions,
    instanceId: string,
    deadlines: Deadlines,
  ) {
    this.sampleRate = telephony.sampleRate;
    this.#deadlines = deadlines;
    this.#system = telephony.system;
    this.to = to;
    this.callId = callId;
    this.instanceId = instanceId;
    this.from = from;
    this.ringTimeoutMs = ringTimeoutMs;
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  /** Whether it has not ended. */
  get live(): boolean {
    return !this.#over;
  }

  /** Everything that was played to the far end since the answer, frame by frame. */
  get heard(): Int16Array {
    const all = new Int16Array(this.#played.reduce((length, frame) => length + frame.length, 0));
    let at = 0;
    for (const frame of this.#played) {
      all.set(frame, at);
      at += frame.length;
    }
    return all;
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    this.#source = source;
    this.#sink = sink;
  }

  /** The peer has been asked. */
  placed(): void {
    this.events.push({ type: "placed" });
  }

  alert(): void {
    this.events.push({ type: "alerting" });
  }

  /** The peer sends audio before the answer. */
  earlyMedia(): void {
    this.events.push({ type: "early_media" });
  }

  /** The peer accepts; with `media` the audio path is up in the same moment. */
  answer({ media = true }: { media?: boolean } = {}): void {
    this.events.push({ type: "answered" });
    if (media) this.connect();
  }

  /** The audio path is up: the first frame leaves at once, then one every 20 ms. */
  connect(): void {
    if (this.#over) return;
    this.#tick();
    this.events.push({ type: "connected" });
  }

  /** Audio of the far end from the next frame on. */
  say(samples: Int16Array): void {
    const length = (this.sampleRate * FRAME_MS) / 1000;
    for (let at = 0; at < samples.length; at += length) {
      const frame = new Int16Array(length);
      frame.set(samples.subarray(at, at + length));
      this.#spoken.push(frame);
    }
  }

  press(digit: string): void {
    this.events.push({ type: "dtmf", digit });
  }

  /** The peer holds us: the source is not pulled, and nothing comes. */
  hold(): void {
    this.#held = true;
    this.events.push({ type: "noted", event: "held", data: {} });
  }

  resume(): void {
    this.#held = false;
    this.events.push({ type: "noted", event: "resumed", data: {} });
  }

  /** A message of the signalling goes by. */
  trace(data: EventData): void {
    this.events.push({ type: "noted", event: "signalling", data });
  }

  statistics(): MediaStatistics | null {
    return this.counted;
  }

  loseMedia(detail = "no packets"): void {
    this.events.push({ type: "media_lost", detail });
  }

  /** The leg is gone. */
  end(cause: ReleaseCause, detail: string | null = null): void {
    this.#cancelTick?.();
    this.#resolveGone();
    if (this.#over) return;
    this.#over = true;
    this.events.push({ type: "ended", cause, detail });
    this.events.close();
  }

  hangUp(): Promise<void> {
    this.hangUps++;
    if (this.stubborn) this.#cancelTick?.();
    else this.end("released");
    return this.#gone;
  }

  #exchange(frame: Int16Array): void {
    this.#source?.read(frame);
    this.#played.push(frame);
    if (this.talkative || this.#spoken.length > 0)
      this.#sink?.write(this.#spoken.shift() ?? new Int16Array(frame.length));
  }

  #tick(): void {
    const maySend = this.#system.monotonic() < this.#deadlines.send;
    if (maySend && !this.#held) this.#exchange(new Int16Array((this.sampleRate * FRAME_MS) / 1000));
    if (!this.#over) this.#cancelTick = this.#system.after(FRAME_MS, () => this.#tick());
  }
}
