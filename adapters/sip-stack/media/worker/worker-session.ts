import {
  type AheadSource,
  type ClockMember,
  errorText,
  FRAME_MS,
  type FrameSink,
  type FrameSource,
  type MediaClock,
  SAMPLE,
} from "../../ports.ts";
import {
  type MediaListener,
  type MediaOptions,
  type MediaSession,
  type MediaStatistics,
  NO_STREAM_EVIDENCE,
  type SendDeadline,
  type StreamEvidence,
  type StreamSettings,
} from "../engine.ts";
import { SampleRing } from "./sample-ring.ts";
import { AHEAD_MS, CELL, type SharedCall, type ToMediaWorker } from "./shared-call.ts";
import { readEvidence, readStatistics } from "./statistics-board.ts";

/** Number of frames prepared from a source that cannot be read ahead. */
const READY_FRAMES = 4;

/** Options of a session. */
export interface WorkerSessionOptions {
  readonly id: number;
  readonly port: number;
  readonly shared: SharedCall;
  readonly media: MediaOptions;
  readonly listener: MediaListener;
  readonly deadlines: SendDeadline;
  /** Lead of this thread's clock over the worker's, ms. */
  readonly aheadMs: number;
  readonly clock: MediaClock;
  readonly post: (message: ToMediaWorker) => void;
  /** Posts a request; resolves with the reply, or when the worker has exited; rejects with the worker's error. */
  readonly request: (message: (ticket: number) => ToMediaWorker) => Promise<void>;
  readonly onClosed: (session: WorkerSession) => void;
}

/**
 * The main thread's half of a call whose audio runs in the worker. It moves samples between source, sink and the shared
 * rings every 20 ms; while this thread is blocked, the worker continues with their contents.
 */
export class WorkerSession implements MediaSession, ClockMember {
  readonly port: number;
  codec: StreamSettings["codec"] | undefined;
  readonly #options: WorkerSessionOptions;
  readonly #outgoing: SampleRing;
  readonly #incoming: SampleRing;
  readonly #cells: Int32Array;
  readonly #board: Float64Array;
  readonly #deadline: Float64Array;
  readonly #frame: Int16Array;
  readonly #marks: Uint8Array;
  readonly #maxSamples: number;
  #source: FrameSource | undefined;
  #aheadSource: AheadSource | undefined;
  #sink: FrameSink | undefined;
  #earlySink: FrameSink | undefined;
  #isStarted = false;
  #closePromise: Promise<void> | undefined;
  /** Number of sent samples that have been reported to the source; the other reported counts follow. */
  #sentSamples = 0;
  #silence = 0;
  #underruns = 0;
  #droppedInbound = 0;

  constructor(options: WorkerSessionOptions) {
    const { shared, media, port, clock } = options;
    this.port = port;
    this.#options = options;
    this.#outgoing = new SampleRing(shared.outgoing);
    this.#incoming = new SampleRing(shared.incoming);
    this.#cells = new Int32Array(shared.cells);
    this.#board = new Float64Array(shared.statistics);
    this.#deadline = new Float64Array(shared.deadline);
    this.#passDeadline();
    this.#frame = new Int16Array((media.sampleRate * FRAME_MS) / 1000);
    this.#marks = new Uint8Array(this.#frame.length);
    this.#maxSamples = (media.sampleRate * AHEAD_MS) / 1000;
    clock.add(this);
  }

  connect(source: FrameSource, sink: FrameSink, earlySink?: FrameSink): void {
    this.#source = source;
    this.#sink = sink;
    this.#earlySink = earlySink;
    this.#aheadSource = source.ahead;
    if (this.#aheadSource !== undefined) this.#aheadSource.recall = this.#recall;
    if (this.#isStarted) this.#fill(1);
  }

  configure(settings: StreamSettings): void {
    if (this.#closePromise !== undefined) return;
    this.codec = settings.codec;
    this.#options.post({ type: "configure", id: this.#options.id, settings });
  }

  start(): void {
    if (this.#isStarted || this.#closePromise !== undefined) return;
    this.#deliverInbound();
    this.#isStarted = true;
    this.#fill(1);
    this.#options.post({ type: "start", id: this.#options.id });
  }

  async sendDigits(digits: string): Promise<void> {
    const { request, id } = this.#options;
    if (this.#closePromise === undefined) await request((ticket) => ({ type: "keys", id, digits, ticket }));
  }

  /** The statistics, at most a quarter of a second old. */
  statistics(): MediaStatistics {
    return readStatistics(this.#board);
  }

  /** The evidence, at most as old as the statistics. */
  evidence(): StreamEvidence {
    return this.#isAnswered ? readEvidence(this.#board) : NO_STREAM_EVIDENCE;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  /** @internal called by the clock */
  tick(): void {
    this.#passDeadline();
    if (this.#isStarted) {
      this.#reportSent();
      this.#fill(READY_FRAMES);
    }
    this.#deliverInbound();
  }

  /** @internal */
  tickFailed(fault: unknown): void {
    this.reportLoss(`the call's audio failed: ${errorText(fault)}`);
  }

  /** @internal Reports the loss of the session. @param detail a sentence */
  reportLoss(detail: string): void {
    if (this.#closePromise === undefined) this.#options.listener.lost(detail);
  }

  /** Passes the deadline on, so that the worker can continue while this thread is blocked. */
  #passDeadline(): void {
    this.#deadline[0] = this.#options.deadlines.send - this.#options.aheadMs;
  }

  /**
   * Prepares the audio that the worker will send.
   * @param frames number of frames of a source that cannot be read ahead
   */
  #fill(frames: number): void {
    if (this.#aheadSource === undefined) {
      while (this.#source !== undefined && this.#outgoing.waiting < frames * this.#frame.length) {
        this.#source.read(this.#frame);
        this.#outgoing.write(this.#frame, this.#frame.length);
      }
      return;
    }
    while (this.#outgoing.waiting + this.#frame.length <= this.#maxSamples) {
      const samples = this.#aheadSource.pull(this.#frame);
      this.#outgoing.write(this.#frame, samples);
      if (samples < this.#frame.length) return;
    }
  }

  /** Reports the sent samples to the source. */
  #reportSent(sentPosition: number = this.#outgoing.position): void {
    const silence = Atomics.load(this.#cells, CELL.silence);
    const underruns = Atomics.load(this.#cells, CELL.underruns);
    const samples = (sentPosition - this.#sentSamples) | 0;
    const silentSamples = (silence - this.#silence) | 0;
    const hasRunDry = underruns !== this.#underruns;
    this.#sentSamples = sentPosition;
    this.#silence = silence;
    this.#underruns = underruns;
    this.#aheadSource?.sent(samples, silentSamples, hasRunDry);
  }

  readonly #recall = (): void => {
    Atomics.add(this.#cells, CELL.recalls, 1);
    const sentPosition = this.#outgoing.drop();
    this.#reportSent(sentPosition);
    this.#sentSamples = this.#outgoing.position; // dropped samples do not count
  };

  /** True if the worker knows that the call has been answered. */
  get #isAnswered(): boolean {
    return Atomics.load(this.#cells, CELL.answered) === 1;
  }

  /** Passes on the worker's inbound audio; audio from before the answer goes to the early sink. */
  #deliverInbound(): void {
    const isAnswered = this.#isAnswered;
    const answeredAt = Atomics.load(this.#cells, CELL.answeredAt);
    while (this.#incoming.waiting >= this.#frame.length) {
      const isEarly = !isAnswered || ((this.#incoming.position - answeredAt) | 0) < 0;
      const marks = this.#incoming.isPlain ? undefined : this.#marks;
      this.#incoming.take(this.#frame, marks);
      (isEarly ? this.#earlySink : this.#sink)?.write(this.#frame, marks);
    }
    const sink = isAnswered ? this.#sink : this.#earlySink;
    const droppedInbound = Atomics.load(this.#cells, CELL.droppedInbound);
    for (
      ;
      this.#droppedInbound !== droppedInbound;
      this.#droppedInbound = (this.#droppedInbound + this.#frame.length) | 0
    ) {
      this.#frame.fill(0);
      sink?.write(this.#frame, this.#marks.fill(SAMPLE.filledIn));
    }
  }

  async #close(): Promise<void> {
    const { clock, request, id, onClosed } = this.#options;
    clock.remove(this);
    await request((ticket) => ({ type: "close", id, ticket })).catch(() => {});
    if (this.#isStarted) this.#reportSent();
    if (this.#aheadSource?.recall === this.#recall) this.#aheadSource.recall = undefined;
    this.#source = this.#aheadSource = this.#sink = this.#earlySink = undefined;
    onClosed(this);
  }
}
