import { within } from "../../../src/base/timers.ts";
import type { System } from "../../../src/ports/system.ts";
import {
  DEADLINE_PASSED,
  DialError,
  type DialOptions,
  type Leg,
  type Line,
  type LineHealth,
  type LineHost,
  NetworkSilent,
  type PairingCode,
} from "../../../src/ports/telephony.ts";
import type { CallPort } from "./calls/call-port.ts";
import type { WhatsAppSession } from "./session/whatsapp-session.ts";

/** Time limit for a call to hang up, after which the connection is closed, ms. */
const HANGUP_TIMEOUT_MS = 1_000;
/** Time until a busy line is tried again, ms. */
const BUSY_RETRY_MS = 1_000;

/**
 * Places one call over a session. Rejects only with a {@link DialError}; `onEnded` is called once, after the leg has
 * ended.
 */
export type PlaceCall = (
  port: CallPort,
  to: string,
  options: DialOptions,
  signal: AbortSignal,
  onEnded: () => void,
) => Promise<Leg>;

/** Options of {@link WhatsAppLine}. */
export interface WhatsAppLineOptions {
  readonly host: LineHost;
  readonly session: WhatsAppSession;
  readonly system: System;
  readonly place: PlaceCall;
  /** Called when the line is closed. */
  readonly onClosed: (line: WhatsAppLine) => void;
}

/** The call that a line carries, from dialling to its end. */
interface CarriedCall {
  readonly abort: AbortController;
  /** Resolves with the leg, or without one if the call was not placed. */
  readonly leg: Promise<Leg | undefined>;
}

/** One linked WhatsApp number. It carries one call at a time. */
export class WhatsAppLine implements Line {
  readonly #options: WhatsAppLineOptions;
  #call: CarriedCall | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(options: WhatsAppLineOptions) {
    this.#options = options;
  }

  async link(): Promise<void> {
    await this.#options.session.link();
  }

  pairingCode(phone: string, signal: AbortSignal): Promise<PairingCode> {
    return this.#options.session.pairingCode(phone, signal);
  }

  async probe(): Promise<LineHealth> {
    return this.#options.session.probe();
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    const { session, host, system, place } = this.#options;
    if (this.#closePromise !== undefined) throw new DialError("unreachable", "the line is closed");
    if (!session.hasLink) throw new DialError("unreachable", "the line is not linked");
    const health = session.probe();
    if (health.state === "offline") throw new DialError("line_lost", `the line is offline: ${health.reason}`);
    if (session.pause !== undefined) throw session.pause;
    if (signal.aborted) throw new DialError("released", "hung up before the call was placed");
    if (system.monotonic() >= host.deadlines.dial) throw new DialError("line_lost", DEADLINE_PASSED);
    if (this.#call !== undefined)
      throw new DialError("line_lost", "the number is already in a call, and carries one at a time", {
        retryAfterMs: BUSY_RETRY_MS,
      });
    const abort = new AbortController();
    const onEnded = () => {
      if (this.#call?.abort === abort) this.#call = undefined;
    };
    const pendingLeg = place(session, to, options, AbortSignal.any([signal, abort.signal]), onEnded);
    this.#call = { abort, leg: pendingLeg.catch(() => undefined) };
    try {
      return await pendingLeg;
    } catch (error) {
      onEnded();
      throw error;
    }
  }

  async unlink(): Promise<void> {
    await this.#hangUp();
    await this.#options.session.unlink();
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #close(): Promise<void> {
    const { session, onClosed } = this.#options;
    await this.#hangUp();
    await session.close();
    onClosed(this);
  }

  /** Ends the call, including one being placed, while the connection is still open. */
  async #hangUp(): Promise<void> {
    const call = this.#call;
    if (call === undefined) return;
    call.abort.abort();
    const createTimeoutError = () => new NetworkSilent(`the call was not hung up within ${HANGUP_TIMEOUT_MS} ms`);
    const hangUp = call.leg.then((leg) => leg?.hangUp());
    await within(hangUp, {
      system: this.#options.system,
      ms: HANGUP_TIMEOUT_MS,
      timeoutError: createTimeoutError,
    }).catch(() => {}); // closing the client ends the call
  }
}
