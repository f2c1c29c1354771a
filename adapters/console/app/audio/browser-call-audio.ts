import { Resampler } from "../../../../src/audio/samples/resample.ts";
import type { ProcessorOptions, ProcessorReport } from "./call-processor.ts";
import { LevelMeter } from "./level-meter.ts";

/** The levels of both directions, 0 to 100. */
export interface AudioLevels {
  readonly heard: number;
  readonly spoken: number;
}

/** Options of {@link startCallAudio}. */
interface CallAudioOptions {
  readonly context: AudioContext;
  /** Sample rate of the call, Hz. */
  readonly callRate: number;
  /** Called with each frame from the microphone. */
  readonly onFrame: (frame: Int16Array<ArrayBuffer>) => void;
  readonly onLevels: (levels: AudioLevels) => void;
}

/** The audio of one call. */
export interface BrowserCallAudio {
  /** Plays the caller's next audio. */
  play(samples: Int16Array<ArrayBuffer>): void;
  /** Starts sending this microphone's audio. Missing if that is impossible. */
  connect?(microphone: MediaStream): void;
  /** Stops both directions. */
  stop(): void;
}

/**
 * Loads the audio processor into the context, so that a call is audible as soon as it is answered. Resolves with false
 * if that fails, and on a page without HTTPS, where browsers offer no `AudioWorklet`. Never rejects.
 */
export async function loadProcessor(context: AudioContext, url: string): Promise<boolean> {
  if (!context.audioWorklet) return false;
  return context.audioWorklet.addModule(url).then(
    () => true,
    () => false,
  );
}

/** Starts a call's audio on the audio thread. The processor must have been loaded. */
export function startCallAudio({ context, callRate, onFrame, onLevels }: CallAudioOptions): BrowserCallAudio {
  const node = new AudioWorkletNode(context, "ringport-call", {
    numberOfOutputs: 1,
    outputChannelCount: [1],
    channelCount: 1,
    channelCountMode: "explicit",
    processorOptions: { callRate } satisfies ProcessorOptions,
  });
  node.port.onmessage = ({ data }: MessageEvent<ProcessorReport>) => {
    if (data instanceof Int16Array) onFrame(data);
    else onLevels(data);
  };
  node.connect(context.destination);
  let source: MediaStreamAudioSourceNode | undefined;
  return {
    play: (samples) => node.port.postMessage(samples, [samples.buffer]),
    connect(microphone) {
      source?.disconnect();
      source = context.createMediaStreamSource(microphone);
      source.connect(node);
    },
    stop() {
      node.port.postMessage(null);
      node.port.onmessage = null;
      node.disconnect();
      source?.disconnect();
    },
  };
}

/** Usual and maximum playback delay, s. */
const DELAY_S = 0.08;
const MAX_DELAY_S = 0.36;

/**
 * Plays the caller's audio piece by piece, without the audio thread: for pages without HTTPS, which have no microphone
 * either. A piece that would be played too late is dropped.
 */
export function startPlaybackOnly({ context, callRate, onLevels }: CallAudioOptions): BrowserCallAudio {
  const resampler = new Resampler(callRate, context.sampleRate);
  const meter = new LevelMeter(context.sampleRate / 10);
  let nextStart = 0;
  let isStopped = false;
  return {
    play(samples) {
      const converted = resampler.push(samples);
      const now = context.currentTime;
      if (isStopped || converted.length === 0 || nextStart > now + MAX_DELAY_S) return;
      const floats = Float32Array.from(converted, (sample) => sample / 32_768);
      meter.push(floats);
      onLevels({ heard: meter.level, spoken: 0 });
      const buffer = context.createBuffer(1, floats.length, context.sampleRate);
      buffer.copyToChannel(floats, 0);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      if (nextStart < now) nextStart = now + DELAY_S;
      source.start(nextStart);
      nextStart += buffer.duration;
    },
    stop() {
      isStopped = true;
    },
  };
}
