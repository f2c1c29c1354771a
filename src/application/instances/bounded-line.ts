import { within } from "../../base/timeout.ts";
import {
  type CredentialStore,
  type InstanceRef,
  type Line,
  type LineHost,
  type LineRecords,
  NetworkSilent,
  type Telephony,
} from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import { onDemand } from "../use-cases-on-demand.ts";

type BoundedLineContext = Pick<Context, "log" | "system" | "timings">;

/** One call of `Telephony.open`. */
interface Attempt {
  /** Resolves with the line, however late. */
  readonly arrives: Promise<Line>;
  readonly abort: AbortController;
  opened: boolean;
}

/** An adapter's line, opened when it is first needed. No wait on it is longer than its bound. */
export class BoundedLine {
  readonly #context: BoundedLineContext;
  readonly #telephony: Telephony;
  readonly #instance: InstanceRef;
  readonly #host: LineHost;
  readonly #failed: (error: unknown) => void;
  readonly #scope = new AbortController();
  #attempt: Attempt | undefined;
  #line: Promise<Line> | undefined;

  /** @param failed called once for each failed attempt to open the line */
  constructor(
    context: BoundedLineContext,
    telephony: Telephony,
    instance: InstanceRef,
    host: LineHost,
    failed: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#telephony = telephony;
    this.#instance = instance;
    this.#host = host;
    this.#failed = failed;
  }

  /** Whether the line is open, or being opened. */
  get wanted(): boolean {
    return this.#line !== undefined;
  }

  /**
   * The open line.
   * @throws {NetworkSilent} not within `lineOpenMs`; if the line arrives later, it is closed
   */
  open(): Promise<Line> {
    this.#line ??= this.#open().catch((error: unknown) => {
      this.#line = undefined;
      if (!this.#scope.signal.aborted) this.#failed(error);
      throw error;
    });
    return this.#line;
  }

  /** Opens the line if need be, and forgets the device at the network; rejects with why that was not done. */
  unlink(): Promise<void> {
    const { unlinkMs } = this.#context.timings;
    const late = () => new NetworkSilent(`the network did not unlink the device within ${unlinkMs} ms`);
    const unlinked = this.open().then((line) => line.unlink());
    return within(unlinked, { ...this.#bound, ms: unlinkMs, late });
  }

  /** Gives the line up: it is closed, it can report nothing any more, and the next one is a new one. */
  abandon(): void {
    const attempt = this.#attempt;
    this.#attempt = this.#line = undefined;
    attempt?.abort.abort(new Error("the line was given up"));
    if (attempt) void closeOf(attempt.arrives).catch((error) => this.#warn(error));
  }

  /** Closes the line, also one that is being opened. Never rejects. */
  async close(): Promise<void> {
    const { system, timings } = this.#context;
    const attempt = this.#attempt;
    this.#scope.abort(new Error("the line is closed"));
    if (!attempt) return;
    if (!attempt.opened) attempt.abort.abort(this.#scope.signal.reason);
    const late = () => new NetworkSilent(`the line did not close within ${timings.closeMs} ms`);
    await within(closeOf(attempt.arrives), { system, ms: timings.closeMs, late }).catch((error) => this.#warn(error));
  }

  async #open(): Promise<Line> {
    this.#scope.signal.throwIfAborted();
    const { lineOpenMs } = this.#context.timings;
    const abort = new AbortController();
    const host = hostUnless(abort.signal, this.#host);
    const arrives = (async () => this.#telephony.open(this.#instance, host, abort.signal))();
    const attempt: Attempt = { arrives, abort, opened: false };
    this.#attempt = attempt;
    const late = () => {
      const silent = new NetworkSilent(`the network did not open the line within ${lineOpenMs} ms`);
      abort.abort(silent);
      void closeOf(arrives).catch((error) => this.#warn(error));
      return silent;
    };
    const line = await within(arrives, { ...this.#bound, ms: lineOpenMs, late });
    attempt.opened = true;
    return line;
  }

  get #bound() {
    return { system: this.#context.system, signal: this.#scope.signal };
  }

  #warn(error: unknown): void {
    this.#context.log.warn({ instance_id: this.#instance.id, err: error }, "the line did not close in order");
  }
}

/** Closes the line when it arrives; nothing is to be done if it never opens. */
function closeOf(arrives: Promise<Line>): Promise<void> {
  return arrives.then(
    (line) => line.close(),
    () => {},
  );
}

/** The host of one attempt: a line that was given up can report, read and store nothing any more. */
function hostUnless(givenUp: AbortSignal, host: LineHost): LineHost {
  const unless = (report: () => void) => {
    if (!givenUp.aborted) report();
  };
  const of =
    <T>(store: T) =>
    async (): Promise<T> => {
      givenUp.throwIfAborted();
      return store;
    };
  return {
    credentials: onDemand<CredentialStore>(of(host.credentials), { load: 1, save: 1, erase: 1 }),
    records: onDemand<LineRecords>(of(host.records), { get: 1, keys: 1, set: 1, clear: 1 }),
    deadlines: host.deadlines,
    publicUrl: () => host.publicUrl(),
    code: (code) => unless(() => host.code(code)),
    async linked(phone, credentials) {
      givenUp.throwIfAborted();
      await host.linked(phone, credentials);
    },
    online: () => unless(() => host.online()),
    offline: (reason, lasting) => unless(() => host.offline(reason, lasting)),
    condition: (condition, reason) => unless(() => host.condition(condition, reason)),
    unlinked: (reason) => unless(() => host.unlinked(reason)),
  };
}
