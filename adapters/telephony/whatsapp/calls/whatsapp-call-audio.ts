import type { ClockMember, MediaClock } from "../../../../src/audio/playout/media-clock.ts";
import type { AheadSource, FrameSink, FrameSource } from "../../../../src/ports/media.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { Deadlines, MediaStatistics } from "../../../../src/ports/telephony.ts";
import type { WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import { AudioStatistics } from "./audio-statistics.ts";
import { InboundAudio } from "./inbound-audio.ts";
import { OutboundAudio } from "./outbound-audio.ts";
import { WHATSAPP_FRAME_MS } from "./whatsapp-frame.ts";

/** Options of {@link WhatsAppCallAudio}. */
interface CallAudioOptions {
  readonly callId: string;
  readonly system: Pick<System, "monotonic">;
  readonly clock: MediaClock;
  readonly deadlines: Pick<Deadlines, "send">;
  /** The connected client's call API; undefined while not connected. */
  readonly voip: () => WhatsAppVoip | undefined;
  /** Called when the first frame has been handed to the client, or the call is on hold. */
  readonly onStarted: () => void;
  /** Called when the client's buffer has been sent. */
  readonly onDrained: () => void;
  /** Called when the source, the sink or the client has thrown. */
  readonly onError: (fault: unknown) => void;
}

/** One call's audio in both directions, driven by the media clock: once the call is active, a frame every 60 ms. */
export class WhatsAppCallAudio implements ClockMember {
  readonly frameMs: typeof WHATSAPP_FRAME_MS = WHATSAPP_FRAME_MS;
  readonly #options: CallAudioOptions;
  readonly #statistics = new AudioStatistics();
  readonly #inbound = new InboundAudio(this.#statistics);
  readonly #outbound: OutboundAudio;
  #source: FrameSource | undefined;
  #sink: FrameSink | undefined;
  #state: "waiting" | "running" | "draining" | "stopped" = "waiting";
  #hasTicked = false;
  #hasStarted = false;
  #tickedAt = 0;
  #isHeld = false;
  #isMuted = false;
  /** True if the buffer was empty at the last tick: its last frame leaves before the next tick. */
  #isEmpty = false;
  #inboundAt: number | undefined;

  constructor(options: CallAudioOptions) {
    this.#options = options;
    this.#outbound = new OutboundAudio(options.callId, this.#statistics);
  }

  connect(source: FrameSource, sink: FrameSink): void {
    if (this.#state !== "waiting" && this.#state !== "running") return;
    this.#source = source;
    this.#sink = sink;
    if (this.#state === "running") this.#outbound.connect(aheadOf(source));
  }

  /** Time since the callee's last audio, ms; Infinity if there has been none. */
  get quietMs(): number {
    return this.#inboundAt === undefined ? Infinity : this.#options.system.monotonic() - this.#inboundAt;
  }

  /** The statistics so far; null before the first frame. */
  get statistics(): MediaStatistics | null {
    return this.#hasTicked ? this.#statistics.totals(this.#options.system.monotonic()) : null;
  }

  /**
   * Starts when the call is active. The first frame follows with the next tick, because the client starts sending after
   * this event.
   */
  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    if (this.#source) this.#outbound.connect(aheadOf(this.#source));
    this.#options.clock.add(this);
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#statistics.setHeld(isHeld, this.#options.system.monotonic());
  }

  /** Receives audio from the callee. */
  receive(pcm: Float32Array): void {
    if (this.#state !== "running" || pcm.length === 0) return;
    this.#inboundAt = this.#options.system.monotonic();
    this.#statistics.recordArrival(pcm.length, this.#inboundAt);
    this.#inbound.add(pcm);
  }

  /** Plays keys as tones. Rejects with a RangeError for other characters. */
  async press(digits: string): Promise<void> {
    if (this.#state === "waiting" || this.#state === "running") await this.#outbound.press(digits);
  }

  /** Stops exchanging audio; reports when the client's buffer is empty. */
  drain(): void {
    if (this.#state !== "running") return;
    this.#state = "draining";
    this.#disconnect();
  }

  /** Stops permanently. */
  stop(): void {
    this.#state = "stopped";
    this.#options.clock.remove(this);
    this.#disconnect();
  }

  /** @internal called by the clock */
  tick(): void {
    const { voip, onStarted, deadlines, system } = this.#options;
    const calls = voip();
    const now = system.monotonic();
    const maySend = now < deadlines.send;
    // After a stall, the clock catches up before the client has read its sockets.
    const isStalled = this.#hasTicked && Math.abs(now - this.#tickedAt - WHATSAPP_FRAME_MS) > WHATSAPP_FRAME_MS / 2;
    this.#tickedAt = now;
    if (calls !== undefined) this.#mute(calls, !maySend);
    const canSend = calls !== undefined && maySend && !this.#isHeld;
    if (canSend) this.#send(calls);
    if (this.#state === "draining" && (calls === undefined || !maySend || this.#isHeld)) this.#options.onDrained();
    if (this.#state !== "running") return;
    this.#hasTicked = true;
    // A call that is on hold from the beginning has started too.
    if (!this.#hasStarted && (canSend || this.#isHeld)) {
      this.#hasStarted = true;
      onStarted();
    }
    this.#inbound.tick(this.#sink, isStalled);
  }

  /** @internal called by the clock */
  tickFailed(fault: unknown): void {
    this.#options.onError(fault);
  }

  #send(calls: WhatsAppVoip): void {
    const level = this.#outbound.tick(calls);
    if (this.#state !== "draining") return;
    if (level > 0) this.#isEmpty = false;
    else if (this.#isEmpty) this.#options.onDrained();
    else this.#isEmpty = true;
  }

  /** Mutes the client, which would otherwise continue sending silence and its buffered audio; or unmutes it. */
  #mute(calls: WhatsAppVoip, isMuted: boolean): void {
    if (isMuted === this.#isMuted) return;
    this.#isMuted = isMuted;
    calls.setMute(this.#options.callId, isMuted);
  }

  #disconnect(): void {
    this.#outbound.drain();
    this.#source = undefined;
    this.#sink = undefined;
  }
}

/**
 * A source's read-ahead. A source without one is wrapped: its samples are treated as played once read, and its frames
 * are padded.
 */
function aheadOf(source: FrameSource): AheadSource {
  return source.ahead ?? new ReadAhead(source);
}

class ReadAhead implements AheadSource {
  recall: (() => void) | undefined;
  readonly #source: FrameSource;

  constructor(source: FrameSource) {
    this.#source = source;
  }

  pull(frame: Int16Array): number {
    this.#source.read(frame);
    return frame.length;
  }

  sent(): void {}
}
