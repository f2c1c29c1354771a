import { AlignedChannels } from "../../audio/playout/aligned-channels.ts";
import type { Call } from "../../domain/calls/call.ts";
import type { EventData, IncompleteReason } from "../../domain/events.ts";
import type { RecordingWriter } from "../../ports/recordings.ts";
import type { Leg } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { CallTap } from "./call-tap.ts";
import type { RecordingAllowance } from "./recording-quota.ts";

type RecorderContext = Pick<Context, "system" | "recordings" | "recordingQuota" | "storage" | "limits" | "log">;

/**
 * Records both sides of one leg from the answer on, in sync: the audio actually played to the callee on the left, the
 * callee on the right. A failure, or the limit on stored bytes, ends the recording, never the call.
 */
export class Recorder implements CallTap {
  readonly #context: RecorderContext;
  readonly #call: Call;
  readonly #sampleRate: number;
  readonly #onIncomplete: (data: EventData["recording_incomplete"]) => void;
  readonly #channels: AlignedChannels;
  #writer: RecordingWriter | undefined;
  #allowance: RecordingAllowance | undefined;
  #hasEnded = false;
  #isReported = false;

  /** @param onIncomplete called once if the recording ends before the call does */
  constructor(
    context: RecorderContext,
    call: Call,
    leg: Pick<Leg, "sampleRate" | "frameMs">,
    onIncomplete: (data: EventData["recording_incomplete"]) => void,
  ) {
    this.#context = context;
    this.#call = call;
    this.#sampleRate = leg.sampleRate;
    this.#onIncomplete = onIncomplete;
    this.#channels = new AlignedChannels(leg.sampleRate, leg.frameMs, (outbound, inbound, samples) =>
      this.#write(outbound, inbound, samples),
    );
  }

  /**
   * Adds the audio that the callee hears. A leg pulls none before the answer, so the first samples start the recording.
   */
  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    if (this.#hasEnded || !this.#ensureStarted()) return;
    this.#channels.pushLeft(samples, from, length, this.#context.system.monotonic());
  }

  /** Adds a frame from the callee. */
  inbound(frame: Int16Array): void {
    if (this.#hasEnded || !this.#ensureStarted()) return;
    this.#channels.pushRight(frame, 0, frame.length, this.#context.system.monotonic());
  }

  /** Ends the recording at the end of the call, and returns its length, ms. */
  finish(): number {
    if (!this.#hasEnded) this.#channels.finish();
    this.#end();
    this.#allowance?.end(true);
    return this.#recordedMs;
  }

  /** Ends the recording and deletes it. */
  async erase(): Promise<void> {
    this.#hasEnded = true;
    this.#allowance?.end(false);
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.finish();
    await this.#context.recordings.forget([this.#call.id]);
  }

  get #recordedMs(): number {
    return Math.round(this.#writer?.recordedMs ?? 0);
  }

  #ensureStarted(): boolean {
    if (this.#writer !== undefined) return true;
    try {
      this.#writer = this.#context.recordings.record(this.#call.id, this.#sampleRate, (reason, fault) =>
        this.#reportIncomplete(reason, fault),
      );
      this.#allowance = this.#context.recordingQuota.begin(this.#context, this.#call);
    } catch (error) {
      this.#hasEnded = true;
      this.#context.log.error({ call_id: this.#call.id, err: error }, "a call cannot be recorded");
      this.#reportIncomplete("disk_failed");
    }
    return this.#writer !== undefined;
  }

  #write(outbound: Int16Array, inbound: Int16Array, samples: number): void {
    if (this.#hasEnded) return;
    if (this.#allowance?.take((samples * 1000) / this.#sampleRate) === false) {
      this.#end();
      this.#reportIncomplete("storage_quota");
      return;
    }
    try {
      this.#writer?.write(outbound, inbound, samples);
    } catch (error) {
      this.#end();
      this.#reportIncomplete("disk_failed", error);
    }
  }

  /** Ends the recording and keeps it. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#writer?.finish();
  }

  /** Reports, once, that the recording ends before its call. */
  #reportIncomplete(reason: IncompleteReason, fault?: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#context.log.warn({ call_id: this.#call.id, reason, err: fault }, "the recording of a call is incomplete");
    this.#onIncomplete({ reason, recorded_ms: this.#recordedMs });
  }
}
