import { within } from "../../base/timers.ts";
import { type InstanceRef, type Line, type LineHost, NetworkSilent, type Telephony } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";

type BoundedLineContext = Pick<Context, "log" | "system" | "timings">;

/** One call of `Telephony.open`. */
interface Attempt {
  /** Resolves with the line, even after the timeout. */
  readonly line: Promise<Line>;
  readonly abort: AbortController;
  isOpen: boolean;
}

/** An adapter's line, opened when it is first needed. Every wait for it has a timeout. */
export class BoundedLine {
  readonly #context: BoundedLineContext;
  readonly #telephony: Telephony;
  readonly #instance: InstanceRef;
  readonly #hostOf: (abandonSignal: AbortSignal) => LineHost;
  readonly #onFailed: (error: unknown) => void;
  readonly #scope = new AbortController();
  #attempt: Attempt | undefined;
  #line: Promise<Line> | undefined;

  /**
   * @param hostOf the host of one attempt to open the line: once the signal is aborted, that line can report, read and
   *   store nothing
   * @param onFailed called once for each failed attempt
   */
  constructor(
    context: BoundedLineContext,
    telephony: Telephony,
    instance: InstanceRef,
    hostOf: (abandonSignal: AbortSignal) => LineHost,
    onFailed: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#telephony = telephony;
    this.#instance = instance;
    this.#hostOf = hostOf;
    this.#onFailed = onFailed;
  }

  /** True if the line is open, or being opened. */
  get isOpenOrOpening(): boolean {
    return this.#line !== undefined;
  }

  /**
   * The open line.
   * @throws {NetworkSilent} the network did not open it within `lineOpenMs`; a line that opens later is closed
   */
  open(): Promise<Line> {
    this.#line ??= this.#open().catch((error: unknown) => {
      this.#line = undefined;
      if (!this.#scope.signal.aborted) this.#onFailed(error);
      throw error;
    });
    return this.#line;
  }

  /** Opens the line if necessary, and makes the network forget the device; rejects with the reason why that failed. */
  unlink(): Promise<void> {
    const { unlinkMs } = this.#context.timings;
    const timeoutError = () => new NetworkSilent(`the network did not unlink the device within ${unlinkMs} ms`);
    const unlinkPromise = this.open().then((line) => line.unlink());
    return within(unlinkPromise, { ...this.#waitOptions, ms: unlinkMs, timeoutError });
  }

  /** Abandons the line: it is closed, its reports are ignored, and the next use opens a new line. */
  abandon(): void {
    const attempt = this.#attempt;
    this.#attempt = this.#line = undefined;
    attempt?.abort.abort(new Error("the line was abandoned"));
    if (attempt) void closeWhenOpen(attempt.line).catch((error) => this.#warn(error));
  }

  /** Closes the line, even while it is being opened. Never rejects. */
  async close(): Promise<void> {
    const { system, timings } = this.#context;
    const attempt = this.#attempt;
    this.#scope.abort(new Error("the line is closed"));
    if (!attempt) return;
    if (!attempt.isOpen) attempt.abort.abort(this.#scope.signal.reason);
    const timeoutError = () => new NetworkSilent(`the line did not close within ${timings.closeMs} ms`);
    await within(closeWhenOpen(attempt.line), { system, ms: timings.closeMs, timeoutError }).catch((error) =>
      this.#warn(error),
    );
  }

  async #open(): Promise<Line> {
    this.#scope.signal.throwIfAborted();
    const { lineOpenMs } = this.#context.timings;
    const abort = new AbortController();
    const opening = (async () => this.#telephony.open(this.#instance, this.#hostOf(abort.signal), abort.signal))();
    const attempt: Attempt = { line: opening, abort, isOpen: false };
    this.#attempt = attempt;
    const timeoutError = () => {
      const error = new NetworkSilent(`the network did not open the line within ${lineOpenMs} ms`);
      abort.abort(error);
      void closeWhenOpen(opening).catch((error) => this.#warn(error));
      return error;
    };
    const line = await within(opening, { ...this.#waitOptions, ms: lineOpenMs, timeoutError });
    attempt.isOpen = true;
    return line;
  }

  get #waitOptions() {
    return { system: this.#context.system, signal: this.#scope.signal };
  }

  #warn(error: unknown): void {
    this.#context.log.warn({ instance_id: this.#instance.id, err: error }, "the line did not close properly");
  }
}

/** Closes the line once it has opened; resolves at once if it could not be opened. */
function closeWhenOpen(opening: Promise<Line>): Promise<void> {
  return opening.then(
    (line) => line.close(),
    () => {},
  );
}
