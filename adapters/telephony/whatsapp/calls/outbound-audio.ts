import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { CodedError } from "../../../../src/base/error.ts";
import type { AheadSource } from "../../../../src/ports/media.ts";
import type { WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import { SAMPLE_RATE, WHATSAPP_FRAME, WHATSAPP_FRAME_MS } from "./audio-format.ts";
import type { AudioStatistics } from "./audio-statistics.ts";

/** Maximum accounted frames in the client's buffer, which holds at most half a second. */
const MAX_FED = 16;
const SCALE = 1 / 32_768;
/** The defaults of the real client, for a client that reports no usable watermarks. */
const WATERMARKS = { pauseMs: 120, resumeMs: 60 };
/** Maximum buffer that is used even if a client reports a larger one, ms: above 200, the real client drops audio. */
const MAX_PAUSE_MS = 140;

/** The client accepts no audio for the call because it no longer has the call. */
export class CallUnknown extends CodedError {
  override readonly name = "CallUnknown";
  readonly code = "call_unknown";
  constructor() {
    super("the client takes no audio for this call");
  }
}

/** Keys that are being sent, as tones. */
interface Keys {
  readonly tones: Int16Array;
  at: number;
  readonly sent: () => void;
}

/**
 * The audio for the callee: feeds the client's buffer in whole frames, by its watermarks, and reports to the source which samples have
 * left that buffer. Allocates nothing for a frame.
 */
export class OutboundAudio {
  readonly #callId: string;
  readonly #frame = new Int16Array(WHATSAPP_FRAME);
  readonly #floats = new Float32Array(WHATSAPP_FRAME);
  readonly #keys: Keys[] = [];
  #source: AheadSource | undefined;
  #watermarks: { readonly pauseMs: number; readonly resumeMs: number } | undefined;
  #paused = false;
  /** Samples in the frame that has not been fed yet. */
  #filled = 0;
  /** True if the unfinished frame has waited for a tick. */
  #waited = false;
  /** Number of source samples and of silent samples in each frame of the client's buffer: two rings. */
  readonly #pulled = new Int32Array(MAX_FED);
  readonly #padding = new Int32Array(MAX_FED);
  #oldest = 0;
  #fed = 0;
  /** True if the latest samples sent came from the source. */
  #signalBefore = false;
  #begun = false;
  #draining = false;

  readonly #statistics: Pick<AudioStatistics, "sent">;

  constructor(callId: string, statistics: Pick<AudioStatistics, "sent">) {
    this.#callId = callId;
    this.#statistics = statistics;
  }

  /** Takes the audio from this source. */
  connect(source: AheadSource): void {
    this.disconnect();
    if (this.#draining) return;
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
    this.#draining = true;
    this.disconnect();
    for (const { sent } of this.#keys.splice(0)) sent();
  }

  /** Plays keys; the source waits in the meantime. @throws {RangeError} for other characters */
  async press(digits: string): Promise<void> {
    const tones = dtmfTones(digits.toUpperCase(), { sampleRate: SAMPLE_RATE });
    if (this.#draining || tones.length === 0) return;
    await new Promise<void>((sent) => this.#keys.push({ tones, at: 0, sent }));
  }

  /** Handles a tick: accounts for sent audio and feeds due frames. Returns the buffered audio, ms. */
  tick(voip: WhatsAppVoip): number {
    const level = this.#account(levelOf(voip.getLiveBufferMs(this.#callId)));
    return this.#draining ? level : this.#feed(voip, level);
  }

  /** Reports to the source which audio has left the client's buffer, and the silence sent in between. */
  #account(level: number): number {
    const buffered = Math.ceil(level / WHATSAPP_FRAME_MS);
    const wasEmpty = this.#fed === 0;
    let pulled = 0;
    let silence = 0;
    for (; this.#fed > buffered; this.#fed--) {
      pulled += this.#pulled[this.#oldest]!;
      silence += this.#padding[this.#oldest]!;
      this.#oldest = (this.#oldest + 1) % MAX_FED;
      this.#statistics.sent++;
    }
    if (wasEmpty && this.#begun) {
      silence += WHATSAPP_FRAME;
      this.#statistics.sent++;
    }
    this.#begun = true;
    if (pulled === 0 && silence === 0) return level;
    const ranDry = silence > 0 && (pulled > 0 || this.#signalBefore);
    this.#signalBefore = silence === 0;
    this.#source?.sent(pulled, silence, ranDry);
    return level;
  }

  #feed(voip: WhatsAppVoip, buffered: number): number {
    this.#watermarks ??= watermarksOf(voip);
    const { pauseMs, resumeMs } = this.#watermarks;
    let level = buffered;
    if (level <= resumeMs) this.#paused = false;
    while (!this.#paused) {
      if (level >= pauseMs || this.#fed === MAX_FED) {
        this.#paused = true;
        break;
      }
      const keys = this.#keys[0];
      if (keys !== undefined && this.#filled === 0) {
        level = this.#playKeys(keys, voip, level);
        continue;
      }
      if (keys === undefined) this.#fill();
      if (this.#filled === 0) break;
      if (this.#filled < WHATSAPP_FRAME && keys === undefined && this.#mayWait(level)) break;
      level = this.#give(voip, this.#filled, WHATSAPP_FRAME - this.#filled, level);
    }
    return level;
  }

  /** Fills the frame from the source, as far as it has samples. */
  #fill(): void {
    const source = this.#source;
    if (source === undefined) return;
    const rest = this.#filled === 0 ? this.#frame : this.#frame.subarray(this.#filled);
    this.#filled += Math.min(rest.length, Math.max(0, source.pull(rest)));
  }

  /** True if a partial frame may wait for its rest: the client has another frame, or this frame starts an utterance. */
  #mayWait(level: number): boolean {
    const isFirst = !this.#waited;
    this.#waited = true;
    return isFirst || level >= WHATSAPP_FRAME_MS;
  }

  #playKeys(keys: Keys, voip: WhatsAppVoip, level: number): number {
    const { tones, at } = keys;
    const length = Math.min(WHATSAPP_FRAME, tones.length - at);
    for (let i = 0; i < length; i++) this.#frame[i] = tones[at + i]!;
    keys.at += length;
    this.#filled = length;
    const after = this.#give(voip, 0, 0, level);
    if (keys.at >= tones.length) {
      this.#keys.shift();
      keys.sent();
    }
    return after;
  }

  /** Feeds the frame; `pulled` of its samples are the source's, and `padding` of them silence. */
  #give(voip: WhatsAppVoip, pulled: number, padding: number, level: number): number {
    const frame = this.#frame;
    frame.fill(0, this.#filled);
    for (let i = 0; i < WHATSAPP_FRAME; i++) this.#floats[i] = frame[i]! * SCALE;
    const at = (this.#oldest + this.#fed++) % MAX_FED;
    this.#pulled[at] = pulled;
    this.#padding[at] = padding;
    this.#filled = 0;
    this.#waited = false;
    if (!(voip.feedLiveAudio(this.#callId, this.#floats) > 0)) throw new CallUnknown();
    return level + WHATSAPP_FRAME_MS;
  }

  /** Counts the client's buffer as sent, since it cannot be recalled. */
  #recall(source: AheadSource): void {
    this.#filled = 0;
    this.#waited = false;
    let pulled = 0;
    let silence = 0;
    for (let i = 0; i < this.#fed; i++) {
      const at = (this.#oldest + i) % MAX_FED;
      pulled += this.#pulled[at]!;
      silence += this.#padding[at]!;
      this.#pulled[at] = 0;
      this.#padding[at] = 0;
    }
    this.#signalBefore = false;
    if (pulled > 0 || silence > 0) source.sent(pulled, silence, false);
  }
}

/** The client is not trusted to give a number. */
function levelOf(ms: number): number {
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}

function watermarksOf(voip: WhatsAppVoip): { readonly pauseMs: number; readonly resumeMs: number } {
  const { pauseMs, resumeMs } = voip.getFeedWatermarksMs();
  const usable = resumeMs >= 0 && pauseMs > resumeMs;
  return usable ? { pauseMs: Math.min(pauseMs, MAX_PAUSE_MS), resumeMs: Math.min(resumeMs, MAX_PAUSE_MS) } : WATERMARKS;
}
