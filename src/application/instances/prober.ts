import { type Line, type LineHealth, NetworkSilent } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";

type ProberContext = Pick<Context, "system" | "timings">;

/** The line that a {@link Prober} probes. */
export interface ProbeTarget {
  /** The open line; opens it if necessary. */
  line(): Promise<Line>;
  /** True if another probe should be scheduled. */
  isProbed(): boolean;
  /** Receives the latest result; a result that may be outdated is not reported. */
  onHealth(health: LineHealth): void;
}

/**
 * Asks the network for the health of a line: on request, and periodically while it is connected. One query at a time.
 */
export class Prober {
  readonly #context: ProberContext;
  readonly #target: ProbeTarget;
  #isStopped = false;
  /** Ends the wait for a result. */
  #endWait = () => {};
  #runPromise: Promise<void> | undefined;
  /** True if a probe was requested while another one was under way: the result of that one may be outdated. */
  #mustRepeat = false;
  #isInCall = false;
  #cancelNext: (() => void) | undefined;

  constructor(context: ProberContext, target: ProbeTarget) {
    this.#context = context;
    this.#target = target;
  }

  /** Probes the line now; if a probe is under way, another probe follows it. Never rejects. */
  probe(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#mustRepeat = this.#runPromise !== undefined;
    this.#runPromise ??= this.#probeUntilFresh();
    return this.#runPromise;
  }

  /** Probes more often while a call is live. */
  setInCall(inCall: boolean): void {
    this.#isInCall = inCall;
    if (this.#cancelNext) this.schedule();
  }

  /** Sets the time of the next probe, counted from now. */
  schedule(): void {
    this.cancel();
    if (this.#isStopped || !this.#target.isProbed()) return;
    const { timings, system } = this.#context;
    this.#cancelNext = system.after(this.#isInCall ? timings.probeInCallMs : timings.probeMs, () => void this.probe());
  }

  /** Cancels the next probe. */
  cancel(): void {
    this.#cancelNext?.();
    this.#cancelNext = undefined;
  }

  /** Stops probing, and ends the wait for a result. */
  stop(): void {
    this.cancel();
    this.#isStopped = true;
    this.#endWait();
  }

  async #probeUntilFresh(): Promise<void> {
    do {
      this.#mustRepeat = false;
      await this.#probeOnce();
    } while (this.#mustRepeat && !this.#isStopped);
    this.#runPromise = undefined;
    this.schedule();
  }

  async #probeOnce(): Promise<void> {
    try {
      const health = await this.#ask(await this.#target.line());
      if (health && !this.#mustRepeat) this.#target.onHealth(health);
    } catch {
      // The line could not be opened, which was already reported and logged.
    }
  }

  /**
   * The network's response, undefined if probing has stopped; a network that is silent until the next probe is offline.
   * Thousands of lines are probed each second, so a wait has no signal and only one promise.
   */
  #ask(line: Line): Promise<LineHealth | undefined> {
    if (this.#isStopped) return Promise.resolve(undefined);
    const { timings, system } = this.#context;
    return new Promise((resolve, reject) => {
      const offline = (reason: string) => resolve({ state: "offline", reason });
      const cancelTimeout = system.after(timings.probeMs, () => offline("the network does not respond"));
      const end = (health?: LineHealth) => {
        cancelTimeout();
        resolve(health);
      };
      const fail = (error: unknown) => {
        cancelTimeout();
        if (error instanceof NetworkSilent) offline(error.message);
        else reject(error);
      };
      this.#endWait = () => end();
      line.probe().then(end, fail);
    });
  }
}
