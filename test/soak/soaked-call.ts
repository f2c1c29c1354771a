import {
  type AudioSocket,
  type AudioSocketListener,
  message,
  openAudioSocket,
} from "../../adapters/cli/bench/audio-socket.ts";
import type { Beat } from "../../adapters/cli/bench/beat.ts";
import { TONE_MESSAGE } from "../../adapters/cli/bench/full-duplex.ts";
import { EventCheck } from "./event-check.ts";

const CLEAR = message('{"type":"clear"}');
/** Messages of audio per mark, and marks per `clear`. */
const MARK_EVERY = 50;
const CLEAR_EVERY = 17;
/** Keys that the callee presses after the answer. */
export const KEYS = "1234#";
/** Margin for the marks pending at the end of a call, ms. A mark must have been reported if it is older than the delay of the last reported one plus this margin: after a client's stall, audio queues up. */
const MARK_MARGIN_MS = 2_000;
/** Length of the break of the connection, ms. */
const BREAK_MS = 500;

/** Expected and received counts. */
export interface ReceivedCounts {
  readonly events: { readonly expected: number; readonly received: number };
  /** Number of messages of the callee's audio. */
  readonly audio: { readonly expected: number; readonly received: number };
  /** Faults as sentences, not only those of events. */
  readonly faults: readonly string[];
}

/**
 * One call of a soak, from the connection to its end at the maximum duration: a tone both ways, marks, `clear`, keys
 * that the callee presses, and a connection that breaks midway.
 */
export class SoakedCall {
  readonly #url: string;
  readonly #beat: Beat;
  readonly #token: string | undefined;
  readonly #eventCheck = new EventCheck();
  readonly #faults: string[] = [];
  readonly #breakAfterMs: number;
  #socket: AudioSocket | undefined;
  #sentFrames = 0;
  #marks: { readonly name: string; readonly at: number }[] = [];
  #markCount = 0;
  /** Time from sending the last reported mark to its report, ms. */
  #markLatencyMs = 0;
  #clearCount = 0;
  #clearedCount = 0;
  #isBroken = false;
  /** Times of the answer's report, and of the first and last audio of this connection. */
  #answeredAt = 0;
  #firstAt = 0;
  #lastAt = 0;
  #frameCount = 0;
  readonly #audio = { expected: 0, received: 0 };
  #onClose: (code: number) => void = () => {};

  /** @param breakAfterMs time of the break after the answer, ms */
  constructor(url: string, beat: Beat, breakAfterMs: number, token?: string) {
    this.#token = token;
    this.#url = url;
    this.#beat = beat;
    this.#breakAfterMs = breakAfterMs;
  }

  /** Resolves when the call has ended and everything is counted. @throws {Error} the connection failed */
  async run(): Promise<ReceivedCounts> {
    const callEnd = new Promise<number>((resolve) => {
      this.#onClose = resolve;
    });
    await this.#connect();
    const code = await callEnd;
    this.#countAudio();
    if (code !== 1000) this.#faults.push(`the connection was closed with ${code}`);
    return this.#evaluate();
  }

  /** Ends the call from outside; it is still counted. */
  destroy(): void {
    this.#socket?.destroy();
  }

  async #connect(): Promise<void> {
    this.#eventCheck.restart();
    const listener: AudioSocketListener = {
      audio: () => this.#checkAudio(),
      text: (text) => this.#handle(text),
      closed: (code) => {
        this.#beat.remove(this.#send);
        if (this.#socket === socket) this.#onClose(code);
      },
    };
    const socket = await openAudioSocket(this.#url, listener, this.#token);
    this.#socket = socket;
    this.#beat.add(this.#send);
  }

  readonly #send = (): void => {
    this.#socket?.write(TONE_MESSAGE);
    if (this.#answeredAt === 0 || ++this.#sentFrames % MARK_EVERY !== 0) return;
    const isIdle = this.#marks.length === this.#markCount && this.#clearCount === this.#clearedCount;
    // Sends no requests before the break, so that none are pending then.
    if (!this.#isBroken && performance.now() - this.#answeredAt > this.#breakAfterMs) {
      if (isIdle) void this.#break();
    } else if (
      isIdle &&
      this.#marks.length % CLEAR_EVERY === CLEAR_EVERY - 1 &&
      this.#clearCount < this.#marks.length / CLEAR_EVERY
    ) {
      this.#clearCount++;
      this.#socket?.write(CLEAR);
    } else {
      const name = `m${this.#marks.length}`;
      this.#marks.push({ name, at: performance.now() });
      this.#socket?.write(message(JSON.stringify({ type: "mark", name })));
    }
  };

  async #break(): Promise<void> {
    this.#isBroken = true;
    this.#countAudio();
    const oldSocket = this.#socket;
    this.#socket = undefined;
    this.#beat.remove(this.#send);
    oldSocket?.destroy();
    await new Promise((resolve) => setTimeout(resolve, BREAK_MS));
    await this.#connect().catch((fault: unknown) => {
      this.#faults.push(String(fault));
      this.#onClose(1006);
    });
  }

  #checkAudio(): void {
    const now = performance.now();
    if (this.#frameCount++ === 0) this.#firstAt = now;
    this.#lastAt = now;
  }

  #handle(text: string): void {
    const event = this.#eventCheck.take(text);
    if (event?.event === "answered") this.#answeredAt = performance.now();
    if (event?.event === "mark") {
      const mark = this.#marks[this.#markCount++];
      if (mark) this.#markLatencyMs = performance.now() - mark.at;
    }
    if (event?.event === "cleared") this.#clearedCount++;
  }

  /** Evaluates this connection, which has ended. */
  #countAudio(): void {
    const expectedCount = this.#frameCount === 0 ? 0 : Math.round((this.#lastAt - this.#firstAt) / 20) + 1;
    this.#audio.expected += expectedCount;
    this.#audio.received += this.#frameCount;
    this.#frameCount = 0;
  }

  #evaluate(): ReceivedCounts {
    const { events, mismatches, missingCount } = this.#eventCheck;
    const eventsNamed = (name: string) => events.filter(({ event }) => event === name);
    const marks = eventsNamed("mark").map(({ name }) => name);
    const deadline = performance.now() - this.#markLatencyMs - MARK_MARGIN_MS;
    const expectedCount = this.#marks.filter(({ at }) => at < deadline).length;
    const isInOrder = marks.every((name, n) => name === this.#marks[n]?.name);
    const keys = eventsNamed("dtmf")
      .map(({ digit }) => digit)
      .join("");
    const addFault = (fault: string | false): void => void (fault && this.#faults.push(fault));
    addFault(marks.length < expectedCount && `${expectedCount} marks were due, ${marks.length} were reported`);
    addFault(!isInOrder && `marks were reported in another order: ${marks.join(" ")}`);
    addFault(keys !== KEYS && `keys ${KEYS} were pressed, ${keys} were reported`);
    addFault(
      this.#clearedCount !== this.#clearCount &&
        `clear was sent ${this.#clearCount} times and confirmed ${this.#clearedCount} times`,
    );
    for (const name of ["ringing", "answered", "completed"])
      addFault(eventsNamed(name).length !== 1 && `${name} was reported ${eventsNamed(name).length} times`);
    addFault(eventsNamed("completed")[0]?.reason !== "max_duration" && `ended ${JSON.stringify(events.at(-1))}`);
    addFault(mismatches > 0 && `${mismatches} events were replayed with other contents`);
    addFault(missingCount > 0 && `${missingCount} events were not replayed`);
    addFault(!this.#isBroken && "the connection was never broken");
    const expected = 3 + KEYS.length + Math.max(expectedCount, marks.length) + this.#clearCount;
    return {
      events: { expected, received: events.length - mismatches - missingCount },
      audio: this.#audio,
      faults: this.#faults,
    };
  }
}
