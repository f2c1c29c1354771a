import { engineMessage, type HostRecogniser, type HostStream } from "./host-engine.ts";
import type { FromHost, HeardText, RecogniserFiles, RecogniserInput, StreamProgress, ToHost } from "./messages.ts";

/** Maximum number of streams decoded together; a larger batch is no faster than several small ones. */
const BATCH = 8;
/** Time for collecting audio from several calls, so that it is decoded together, ms. */
const COLLECT_MS = 20;
/**
 * Number of audio messages that a stream consumes before it reports progress without new text; the server sends up to
 * 25 in advance.
 */
const TAKEN_PER_REPORT = 5;
/** Silence after a turn, so that its last word is decoded, s. */
const TAIL_S = 0.6;

/** Loads a recogniser. */
type LoadRecogniser = (files: RecogniserFiles) => Promise<HostRecogniser>;

/** A stream; `opened` is missing while the model is loading. */
interface Stream {
  readonly id: number;
  readonly sampleRate: number;
  readonly pending: (Int16Array | "commit")[];
  opened?: { readonly recogniser: HostRecogniser; readonly stream: HostStream };
  /** Number of audio messages consumed since the last progress report. */
  takenCount: number;
  /** True between the end of a turn and its text. */
  isCommitting: boolean;
  text: string;
}

/** A stream whose model is loaded. */
type OpenStream = Stream & Required<Pick<Stream, "opened">>;

/**
 * The streams of a speech process. Decodes all calls' streams in batches, with a break for other work after each batch.
 */
export class HostStreams {
  readonly #load: LoadRecogniser;
  readonly #send: (message: FromHost) => void;
  readonly #recognisers = new Map<string, Promise<HostRecogniser>>();
  readonly #streams = new Map<number, Stream>();
  #isScheduled = false;

  constructor(load: LoadRecogniser, send: (message: FromHost) => void) {
    this.#load = load;
    this.#send = send;
  }

  receive(message: Exclude<ToHost, { type: "speak" }>): void {
    if (message.type === "open") {
      void this.#open(message.stream, message.input);
      return;
    }
    const stream = this.#streams.get(message.stream);
    if (stream === undefined) return;
    if (message.type === "close") this.#close(stream);
    else {
      stream.pending.push(message.type === "commit" ? "commit" : message.samples);
      this.#schedule(COLLECT_MS);
    }
  }

  async #open(id: number, { model, sampleRate, language }: RecogniserInput): Promise<void> {
    const stream: Stream = { id, sampleRate, pending: [], takenCount: 0, isCommitting: false, text: "" };
    this.#streams.set(id, stream);
    try {
      const recogniser = await this.#recogniser(model);
      if (!this.#streams.has(id)) return;
      stream.opened = { recogniser, stream: recogniser.open(sampleRate, language) };
      this.#schedule(0);
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #recogniser(files: RecogniserFiles): Promise<HostRecogniser> {
    const recogniser = this.#recognisers.get(files.folder) ?? this.#load(files);
    this.#recognisers.set(files.folder, recogniser);
    recogniser.catch(() => this.#recognisers.delete(files.folder));
    return recogniser;
  }

  #close(stream: Stream): void {
    this.#streams.delete(stream.id);
    stream.opened?.stream.close();
  }

  #schedule(ms: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      this.#step();
    }, ms);
  }

  /** Feeds every stream, decodes one batch, and reports. */
  #step(): void {
    for (const stream of this.#openStreams()) this.#attempt(stream, () => feed(stream));
    const readyStreams = this.#openStreams().filter(({ opened }) => opened.stream.isReady);
    const [first] = readyStreams;
    if (first)
      this.#decode(readyStreams.filter(({ opened }) => opened.recogniser === first.opened.recogniser).slice(0, BATCH));
    for (const stream of this.#openStreams())
      if (stream.isCommitting && !stream.opened.stream.isReady) this.#attempt(stream, () => this.#finishTurn(stream));
    this.#report();
    if (this.#openStreams().some(hasWork)) this.#schedule(0);
  }

  #openStreams(): OpenStream[] {
    return [...this.#streams.values()].filter((stream): stream is OpenStream => stream.opened !== undefined);
  }

  #decode(batch: readonly OpenStream[]): void {
    try {
      batch[0]?.opened.recogniser.decode(batch.map(({ opened }) => opened.stream));
    } catch (error) {
      for (const stream of batch) this.#fail(stream, error);
    }
  }

  #finishTurn(stream: OpenStream): void {
    this.#send({ type: "final", stream: stream.id, ...heardBy(stream) });
    stream.opened.stream.reset();
    stream.isCommitting = false;
    stream.text = "";
  }

  /** Reports new texts immediately, but consumed audio in larger steps, because each message wakes the server. */
  #report(): void {
    const progress: StreamProgress[] = [];
    let isUrgent = false;
    for (const stream of this.#openStreams()) {
      const { id, takenCount } = stream;
      const heard = stream.isCommitting ? undefined : heardBy(stream);
      const isNew = heard !== undefined && heard.text !== stream.text;
      isUrgent ||= isNew || takenCount >= TAKEN_PER_REPORT;
      if (takenCount > 0 || isNew) progress.push({ stream: id, takenCount, ...(isNew ? { partial: heard } : {}) });
    }
    if (!isUrgent) return;
    for (const stream of this.#openStreams()) stream.takenCount = 0;
    for (const { stream, partial } of progress) if (partial) this.#streams.get(stream)!.text = partial.text;
    this.#send({ type: "progress", streams: progress });
  }

  #attempt(stream: Stream, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #fail(stream: Stream, error: unknown): void {
    this.#streams.delete(stream.id);
    this.#send({ type: "stream-failed", stream: stream.id, message: engineMessage(error) });
  }
}

/**
 * Feeds a stream's waiting audio, up to the end of the turn. A turn ends once its audio has been decoded, so that its
 * partial text comes first.
 */
function feed(stream: OpenStream): void {
  while (!stream.isCommitting) {
    if (stream.pending[0] === "commit" && stream.opened.stream.isReady) return;
    const next = stream.pending.shift();
    if (next === undefined) return;
    if (next === "commit") {
      stream.opened.stream.push(new Float32Array(Math.round(TAIL_S * stream.sampleRate)));
      stream.isCommitting = true;
    } else {
      stream.opened.stream.push(toFloat(next));
      stream.takenCount++;
    }
  }
}

function hasWork({ opened, pending, isCommitting }: OpenStream): boolean {
  return isCommitting || pending.length > 0 || opened.stream.isReady;
}

function heardBy({ opened }: OpenStream): HeardText {
  const { text, timestamps } = opened.stream.result();
  return { text, startS: timestamps[0], endS: timestamps.at(-1) };
}

function toFloat(samples: Int16Array): Float32Array {
  const out = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i++) out[i] = samples[i]! / 32_768;
  return out;
}
