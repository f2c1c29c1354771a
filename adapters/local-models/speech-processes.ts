import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { Logger } from "../../src/ports/logger.ts";
import { type EnginePackage, enginePackages } from "./engine-package.ts";
import { FaultyModels } from "./faulty-models.ts";
import { SpeechProcessFault } from "./fixable-fault.ts";
import type { FromHost, HeardText, RecogniserFiles, RecogniserInput, SpeakInput, VoiceFiles } from "./messages.ts";
import { type ProcessEnd, SpeechProcess } from "./speech-process.ts";

/** Options of {@link SpeechProcesses}. */
export interface SpeechProcessesOptions {
  /** Returns the engine's installed packages; called for each process. Default: {@link enginePackages}. */
  readonly packages?: (() => readonly EnginePackage[]) | undefined;
  /** Number of processes. Default: 1; at most the number of processors, minus one for calls. */
  readonly size?: number | undefined;
  /** A process is replaced once it uses this much memory in addition to its models, MiB. Default: 1024. */
  readonly memoryMb?: number | undefined;
  /** Number of texts after which a process is replaced. Default: 2,000. */
  readonly maxTexts?: number | undefined;
  /** Receives a message for each process that ends. Default: none. */
  readonly log?: Pick<Logger, "info" | "warn"> | undefined;
}

/** Samples of a text. */
export interface SpokenText {
  readonly samples: Int16Array;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
}

/** Receives the texts of a stream. */
export interface RecogniserListener {
  /** @param count number of audio messages that the process has consumed */
  onTaken(count: number): void;
  onPartial(heard: HeardText): void;
  onFinal(heard: HeardText): void;
  /**
   * Called when the process has ended. All audio since the last final text is lost; the stream may be opened again.
   * @returns false if the listener gives up
   */
  onLost(): boolean;
  /** Called if the stream cannot be recognised. */
  onFailed(reason: string, fix?: string): void;
}

/** A stream of audio to recognise, which runs in one process. */
export interface OpenedStream {
  push(samples: Int16Array): void;
  commit(): void;
  close(): void;
}

/** Maximum number of texts that a process speaks concurrently. */
export const TEXTS_AT_ONCE = 2;
const MAX_TEXTS = 2_000;
const DEFAULT_MEMORY_MB = 1_024;
/** Time for a text, ms. */
const BASE_MS = 10_000;
const MS_PER_CHARACTER = 50;
/** Time for a process's first text, for which it loads the engine and the model, ms. */
const LOAD_MS = 60_000;

interface Request {
  readonly id: number;
  readonly input: SpeakInput;
  readonly resolve: (text: SpokenText) => void;
  readonly reject: (error: Error) => void;
  /** True if a process has ended during this text: the text then runs alone, so that it cannot affect others. */
  isRepeated: boolean;
  timer?: ReturnType<typeof setTimeout>;
}

interface Slot {
  readonly process: SpeechProcess;
  readonly requests: Map<number, Request>;
  readonly streams: Map<number, { readonly model: RecogniserFiles; readonly listener: RecogniserListener }>;
  /** Folders of the models that the process has loaded or is loading. */
  readonly loadedFolders: Set<string>;
  readonly loadingFolders: Set<string>;
  /** Memory after the last model had been loaded, bytes. */
  baseBytes: number;
  texts: number;
  /** True if the process accepts no new work, and ends after its last text. */
  isRetiring: boolean;
}

/**
 * The speech processes: none before the first use, and at most `size` at a time. A text that loses its process is
 * spoken once more, alone; a model that ends its process is not loaded again until its files change.
 */
export class SpeechProcesses {
  /** Maximum number of processes. */
  readonly size: number;
  readonly #options: SpeechProcessesOptions;
  readonly #memoryBytes: number;
  readonly #slots = new Set<Slot>();
  readonly #queue: Request[] = [];
  readonly #faultyModels = new FaultyModels();
  #nextId = 1;
  #isClosed = false;

  constructor(options: SpeechProcessesOptions = {}) {
    this.#options = options;
    const maxSize = Math.max(1, availableParallelism() - 1);
    this.size = Math.min(options.size ?? 1, maxSize);
    this.#memoryBytes = (options.memoryMb ?? DEFAULT_MEMORY_MB) * 2 ** 20;
  }

  /** The engine's installed packages. */
  packages(): readonly EnginePackage[] {
    return this.#options.packages?.() ?? enginePackages();
  }

  /** Number of running processes. */
  get count(): number {
    return this.#slots.size;
  }

  /** Ids of the running processes. */
  get pids(): readonly number[] {
    return [...this.#slots].flatMap(({ process }) => process.pid ?? []);
  }

  /**
   * Speaks a text. The rendering cannot be stopped; on abort, its samples are dropped.
   * @throws Error that names the fault; the signal's reason when aborted
   */
  speak(input: SpeakInput, signal: AbortSignal): Promise<SpokenText> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const request: Request = {
        id: this.#nextId++,
        input,
        isRepeated: false,
        resolve: (text) => {
          signal.removeEventListener("abort", onAbort);
          resolve(text);
        },
        reject: (error) => {
          signal.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      const onAbort = (): void => {
        const index = this.#queue.indexOf(request);
        if (index >= 0) this.#queue.splice(index, 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(request);
      this.#startNext();
    });
  }

  /** Opens a stream. The listener receives its texts, and its end. */
  open(input: RecogniserInput, listener: RecogniserListener): OpenedStream {
    const stream = this.#nextId++;
    const fault = this.#faultOf(input.model);
    if (fault !== undefined) {
      queueMicrotask(() => listener.onFailed(fault));
      return { push() {}, commit() {}, close() {} };
    }
    const slot = this.#slotForStream();
    const { process } = slot;
    slot.streams.set(stream, { model: input.model, listener });
    if (!slot.loadedFolders.has(input.model.folder)) this.#faultyModels.recordLoading(input.model);
    process.send({ type: "open", stream, input });
    return {
      push: (samples) => process.send({ type: "audio", stream, samples }),
      commit: () => process.send({ type: "commit", stream }),
      close: () => {
        if (!slot.streams.delete(stream)) return;
        process.send({ type: "close", stream });
      },
    };
  }

  /** Ends all processes and their work. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const request of this.#queue.splice(0)) request.reject(new Error("the speech is closed"));
    for (const slot of [...this.#slots]) slot.process.kill("was closed");
  }

  #faultOf(model: VoiceFiles | RecogniserFiles): string | undefined {
    return this.#isClosed ? "the speech is closed" : this.#faultyModels.faultOf(model);
  }

  #startNext(): void {
    for (let request = this.#queue[0]; request; request = this.#queue[0]) {
      const fault = this.#faultOf(request.input.model);
      const slot = fault === undefined ? this.#slotFor(request) : undefined;
      if (fault === undefined && slot === undefined) return;
      this.#queue.shift();
      if (slot) this.#start(request, slot);
      else request.reject(new Error(fault));
    }
  }

  #slotFor(request: Request): Slot | undefined {
    const limit = request.isRepeated ? 1 : TEXTS_AT_ONCE;
    const freeSlots = [...this.#slots].filter(
      ({ isRetiring, requests }) =>
        !isRetiring && requests.size < limit && ![...requests.values()].some(({ isRepeated }) => isRepeated),
    );
    const idlest = freeSlots.sort((a, b) => a.requests.size - b.requests.size)[0];
    if (idlest && (idlest.requests.size === 0 || this.#isFull)) return idlest;
    return this.#isFull ? undefined : this.#add();
  }

  #slotForStream(): Slot {
    const activeSlots = [...this.#slots].filter(({ isRetiring }) => !isRetiring);
    const idlest = activeSlots.sort((a, b) => a.streams.size - b.streams.size)[0];
    return idlest && (idlest.streams.size === 0 || this.#isFull) ? idlest : this.#add();
  }

  get #isFull(): boolean {
    return [...this.#slots].filter(({ isRetiring }) => !isRetiring).length >= this.size;
  }

  #add(): Slot {
    const slot: Slot = {
      process: new SpeechProcess(this.packages(), {
        onMessage: (message) => this.#receive(slot, message),
        onEnd: (end) => this.#lose(slot, end),
      }),
      requests: new Map(),
      streams: new Map(),
      loadedFolders: new Set(),
      loadingFolders: new Set(),
      baseBytes: 0,
      texts: 0,
      isRetiring: false,
    };
    this.#slots.add(slot);
    return slot;
  }

  #start(request: Request, slot: Slot): void {
    const { id, input } = request;
    slot.requests.set(id, request);
    slot.texts++;
    const isLoaded = slot.loadedFolders.has(input.model.folder);
    if (!isLoaded) this.#faultyModels.recordLoading(input.model);
    const ms = BASE_MS + input.text.length * MS_PER_CHARACTER + (isLoaded ? 0 : LOAD_MS);
    request.timer = setTimeout(() => {
      slot.requests.delete(id);
      request.reject(new Error(`the voice did not finish the text within ${Math.round(ms / 1_000)} s`));
      slot.process.kill("was too slow");
    }, ms);
    slot.process.send({ type: "speak", request: id, ...input });
  }

  #receive(slot: Slot, message: FromHost): void {
    switch (message.type) {
      case "loading":
        slot.loadingFolders.add(message.folder);
        break;
      case "loaded":
        slot.loadingFolders.delete(message.folder);
        slot.loadedFolders.add(message.folder);
        slot.baseBytes = message.bytes;
        break;
      case "spoken":
        this.#settle(slot, message.request, (request) => request.resolve(message));
        break;
      case "failed":
        this.#settle(slot, message.request, (request) =>
          request.reject(new Error(withoutPath(message.message, request.input.model.folder))),
        );
        break;
      case "memory":
        if (message.bytes - slot.baseBytes > this.#memoryBytes) this.#retire(slot);
        break;
      case "progress":
        for (const { stream, takenCount, partial } of message.streams) {
          const listener = slot.streams.get(stream)?.listener;
          if (takenCount > 0) listener?.onTaken(takenCount);
          if (partial) listener?.onPartial(partial);
        }
        break;
      case "final":
        slot.streams.get(message.stream)?.listener.onFinal(message);
        break;
      case "stream-failed": {
        const stream = slot.streams.get(message.stream);
        slot.streams.delete(message.stream);
        stream?.listener.onFailed(message.message);
      }
    }
  }

  #settle(slot: Slot, id: number, settle: (request: Request) => void): void {
    const request = slot.requests.get(id);
    if (request === undefined) return;
    slot.requests.delete(id);
    clearTimeout(request.timer);
    settle(request);
    if (slot.texts >= (this.#options.maxTexts ?? MAX_TEXTS)) this.#retire(slot);
    if (slot.isRetiring && slot.requests.size === 0) slot.process.kill("was replaced");
    this.#startNext();
  }

  /** Replaces a process: its streams continue in another one, and its texts are finished in the old one. */
  #retire(slot: Slot): void {
    if (slot.isRetiring) return;
    slot.isRetiring = true;
    this.#loseStreams(slot);
    if (slot.requests.size === 0) slot.process.kill("was replaced");
  }

  /** Hands a process's streams to others. @returns the number of streams that fail */
  #loseStreams(slot: Slot, permanentFault?: string, fix?: string): number {
    const streams = [...slot.streams.values()];
    slot.streams.clear();
    let failed = 0;
    for (const { model, listener } of streams) {
      const fault = permanentFault ?? this.#faultOf(model);
      if (fault !== undefined) listener.onFailed(fault, fix);
      if (fault !== undefined || !listener.onLost()) failed++;
    }
    return failed;
  }

  /** Hands a process's texts to others. @returns the number of texts that fail */
  #loseRequests({ requests }: Slot, { isPermanent, isEngineFault, fix }: ProcessEnd, sentence: string): number {
    const isCulprit = requests.size === 1 && isEngineFault;
    const lostRequests = [...requests.values()].reverse();
    requests.clear();
    let failed = 0;
    for (const request of lostRequests) {
      clearTimeout(request.timer);
      const isUnusable = isPermanent || this.#faultOf(request.input.model) !== undefined;
      if (isUnusable || isCulprit || request.isRepeated) {
        request.reject(new SpeechProcessFault(sentence, fix));
        failed++;
      } else {
        request.isRepeated = true;
        this.#queue.unshift(request);
      }
    }
    return failed;
  }

  /**
   * Handles the end of a process, however it was noticed: its texts and streams continue in other processes, or fail.
   */
  #lose(slot: Slot, end: ProcessEnd): void {
    const { reason, isPermanent, isEngineFault, fix } = end;
    this.#slots.delete(slot);
    const sentence = `the speech process ${reason}`;
    const [culprit, ...others] = isEngineFault ? slot.loadingFolders : [];
    if (culprit !== undefined && others.length === 0) this.#faultyModels.add(culprit, sentence);
    const fields = { speech_process: slot.process.pid, texts: slot.requests.size, streams: slot.streams.size };
    const failed =
      this.#loseRequests(slot, end, sentence) + this.#loseStreams(slot, isPermanent ? sentence : undefined, fix);
    if (isPermanent) for (const request of this.#queue.splice(0)) request.reject(new SpeechProcessFault(sentence, fix));
    if (this.#isClosed) return;
    if (slot.isRetiring) this.#options.log?.info(fields, sentence);
    else {
      const next = isPermanent ? "" : `; ${nextStep(fields.texts + fields.streams, failed)}`;
      this.#options.log?.warn({ ...fields, failed }, `${sentence}${next}`);
    }
    this.#startNext();
  }
}

/** Consequence of a process's unplanned end for its texts and streams. */
function nextStep(unfinished: number, failed: number): string {
  if (unfinished === 0) return "another one starts with the next text";
  if (failed === 0) return "another one repeats what it had not finished";
  return failed === unfinished
    ? "what it had not finished fails"
    : "another one repeats a part of what it had not finished, and the rest fails";
}

/** The engine's message with a model's name in place of its path, which clients need not know. */
function withoutPath(message: string, folder: string): string {
  return message.replaceAll(folder, basename(folder));
}
