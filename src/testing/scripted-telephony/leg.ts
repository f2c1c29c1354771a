import { concatPcm } from "../../audio/samples/pcm.ts";
import { Queue } from "../../base/queue.ts";
import type { EventData } from "../../domain/events.ts";
import type { FrameSink, FrameSource } from "../../ports/media.ts";
import type { System } from "../../ports/system.ts";
import type {
  CallerId,
  Deadlines,
  DialOptions,
  Leg,
  LegEvent,
  MediaEvidence,
  MediaStatistics,
  RefusalScope,
  ReleaseCause,
  TransferOutcome,
} from "../../ports/telephony.ts";

/** Dependencies of a {@link ScriptedLeg} on its line and network. */
export interface ScriptedLegOptions extends DialOptions {
  /** The dialled number. */
  readonly to: string;
  readonly instanceId: string;
  readonly sampleRate: number;
  readonly frameMs: number;
  readonly system: System;
  readonly deadlines: Deadlines;
  /** True if it can transfer the call. */
  readonly transfers: boolean;
}

/** One leg. The test acts as the callee and the network; the leg records what it receives. */
export class ScriptedLeg implements Leg {
  readonly sampleRate: number;
  readonly frameMs: number;
  /** Set by a test: the codec of its audio. Default: unknown. */
  codec?: string;
  /** True if the leg ends when its line is lost; set by a test. */
  watchesLine?: boolean;
  readonly events: Queue<LegEvent> = new Queue();
  /** The dialled number. */
  readonly to: string;
  readonly callId: string;
  readonly instanceId: string;
  readonly ringTimeoutMs: number;
  /** The caller id that the call requests. */
  readonly from: CallerId | undefined;
  /** Number of requests to hang up. */
  hangUps = 0;
  /** True to make the leg ignore hang-ups: it ends only by {@link end}. */
  stubborn = false;
  /** True if the callee sends audio: silence, or the samples of {@link say}. */
  talkative = true;
  /** Set by a test: the result of {@link statistics}. */
  counted: MediaStatistics | null = null;
  /** Set by a test: the evidence that the callee receives our audio. Default: inbound audio. */
  evidence?: () => MediaEvidence;
  /** Numbers that the leg was asked to transfer to. */
  readonly transfers: string[] = [];
  /** Omitted if the network cannot transfer; see {@link transferred}. */
  readonly transfer?: Leg["transfer"];
  /** Ends the transfer under way. */
  transferred: (outcome: TransferOutcome) => void = () => {};
  readonly #system: System;
  readonly #deadlines: Deadlines;
  readonly #playedFrames: Int16Array[] = [];
  readonly #speechFrames: Int16Array[] = [];
  #source: FrameSource | undefined;
  #sink: FrameSink | undefined;
  #cancelTick: (() => void) | undefined;
  readonly #ended = Promise.withResolvers<void>();
  #hasEnded = false;
  #isOnHold = false;

  constructor(options: ScriptedLegOptions) {
    this.sampleRate = options.sampleRate;
    this.frameMs = options.frameMs;
    this.#deadlines = options.deadlines;
    this.#system = options.system;
    this.to = options.to;
    this.callId = options.callId;
    this.instanceId = options.instanceId;
    this.from = options.from;
    this.ringTimeoutMs = options.ringTimeoutMs;
    if (options.transfers)
      this.transfer = (to, signal) =>
        new Promise((resolve, reject) => {
          this.transfers.push(to);
          this.transferred = resolve;
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
  }

  /** True if it has not ended. */
  get live(): boolean {
    return !this.#hasEnded;
  }

  /** Everything that the callee has heard since the answer. */
  get heard(): Int16Array {
    if (this.#playedFrames.length > 1) this.#playedFrames.splice(0, Infinity, concatPcm(this.#playedFrames));
    return this.#playedFrames[0] ?? new Int16Array(0);
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    this.#source = source;
    this.#sink = sink;
  }

  /** Reports that the call was placed. */
  placed(): void {
    this.events.push({ type: "placed" });
  }

  alert(): void {
    this.events.push({ type: "alerting" });
  }

  /** Reports audio before the answer. */
  earlyMedia(): void {
    this.events.push({ type: "early_media" });
  }

  /** Answers the call; with `media` the audio path is up at the same time. */
  answer({ media = true }: { media?: boolean } = {}): void {
    this.events.push({ type: "answered" });
    if (media) this.connect();
  }

  /** Connects the audio: the first frame leaves at once, then one every `frameMs`. */
  connect(): void {
    if (this.#hasEnded) return;
    this.#tick();
    this.events.push({ type: "connected" });
  }

  /** Queues audio of the callee; it starts with the next frame. */
  say(samples: Int16Array): void {
    const length = this.#frameLength;
    for (let at = 0; at < samples.length; at += length) {
      const frame = new Int16Array(length);
      frame.set(samples.subarray(at, at + length));
      this.#speechFrames.push(frame);
    }
  }

  press(digit: string): void {
    this.events.push({ type: "dtmf", digit });
  }

  /** Puts the call on hold: the source is not pulled, and no audio arrives. */
  hold(): void {
    this.#isOnHold = true;
    this.events.push({ type: "noted", fact: { event: "held", data: {} } });
  }

  resume(): void {
    this.#isOnHold = false;
    this.events.push({ type: "noted", fact: { event: "resumed", data: {} } });
  }

  /** Reports a signalling message. */
  trace(data: EventData["signalling"]): void {
    this.events.push({ type: "noted", fact: { event: "signalling", data } });
  }

  statistics(): MediaStatistics | null {
    return this.counted;
  }

  loseMedia(detail = "no packets"): void {
    this.events.push({ type: "media_lost", detail });
  }

  /** Ends the leg. @param refusal the scope of a refusal by the network */
  end(cause: ReleaseCause, detail: string | null = null, refusal?: RefusalScope): void {
    this.#cancelTick?.();
    this.#ended.resolve();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.events.push({ type: "ended", cause, detail, ...(refusal !== undefined && { refusal }) });
    this.events.close();
  }

  hangUp(): Promise<void> {
    this.hangUps++;
    if (this.stubborn) this.#cancelTick?.();
    else this.end("released");
    return this.#ended.promise;
  }

  get #frameLength(): number {
    return (this.sampleRate * this.frameMs) / 1_000;
  }

  #transferFrame(frame: Int16Array): void {
    this.#source?.read(frame);
    this.#playedFrames.push(frame);
    if (this.talkative || this.#speechFrames.length > 0)
      this.#sink?.write(this.#speechFrames.shift() ?? new Int16Array(frame.length));
  }

  #tick(): void {
    const isBeforeDeadline = this.#system.monotonic() < this.#deadlines.send;
    if (isBeforeDeadline && !this.#isOnHold) this.#transferFrame(new Int16Array(this.#frameLength));
    if (!this.#hasEnded) this.#cancelTick = this.#system.after(this.frameMs, () => this.#tick());
  }
}
