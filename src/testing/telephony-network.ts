import { Playout } from "../audio/playout/playout.ts";
import { concatPcm } from "../audio/samples/pcm.ts";
import { type FrameSink, type FrameSource, SAMPLE } from "../ports/media.ts";
import { type CallerId, DialError, type Leg, type Line } from "../ports/telephony.ts";
import type { ContractSubject } from "./telephony-contract/options.ts";
import { LegEvents, TestLineHost } from "./telephony-host.ts";

/** A call that a test has placed. */
export interface PlacedCall {
  readonly callId: string;
  readonly leg: Leg;
  readonly events: CallEvents;
  /** The default source. */
  readonly playout: Playout;
  readonly recorder: FrameRecorder;
}

/** The network under test, with the actions of a test. */
export class TestNetwork {
  readonly subject: ContractSubject;
  readonly #patienceMs: number;
  readonly #lines: Line[] = [];
  #callCount = 0;

  constructor(subject: ContractSubject, patienceMs: number) {
    this.subject = subject;
    this.#patienceMs = patienceMs;
  }

  async open(host: TestLineHost = new TestLineHost()): Promise<{ line: Line; host: TestLineHost }> {
    const instance = { id: `inst_contract_${this.#lines.length}`, userId: "usr_contract", name: "Contract" };
    const line = await this.subject.telephony.open(instance, host, new AbortController().signal);
    this.#lines.push(line);
    return { line, host };
  }

  /** Links a line, by default a new one, and waits until it is online. */
  async link(openLine?: { line: Line; host: TestLineHost }): Promise<{ line: Line; host: TestLineHost }> {
    const { line, host } = openLine ?? (await this.open());
    // A line that the operator has linked connects as soon as it is opened.
    const from = this.subject.telephony.capabilities.linking === "operator" ? 0 : host.reports.all.length;
    await line.link();
    if (this.subject.scan !== undefined) {
      const { code } = await host.reports.next("code", this.#patienceMs, from);
      await this.subject.scan(code.payload);
    }
    await host.reports.next("online", this.#patienceMs, from);
    return { line, host };
  }

  async linkedLine(): Promise<Line> {
    return (await this.link()).line;
  }

  async call(
    line: Line,
    to: string,
    source?: FrameSource,
    signal: AbortSignal = new AbortController().signal,
    from?: CallerId,
  ): Promise<PlacedCall> {
    const callId = `call_contract_${++this.#callCount}`;
    const leg = await line.dial(to, { callId, ringTimeoutMs: 60_000, from }, signal);
    const playout = new Playout(leg.sampleRate);
    const recorder = new FrameRecorder();
    const events = new CallEvents(leg);
    if (source instanceof CountingSource) source.isAnswered = () => events.types.includes("answered");
    leg.connectMedia(source ?? playout, recorder);
    return { callId, leg, events, playout, recorder };
  }

  /** The name of the error that dialling rejects with, or "none". */
  async refusal(line: Line, to: string): Promise<string> {
    return await this.call(line, to).then(
      () => "none",
      (fault: unknown) => (fault instanceof DialError ? "DialError" : String(fault)),
    );
  }

  /** Aborts the signal of a call at this moment; returns how the call ends. */
  async endAfterAbort(line: Line, to: string, moment: "before" | "dialling" | "connected"): Promise<string> {
    const abort = new AbortController();
    if (moment === "before") abort.abort();
    const dialling = this.call(line, to, undefined, abort.signal);
    if (moment === "dialling") abort.abort();
    try {
      const { events } = await dialling;
      if (moment === "connected") await events.next("connected", this.#patienceMs);
      abort.abort();
      await events.next("ended", this.#patienceMs);
      await events.over;
      return events.cause ?? "no cause";
    } catch (fault) {
      if (fault instanceof DialError) return "DialError";
      throw fault;
    }
  }

  /** The audio that the callee of an ended call received. Throws an Error if it is unknown. */
  async heard(callId: string): Promise<Int16Array> {
    if (this.subject.heard === undefined)
      throw new Error("the subject has no heard(): it does not know what a callee received");
    return await this.subject.heard(callId);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Waits until `isDone` returns true; rejects with an Error after `patienceMs` plus `moreMs`. */
  async until(isDone: () => boolean, condition: string, moreMs = 5_000): Promise<void> {
    const end = performance.now() + this.#patienceMs + moreMs;
    while (!isDone()) {
      if (performance.now() > end) throw new Error(`timed out waiting for ${condition}`);
      await this.sleep(20);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.close()));
    await this.subject.telephony.close();
    await this.subject.close();
  }
}

/** The events of a call. */
export class CallEvents extends LegEvents {
  /** Keys that arrived as events. */
  get keys(): string {
    return this.all.map((event) => (event.type === "dtmf" ? event.digit : "")).join("");
  }
}

/** Records all inbound audio, and the mark of each sample. */
export class FrameRecorder implements FrameSink {
  readonly frames: Int16Array[] = [];
  readonly marks: Uint8Array[] = [];

  write(frame: Int16Array, received?: Uint8Array): void {
    this.frames.push(frame.slice());
    this.marks.push(received?.slice() ?? new Uint8Array(frame.length).fill(SAMPLE.received));
  }

  heard(): Int16Array {
    return concatPcm(this.frames);
  }
}

/** Plays silence and counts the frames that are read. */
export class CountingSource implements FrameSource {
  frames = 0;
  readonly lengths: Set<number> = new Set();
  readsBeforeAnswer = 0;
  /** True if the test has seen the answer. */
  isAnswered: () => boolean = () => true;
  #earlyReadCount = 0;

  read(frame: Int16Array): number {
    this.frames++;
    this.lengths.add(frame.length);
    // The first frame may be read at the moment of the answer, before the test sees the event.
    if (!this.isAnswered() && ++this.#earlyReadCount > 1) this.readsBeforeAnswer++;
    frame.fill(0);
    return 0;
  }
}
