import { type ClockMember, FRAME_MS, type MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { errorText } from "../../../src/base/error.ts";
import { Queue } from "../../../src/base/queue.ts";
import { type FrameSink, type FrameSource, SAMPLE } from "../../../src/ports/media.ts";
import type {
  CallerId,
  Deadlines,
  Leg,
  LegEvent,
  MediaStatistics,
  ReleaseCause,
  TransferOutcome,
} from "../../../src/ports/telephony.ts";
import type { WavWriter } from "../../recordings/wav-writer.ts";
import type { Bridge } from "./bridge.ts";
import type { CalleeActions, SimulatedCallee } from "./callee.ts";
import { FrameStatistics } from "./frame-statistics.ts";
import { SimulatedTransfer, type SimulatedTransferOptions } from "./simulated-transfer.ts";
import type { Spool } from "./spool.ts";

/** Options of {@link SimulatedLeg}. */
export interface SimulatedLegOptions extends SimulatedTransferOptions {
  readonly callId: string;
  /** The instance that calls. */
  readonly instanceId: string;
  /** The number that is called. */
  readonly to: string;
  readonly sampleRate: number;
  /** The caller id that the call requests. */
  readonly from?: CallerId | undefined;
  readonly clock: MediaClock;
  readonly deadlines: Deadlines;
  readonly spool: Spool;
  /** Takes the caller's line offline for `ms`. */
  readonly loseLine: (ms: number) => void;
  /** Called when the leg has ended; its recording may still be incomplete. */
  readonly onEnded: (leg: SimulatedLeg) => void;
}

/** Keys being sent as tones. */
interface Keys {
  readonly tones: Int16Array;
  at: number;
  readonly onSent: () => void;
}

/** One simulated call: the caller's leg, wired to a {@link SimulatedCallee}. */
export class SimulatedLeg implements Leg, ClockMember, CalleeActions {
  readonly sampleRate: number;
  readonly frameMs: typeof FRAME_MS = FRAME_MS;
  readonly events: Queue<LegEvent> = new Queue();
  readonly callId: string;
  readonly #options: SimulatedLegOptions;
  readonly #callee: SimulatedCallee;
  /** Reused for every frame. */
  readonly #outgoing: Int16Array;
  readonly #incoming: Int16Array;
  readonly #marks: Uint8Array;
  readonly #statistics = new FrameStatistics();
  #source: FrameSource | undefined;
  #sink: FrameSink | undefined;
  #recording: WavWriter | undefined;
  #isAnswered = false;
  #calleeSendsAudio = false;
  #transfer: SimulatedTransfer | undefined;
  #bridge: Bridge | undefined;
  readonly #keys: Keys[] = [];
  #isTicking = false;
  #isCutOff = false;
  /** Set once the call has ended. During a tick, the clean-up follows the frame. */
  #cause: ReleaseCause | undefined;
  #detail: string | null = null;
  readonly #flushed = Promise.withResolvers<void>();

  constructor(options: SimulatedLegOptions) {
    this.#options = options;
    this.callId = options.callId;
    this.sampleRate = options.sampleRate;
    this.#outgoing = new Int16Array((options.sampleRate * FRAME_MS) / 1000);
    this.#incoming = new Int16Array(this.#outgoing.length);
    this.#marks = new Uint8Array(this.#outgoing.length);
    this.#callee = options.callee(options.to, this);
  }

  /** True until it has ended. */
  get isLive(): boolean {
    return this.#cause === undefined;
  }

  /** Places the call. */
  start(): void {
    this.events.push({ type: "placed" });
    const { from } = this.#options;
    if (from !== undefined) {
      const data = { direction: "sent", message: `From: ${shownCaller(from)}` } as const;
      this.events.push({ type: "noted", fact: { event: "signalling", data } });
    }
    this.#callee.start();
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    this.#source = source;
    this.#sink = sink;
  }

  /** Plays the keys as tones; the source waits in the meantime. Rejects with a RangeError for other characters. */
  async sendDtmf(digits: string): Promise<void> {
    const tones = dtmfTones(digits, { sampleRate: this.sampleRate });
    if (!this.isLive || tones.length === 0) return;
    await new Promise<void>((resolve) => this.#keys.push({ tones, at: 0, onSent: resolve }));
  }

  /** Transfers the call to a number, which rings according to the number plan, or on a phone. */
  async transfer(to: string, signal: AbortSignal): Promise<TransferOutcome> {
    if (!this.isLive || !this.#isAnswered)
      throw new Error("the call cannot be transferred: it has not been answered, or it has ended");
    if (this.#transfer !== undefined) throw new Error("the call is already being transferred");
    this.#transfer = new SimulatedTransfer(to, this.#options, signal);
    let outcome: TransferOutcome | undefined;
    try {
      outcome = await this.#transfer.outcome;
      return outcome;
    } finally {
      if (outcome?.type !== "accepted") this.#transfer = undefined; // the callee stays; the hang-up hands it over
    }
  }

  statistics(): MediaStatistics | null {
    return this.#statistics.totals;
  }

  hangUp(): Promise<void> {
    this.#finish("released", null);
    return this.#flushed.promise;
  }

  /** Drops the connection without a signal: no audio and no event until the caller hangs up. */
  cutOff(): void {
    this.#isCutOff = true;
    this.#options.clock.remove(this);
    this.#callee.stop(this.#cause ?? "line_lost");
  }

  /** @internal the callee's actions */
  ring(): void {
    this.events.push({ type: "alerting" });
  }

  /** @internal */
  answer(audio: boolean): void {
    if (!this.isLive) return;
    const { clock, spool, callId, instanceId, sampleRate } = this.#options;
    this.#isAnswered = true;
    this.#calleeSendsAudio = audio;
    this.#recording = spool.record(callId, instanceId, sampleRate);
    this.events.push({ type: "answered" });
    clock.add(this);
    try {
      this.tick(); // the first frame is sent on answer
    } catch (error) {
      this.tickFailed(error);
    }
    if (this.isLive) this.events.push({ type: "connected" });
  }

  /** @internal */
  end(cause: ReleaseCause, detail: string): void {
    this.#bridge?.end(this.#callee, cause);
    this.#finish(cause, detail);
  }

  /** @internal */
  loseLine(ms: number): void {
    this.#options.loseLine(ms);
  }

  /** @internal called by the clock: one frame in each direction */
  tick(): void {
    const now = this.#options.system.monotonic();
    if (now >= this.#options.deadlines.send) return;
    this.#isTicking = true;
    try {
      if (this.#keys.length > 0) this.#playKeys();
      else if (this.#source !== undefined) this.#source.read(this.#outgoing);
      else this.#outgoing.fill(0);
      this.#callee.hear(this.#outgoing);
      this.#recording?.write(this.#outgoing, undefined, this.#outgoing.length);
      this.#statistics.recordFrame(this.#calleeSendsAudio, now);
      if (this.#calleeSendsAudio) {
        const count = this.#callee.read(this.#incoming);
        this.#marks.fill(SAMPLE.received, 0, count).fill(SAMPLE.filledIn, count);
        // The callee may have ended the call or taken the line offline; then this frame is lost.
        if (this.isLive && !this.#isCutOff) this.#sink?.write(this.#incoming, this.#marks);
      }
    } finally {
      this.#isTicking = false;
      if (!this.isLive) this.#cleanUp();
    }
  }

  /** @internal */
  tickFailed(fault: unknown): void {
    this.#finish("internal_error", errorText(fault));
  }

  #finish(cause: ReleaseCause, detail: string | null): void {
    if (!this.isLive) return;
    this.#cause = cause;
    this.#detail = detail;
    if (!this.#isTicking) this.#cleanUp();
  }

  #cleanUp(): void {
    if (this.#cause === undefined) return;
    const { clock } = this.#options;
    if (this.#cause === "released" && !this.#isCutOff)
      this.#bridge = this.#transfer?.connect(this.#callee, clock, this.#outgoing.length);
    if (this.#bridge) clock.remove(this);
    else {
      this.cutOff();
      this.#transfer?.cancel();
    }
    for (const { onSent } of this.#keys.splice(0)) onSent();
    this.#source = undefined;
    this.#sink = undefined;
    this.events.push({ type: "ended", cause: this.#cause, detail: this.#detail });
    this.events.close();
    this.#options.onEnded(this);
    if (this.#recording === undefined) this.#flushed.resolve();
    else void this.#options.spool.finish(this.callId).then(this.#flushed.resolve);
  }

  #playKeys(): void {
    const keys = this.#keys[0]!;
    const count = Math.min(this.#outgoing.length, keys.tones.length - keys.at);
    for (let i = 0; i < count; i++) this.#outgoing[i] = keys.tones[keys.at + i]!;
    this.#outgoing.fill(0, count);
    keys.at += count;
    if (keys.at < keys.tones.length) return;
    this.#keys.shift();
    keys.onSent();
  }
}

/** The caller id as the callee sees it. */
function shownCaller({ phoneNumber, displayName, withheld = false }: CallerId): string {
  if (withheld) return "Anonymous";
  return [displayName && `"${displayName}"`, phoneNumber && `<${phoneNumber}>`].filter(Boolean).join(" ");
}
