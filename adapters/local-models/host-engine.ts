import { createRequire } from "node:module";
import process from "node:process";
import type { EnginePackage } from "./engine-package.ts";
import type { RecogniserFiles, SpeakInput, VoiceFiles } from "./messages.ts";

/**
 * The engine, sherpa-onnx: the native package or the WebAssembly package, behind one interface.
 *
 * Only a speech process may load it: the native package ends its process if it cannot read a model.
 */
export interface HostEngine {
  loadVoice(files: VoiceFiles, language: string | undefined): Promise<HostVoice>;
  loadRecogniser(files: RecogniserFiles): HostRecogniser;
}

/** A loaded voice model. */
export interface HostVoice {
  readonly speakers: number;
  /** @throws if the text has nothing to speak */
  speak(input: SpeakInput): Promise<Sound>;
}

/** Samples from -1 to 1. */
export interface Sound {
  readonly samples: Float32Array;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
}

/** A loaded recogniser. */
export interface HostRecogniser {
  open(sampleRate: number, language: string | undefined): HostStream;
  /** Decodes one step of each stream. All must be ready. */
  decode(streams: readonly HostStream[]): void;
}

/** A stream of samples from one speaker. */
export interface HostStream {
  /** True if the stream has enough samples for a step. */
  readonly isReady: boolean;
  push(samples: Float32Array): void;
  result(): { readonly text: string; readonly timestamps: readonly number[] };
  /** Discards all audio so far. */
  reset(): void;
  close(): void;
}

/** The engine from the first package that loads. @throws an Error that names each package and its fault */
export function loadEngine(packages: readonly EnginePackage[]): HostEngine {
  const faults: string[] = [];
  for (const { name, path } of packages) {
    try {
      const engine = createRequire(import.meta.url)(path);
      return name === "sherpa-onnx-node" ? nativeEngine(engine) : wasmEngine(engine);
    } catch (error) {
      faults.push(`${name}: ${engineMessage(error)}`);
    }
  }
  throw new Error(faults.join("; "));
}

/**
 * The first line of an error's message. Anything else that was thrown is an exit of the WebAssembly code, whose state
 * is then unknown: it ends the process, as the native code itself does.
 */
export function engineMessage(error: unknown): string {
  if (error instanceof Error) return error.message.split("\n")[0] ?? "";
  return process.exit(ENGINE_EXIT);
}

/** The native code's exit code for a model that it cannot read. */
const ENGINE_EXIT = 255;

/** Number of threads per model. Speaking several sentences concurrently gains more than several threads for one. */
const THREADS = 1;
/**
 * Variation of durations: practically none, so that a text sounds the same every time. The WebAssembly build treats 0
 * as its default.
 */
const FIXED_DURATIONS = 1e-6;

function voiceConfig({ kind, paths }: VoiceFiles, language: string | undefined): object {
  const model =
    kind === "vits"
      ? { lexicon: "", dataDir: "", noiseScale: 0.667, noiseScaleW: FIXED_DURATIONS, lengthScale: 1, ...paths }
      : kind === "kokoro"
        ? { lexicon: "", dataDir: "", lang: language ?? "", lengthScale: 1, ...paths }
        : { lengthScale: 1, ...paths };
  return { model: { [kind]: model, numThreads: THREADS, provider: "cpu", debug: 0 }, maxNumSentences: 1 };
}

function recogniserConfig({ kind, paths, tokens }: RecogniserFiles): object {
  return {
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: { [kind]: paths, tokens, numThreads: THREADS, provider: "cpu", debug: 0, modelType: "" },
    decodingMethod: "greedy_search",
    maxActivePaths: 4,
    // Ringport itself detects the end of a turn.
    enableEndpoint: 0,
  };
}

interface EngineResult {
  readonly text: string;
  readonly timestamps?: readonly number[];
}

/** The parts of `sherpa-onnx-node` 1.13 used here. */
interface NativePackage {
  readonly OfflineTts: {
    createAsync(config: object): Promise<{
      readonly numSpeakers: number;
      generateAsync(request: object): Promise<Sound>;
    }>;
  };
  readonly OnlineRecognizer: new (config: object) => NativeRecognizer;
}

interface NativeRecognizer {
  createStream(): NativeStream;
  isReady(stream: NativeStream): boolean;
  decodeStreams(streams: readonly NativeStream[]): void;
  getResult(stream: NativeStream): EngineResult;
  reset(stream: NativeStream): void;
}

interface NativeStream {
  acceptWaveform(sound: Sound): void;
  setOption(key: string, value: string): void;
}

function nativeEngine({ OfflineTts, OnlineRecognizer }: NativePackage): HostEngine {
  return {
    async loadVoice(files, language) {
      const voice = await OfflineTts.createAsync(voiceConfig(files, language));
      return {
        speakers: voice.numSpeakers,
        speak: ({ text, speaker, speed }) =>
          // Some runtimes refuse memory that they have not allocated.
          voice.generateAsync({ text, sid: speaker, speed, enableExternalBuffer: false }),
      };
    },
    loadRecogniser(files) {
      const recogniser = new OnlineRecognizer(recogniserConfig(files));
      const streams = new WeakMap<HostStream, NativeStream>();
      return {
        open(sampleRate, language) {
          const stream = recogniser.createStream();
          if (language !== undefined) stream.setOption("language", language);
          const hostStream: HostStream = {
            get isReady() {
              return recogniser.isReady(stream);
            },
            push: (samples) => stream.acceptWaveform({ samples, sampleRate }),
            result: () => resultOf(recogniser.getResult(stream)),
            reset: () => recogniser.reset(stream),
            close() {},
          };
          streams.set(hostStream, stream);
          return hostStream;
        },
        decode: (ready) => recogniser.decodeStreams(ready.map((stream) => streams.get(stream)!)),
      };
    },
  };
}

/** The parts of `sherpa-onnx` 1.13 used here. */
interface WasmPackage {
  createOfflineTts(config: object): {
    readonly handle: number;
    readonly numSpeakers: number;
    generate(request: object): Sound;
  };
  createOnlineRecognizer(config: object): WasmRecognizer;
}

interface WasmRecognizer {
  readonly handle: number;
  createStream(): WasmStream;
  isReady(stream: WasmStream): boolean;
  decode(stream: WasmStream): void;
  getResult(stream: WasmStream): EngineResult;
  reset(stream: WasmStream): void;
}

interface WasmStream {
  acceptWaveform(sampleRate: number, samples: Float32Array): void;
  setOption(key: string, value: string): void;
  free(): void;
}

function wasmEngine(engine: WasmPackage): HostEngine {
  return {
    async loadVoice(files, language) {
      const voice = engine.createOfflineTts(voiceConfig(files, language));
      if (!voice.handle) throw new Error("the engine does not load this model");
      return {
        speakers: voice.numSpeakers,
        speak: async ({ text, speaker, speed }) => voice.generate({ text, sid: speaker, speed }),
      };
    },
    loadRecogniser(files) {
      const recogniser = engine.createOnlineRecognizer(recogniserConfig(files));
      if (!recogniser.handle) throw new Error("the engine does not load this model");
      const streams = new WeakMap<HostStream, WasmStream>();
      return {
        open(sampleRate, language) {
          const stream = recogniser.createStream();
          if (language !== undefined) stream.setOption("language", language);
          const opened: HostStream = {
            get isReady() {
              return recogniser.isReady(stream);
            },
            push: (samples) => stream.acceptWaveform(sampleRate, samples),
            result: () => resultOf(recogniser.getResult(stream)),
            reset: () => recogniser.reset(stream),
            close: () => stream.free(),
          };
          streams.set(opened, stream);
          return opened;
        },
        decode(ready) {
          for (const stream of ready) recogniser.decode(streams.get(stream)!);
        },
      };
    },
  };
}

function resultOf({ text, timestamps = [] }: EngineResult): ReturnType<HostStream["result"]> {
  return { text: text.trim(), timestamps };
}
