import type {
  MediaEngine,
  MediaListener,
  MediaOptions,
  MediaSession,
  StreamSettings,
} from "../../../adapters/sip-stack/media/engine.ts";
import { createThreadEngine } from "../../../adapters/sip-stack/media/thread-engine.ts";
import { concatPcm, rms } from "../../../src/audio/samples/pcm.ts";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";

export const LOOPBACK = "127.0.0.1";

/** One side of a call on loopback, with its audio and events. */
export class End implements FrameSource, FrameSink, MediaListener {
  readonly events: string[] = [];
  readonly digits: string[] = [];
  readonly #frames: Int16Array[] = [];
  #clip = new Int16Array(0);
  #position = 0;
  /** Number of times the source was read. */
  reads = 0;
  session!: MediaSession;
  readonly engine: MediaEngine;
  readonly sampleRate: number;

  constructor(engine: MediaEngine, sampleRate: number) {
    this.engine = engine;
    this.sampleRate = sampleRate;
  }

  static async open(options: Partial<MediaOptions> = {}, engine: MediaEngine = createThreadEngine()): Promise<End> {
    const sampleRate = options.sampleRate ?? 8000;
    const end = new End(engine, sampleRate);
    end.session = await engine.open(
      { address: LOOPBACK, ports: [20_000, 29_999], sampleRate, lossMs: 20_000, ...options },
      end,
    );
    end.session.connect(end, end);
    return end;
  }

  /** Sends these samples next, then silence. */
  say(clip: Int16Array): void {
    this.#clip = Int16Array.from(clip);
    this.#position = 0;
  }

  /** True if all samples of the clip were read. */
  get hasPlayedClip(): boolean {
    return this.#position >= this.#clip.length;
  }

  get heard(): Int16Array {
    return concatPcm(this.#frames);
  }

  read(frame: Int16Array): number {
    this.reads++;
    const count = Math.min(frame.length, this.#clip.length - this.#position);
    for (let i = 0; i < count; i++) frame[i] = this.#clip[this.#position + i]!;
    frame.fill(0, count);
    this.#position += count;
    return count;
  }

  write(frame: Int16Array): void {
    this.#frames.push(Int16Array.from(frame));
  }

  sending(): void {
    this.events.push("sending");
  }

  receiving(): void {
    this.events.push("receiving");
  }

  digit(digit: string): void {
    this.digits.push(digit);
  }

  silent(detail: string): void {
    this.events.push(`silent: ${detail}`);
  }

  lost(detail: string): void {
    this.events.push(`lost: ${detail}`);
  }
}

/** Settings for plain PCMU to a port on loopback. */
export function settingsTo(port: number, options: Partial<StreamSettings> = {}): StreamSettings {
  return {
    remote: { address: LOOPBACK, port },
    remoteRtcp: { address: LOOPBACK, port },
    rtcpMux: true,
    codec: "PCMU",
    payloadType: { send: 0, receive: 0 },
    telephoneEvent: { payloadType: 101, clockRate: 8000 },
    ptimeMs: 20,
    srtp: undefined,
    direction: "sendrecv",
    ...options,
  };
}

/** Starts a call between two ends; returns them after half a second, when any initial delay has been made up. */
export async function twoEnds(
  settings: Partial<StreamSettings> = {},
  options: Partial<MediaOptions> = {},
): Promise<{ a: End; b: End; close(): Promise<void> }> {
  const engine = createThreadEngine();
  const a = await End.open(options, engine);
  const b = await End.open(options, engine);
  a.session.configure(settingsTo(b.session.port, settings));
  b.session.configure(settingsTo(a.session.port, settings));
  a.session.start();
  b.session.start();
  const halfSecond = a.sampleRate / 2;
  await until(() => a.heard.length > halfSecond && b.heard.length > halfSecond, "both hear each other");
  return { a, b, close: () => engine.close() };
}

/** True if this end has heard an unbroken 100 ms of a tone after the first `from` samples; longer parts may have gaps on a busy machine. */
export function heardTone({ heard, sampleRate }: End, hz: number, from = 0): boolean {
  const length = sampleRate / 10;
  for (let at = from; at + length <= heard.length; at += length / 5)
    if (rms(heard.subarray(at, at + length)) > 500 && toneShare(heard.subarray(at, at + length), hz, sampleRate) > 0.9)
      return true;
  return false;
}

/** Resolves when the condition holds; rejects after this many ms. */
export async function until(condition: () => boolean, description: string, ms = 5_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
