import { AlignedChannels } from "../../audio/aligned-channels.ts";
import type { EventData } from "../../domain/events.ts";
import type { RecordingWriter } from "../../ports/recordings.ts";
import type { Leg } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { CallTap } from "./call-tap.ts";

/**
 * Records both sides of one leg from the answer on, in step with each other: what was really played to the callee on the
 * left, the callee on the right. A failure ends the recording, never the call.
 */
export class Recorder implements CallTap {
  readonly #context: Pick<Context, "system" | "recordings" | "log">;
  readonly #callId: string;
  readonly #sampleRate: number;
  readonly #incomplete: (data: EventData["recording_incomplete"]) => void;
  readonly #channels: AlignedChannels;
  #writer: RecordingWriter | undefined;
  #over = false;

  /** @param incomplete called once if the recording ends before the call does */
  constructor(
    context: Pick<Context, "system" | "recordings" | "log">,
    callId: string,
    leg: Pick<Leg, "sampleRate" | "frameMs">,
    incomplete: (data: EventData["recording_incomplete"]) => void,
  ) {
    this.#context = context;
    this.#callId = callId;
    this.#sampleRate = leg.sampleRate;
    this.#incomplete = incomplete;
    this.#channels = new AlignedChannels(leg.sampleRate, leg.frameMs, (played, received, samples) =>
      this.#writer?.write(played, received, samples),
    );
  }

  /** Adds what the callee hears. A leg pulls nothing before the answer, so the first samples begin the recording. */
  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    if (this.#over || !this.#started()) return;
    this.#channels.left(samples, from, length, this.#context.system.monotonic());
  }

  /** Adds a frame from the callee. */
  inbound(frame: Int16Array): void {
    if (this.#over || !this.#started()) return;
    this.#channels.right(frame, 0, frame.length, this.#context.system.monotonic());
  }

  /** The call is over: ends the recording and returns its length, ms. */
  finish(): number {
    if (!this.#over) {
      this.#over = true;
      this.#channels.finish();
      void this.#writer?.finish();
    }
    return Math.round(this.#writer?.recordedMs ?? 0);
  }

  /** Ends the recording and deletes it. */
  async erase(): Promise<void> {
    this.#over = true;
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.finish();
    await this.#context.recordings.forget([this.#callId]);
  }

  #started(): boolean {
    try {
      this.#writer ??= this.#context.recordings.record(this.#callId, this.#sampleRate, (reason, fault) => {
        this.#context.log.warn({ call_id: this.#callId, reason, err: fault }, "the recording of a call is incomplete");
        this.#incomplete({ reason, recorded_ms: Math.round(this.#writer?.recordedMs ?? 0) });
      });
    } catch (error) {
      this.#over = true;
      this.#context.log.error({ call_id: this.#callId, err: error }, "a call cannot be recorded");
      this.#incomplete({ reason: "disk_failed", recorded_ms: 0 });
    }
    return this.#writer !== undefined;
  }
}
