import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { CodedError } from "../../../../src/base/error.ts";
import type { AheadSource } from "../../../../src/ports/media.ts";
import type { WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import type { AudioStatistics } from "./audio-statistics.ts";
import { SAMPLE_RATE, WHATSAPP_FRAME, WHATSAPP_FRAME_MS } from "./whatsapp-frame.ts";

/** Maximum number of frames in the client's buffer, which holds at most half a second. */
const MAX_FED_FRAMES = 16;
const SCALE = 1 / 32_768;
/** The defaults of the real client, for a client that reports no usable watermarks. */
const DEFAULT_WATERMARKS = { pauseMs: 120, resumeMs: 60 };
/** Upper limit for the client's watermarks, ms: with more than 200 ms in its buffer, the real client drops audio. */
const MAX_PAUSE_MS = 140;

/** Thrown if the client accepts no audio for a call, because it no longer knows the call. */
export class CallUnknown extends CodedError {
  override readonly name = "CallUnknown";
  readonly code = "call_unknown";
  constructor() {
    super("the client does not accept audio for this call");
  }
}

/** Keys that are being sent, as tones. */
interface Keys {
  readonly tones: Int16Array;
  position: number;
  readonly onSent: () => void;
}

/**
 * The audio for the callee: feeds the client's buffer in whole frames, according to its watermarks, and reports to the
 * source which samples have left the buffer. Allocates nothing per frame.
 */
export class OutboundAudio {
  readonly #callId: string;
  readonly #frame = new Int16Array(WHATSAPP_FRAME);
  readonly #floats = new Float32Array(WHATSAPP_FRAME);
  readonly #keys: Keys[] = [];
  #source: AheadSource | undefined;
  #watermarks: { readonly pauseMs: number; readonly resumeMs: number } | undefined;
  #isPaused = false;
  /** Number of samples in the frame that has not been fed yet. */
  #filledSamples = 0;
  /** True if the unfinished frame has waited for a tick. */
  #hasWaited = false;
  /** Number of source samples and of silent samples in each frame of the client's buffer: two rings. */
  readonly #pulledSamples = new Int32Array(MAX_FED_FRAMES);
  readonly #paddingSamples = new Int32Array(MAX_FED_FRAMES);
  #oldestIndex = 0;
  #fedFrames = 0;
  /** True if the latest samples sent came from the source. */
  #wasSignal = false;
  #hasBegun = false;
  #isDraining = false;

  readonly #statistics: Pick<AudioStatistics, "sentFrames">;

  constructor(callId: string, statistics: Pick<AudioStatistics, "sentFrames">) {
    this.#callId = callId;
    this.#statistics = statistics;
  }

  /** Starts pulling audio from a source. */
  connect(source: AheadSource): void {
    this.disconnect();
    if (this.#isDraining) return;
    this.#source = source;
    source.recall = () => this.#recall(source);
  }

  /** Stops pulling from the source and reporting to it. */
  disconnect(): void {
    if (this.#source !== undefined) this.#source.recall = undefined;
    this.#source = undefined;
  }

  /** Stops feeding permanently. Idempotent. */
  drain(): void {
    this.#isDraining = true;
    this.disconnect();
    for (const { onSent } of this.#keys.splice(0)) onSent();
  }

  /** Plays keys; the source waits in the meantime. @throws {RangeError} for characters that are not keys */
  async press(digits: string): Promise<void> {
    const tones = dtmfTones(digits.toUpperCase(), { sampleRate: SAMPLE_RATE });
    if (this.#isDraining || tones.length === 0) return;
    await new Promise<void>((onSent) => this.#keys.push({ tones, position: 0, onSent }));
  }

  /** Handles a tick: accounts for sent audio and feeds due frames. Returns the buffered audio, ms. */
  tick(voip: WhatsAppVoip): number {
    const level = this.#account(levelOf(voip.getLiveBufferMs(this.#callId)));
    return this.#isDraining ? level : this.#feed(voip, level);
  }

  /** Reports to the source which audio has left the client's buffer, and the silence sent in between. */
  #account(level: number): number {
    const bufferedFrames = Math.ceil(level / WHATSAPP_FRAME_MS);
    const wasEmpty = this.#fedFrames === 0;
    let pulledSamples = 0;
    let silentSamples = 0;
    for (; this.#fedFrames > bufferedFrames; this.#fedFrames--) {
      pulledSamples += this.#pulledSamples[this.#oldestIndex]!;
      silentSamples += this.#paddingSamples[this.#oldestIndex]!;
      this.#oldestIndex = (this.#oldestIndex + 1) % MAX_FED_FRAMES;
      this.#statistics.sentFrames++;
    }
    if (wasEmpty && this.#hasBegun) {
      silentSamples += WHATSAPP_FRAME;
      this.#statistics.sentFrames++;
    }
    this.#hasBegun = true;
    if (pulledSamples === 0 && silentSamples === 0) return level;
    const hasRunDry = silentSamples > 0 && (pulledSamples > 0 || this.#wasSignal);
    this.#wasSignal = silentSamples === 0;
    this.#source?.sent(pulledSamples, silentSamples, hasRunDry);
    return level;
  }

  #feed(voip: WhatsAppVoip, bufferedMs: number): number {
    this.#watermarks ??= watermarksOf(voip);
    const { pauseMs, resumeMs } = this.#watermarks;
    let level = bufferedMs;
    if (level <= resumeMs) this.#isPaused = false;
    while (!this.#isPaused) {
      if (level >= pauseMs || this.#fedFrames === MAX_FED_FRAMES) {
        this.#isPaused = true;
        break;
      }
      const keys = this.#keys[0];
      if (keys !== undefined && this.#filledSamples === 0) {
        level = this.#playKeys(keys, voip, level);
        continue;
      }
      if (keys === undefined) this.#fill();
      if (this.#filledSamples === 0) break;
      if (this.#filledSamples < WHATSAPP_FRAME && keys === undefined && this.#mayWait(level)) break;
      level = this.#feedFrame(voip, this.#filledSamples, WHATSAPP_FRAME - this.#filledSamples, level);
    }
    return level;
  }

  /** Fills the frame from the source, as far as the source has samples. */
  #fill(): void {
    const source = this.#source;
    if (source === undefined) return;
    const remainder = this.#filledSamples === 0 ? this.#frame : this.#frame.subarray(this.#filledSamples);
    this.#filledSamples += Math.min(remainder.length, Math.max(0, source.pull(remainder)));
  }

  /**
   * True if a partial frame may wait for more samples: the client has another frame, or this frame starts an utterance.
   */
  #mayWait(level: number): boolean {
    const isFirst = !this.#hasWaited;
    this.#hasWaited = true;
    return isFirst || level >= WHATSAPP_FRAME_MS;
  }

  #playKeys(keys: Keys, voip: WhatsAppVoip, level: number): number {
    const { tones, position } = keys;
    const length = Math.min(WHATSAPP_FRAME, tones.length - position);
    for (let i = 0; i < length; i++) this.#frame[i] = tones[position + i]!;
    keys.position += length;
    this.#filledSamples = length;
    const nextLevel = this.#feedFrame(voip, 0, 0, level);
    if (keys.position >= tones.length) {
      this.#keys.shift();
      keys.onSent();
    }
    return nextLevel;
  }

  /** Feeds the frame, which consists of samples from the source and of silence. */
  #feedFrame(voip: WhatsAppVoip, sourceSamples: number, silentSamples: number, level: number): number {
    const frame = this.#frame;
    frame.fill(0, this.#filledSamples);
    for (let i = 0; i < WHATSAPP_FRAME; i++) this.#floats[i] = frame[i]! * SCALE;
    const index = (this.#oldestIndex + this.#fedFrames++) % MAX_FED_FRAMES;
    this.#pulledSamples[index] = sourceSamples;
    this.#paddingSamples[index] = silentSamples;
    this.#filledSamples = 0;
    this.#hasWaited = false;
    if (!(voip.feedLiveAudio(this.#callId, this.#floats) > 0)) throw new CallUnknown();
    return level + WHATSAPP_FRAME_MS;
  }

  /** Reports the audio in the client's buffer as sent, since it cannot be recalled. */
  #recall(source: AheadSource): void {
    this.#filledSamples = 0;
    this.#hasWaited = false;
    let pulledSamples = 0;
    let silentSamples = 0;
    for (let i = 0; i < this.#fedFrames; i++) {
      const index = (this.#oldestIndex + i) % MAX_FED_FRAMES;
      pulledSamples += this.#pulledSamples[index]!;
      silentSamples += this.#paddingSamples[index]!;
      this.#pulledSamples[index] = 0;
      this.#paddingSamples[index] = 0;
    }
    this.#wasSignal = false;
    if (pulledSamples > 0 || silentSamples > 0) source.sent(pulledSamples, silentSamples, false);
  }
}

/** The buffer level, ms; 0 if the client returns no usable number. */
function levelOf(ms: number): number {
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}

function watermarksOf(voip: WhatsAppVoip): { readonly pauseMs: number; readonly resumeMs: number } {
  const { pauseMs, resumeMs } = voip.getFeedWatermarksMs();
  const isUsable = resumeMs >= 0 && pauseMs > resumeMs;
  return isUsable
    ? { pauseMs: Math.min(pauseMs, MAX_PAUSE_MS), resumeMs: Math.min(resumeMs, MAX_PAUSE_MS) }
    : DEFAULT_WATERMARKS;
}
