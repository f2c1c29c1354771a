import { ClosedError, errorText } from "../../../src/base/error.ts";
import { pause } from "../../../src/base/timers.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import { DEADLINE_PASSED, DialError, type LineHealth } from "../../../src/ports/telephony.ts";
import { type MediaEngine, MediaOverloaded, PortsExhausted } from "../../sip-stack/media/engine.ts";
import { maskedMessage } from "../../sip-stack/message/write-message.ts";
import { TransportError } from "../../sip-stack/transport/transport.ts";
import { type Carrier, type CarrierDialOptions, type HealthListener, LinkedLines } from "./carrier.ts";
import type { ResolvedTrunk } from "./config/resolve-trunk.ts";
import { assertUriCallable, loadRefusals, type RefusalOf } from "./destinations/trunk-destinations.ts";
import type { SipLeg } from "./leg.ts";
import { type Admission, Limiter } from "./limiter.ts";
import { openStack, type SipStack, type SipStackOptions } from "./open-stack.ts";
import { prepareCall } from "./prepare-call.ts";
import { offline } from "./registration/presence.ts";

/** Time limit for a port to become free if our own calls use all of them, ms. */
const PORT_WAIT_MS = 1_000;
/** Wait of a call while the audio of the live calls is late, ms. */
const OVERLOAD_WAIT_MS = 2_000;
/** Minimum wait before sockets that could not be opened are retried, ms. */
const REOPEN_MS = 5_000;
/** Maximum length of a message in a call's timeline, characters. */
const MAX_TRACE = 8_000;
const CLOSED = "the trunk is closed";

/** Options of {@link SipTrunk}. */
interface SipTrunkOptions extends Pick<SipStackOptions, "owner" | "hosts"> {
  readonly trunk: ResolvedTrunk;
  readonly system: System;
  readonly logger: Logger;
  /** The media engine that all trunks share. */
  readonly media: () => Promise<MediaEngine>;
}

/** A trunk in use: its stack, limits and calls, for all lines that are linked to it. */
export class SipTrunk implements Carrier {
  readonly #options: SipTrunkOptions;
  readonly #limiter: Limiter;
  readonly #lines = new LinkedLines(() => this.checkHealth());
  readonly #legs = new Map<string, SipLeg>();
  readonly #rule: () => Promise<RefusalOf>;
  /** Opened on first use, and again some time after a failure. */
  #stack: Promise<SipStack> | undefined;
  #cancelReopen = (): void => {};
  /** The health last reported by the presence. */
  #health: LineHealth | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(options: SipTrunkOptions) {
    this.#options = options;
    this.#limiter = new Limiter(options.system, options.trunk);
    this.#rule = loadRefusals(options.trunk, `trunk ${options.trunk.name}`);
  }

  /** The number that calls come from; null if there is none. */
  get phone(): string | null {
    return this.#options.trunk.phone;
  }

  /** Number of calls that have not ended. */
  get calls(): number {
    return this.#legs.size;
  }

  /** Links a line, which receives the trunk's health now and after every change. */
  subscribe(line: HealthListener): void {
    this.#lines.subscribe(line);
  }

  unsubscribe(line: HealthListener): void {
    this.#lines.unsubscribe(line);
  }

  /** The current health. Never rejects. */
  async checkHealth(): Promise<LineHealth> {
    try {
      return await (await this.#open()).presence.checkHealth();
    } catch (fault) {
      return stackFault(fault);
    }
  }

  /**
   * Places a call.
   * @param onEnded called when the call has ended
   * @throws {DialError}
   */
  async dial(
    to: string,
    options: CarrierDialOptions,
    signal: AbortSignal,
    onEnded: (leg: SipLeg) => void,
  ): Promise<SipLeg> {
    const { trunk } = this.#options;
    const refusal = (await this.#rule())(to);
    if (refusal !== undefined) throw new DialError("rejected_by_network", `not dialled: ${refusal}`);
    const user = trunk.format(to);
    if (user === undefined)
      throw new DialError("number_invalid", `not dialled: the trunk's numberFormat cannot write ${to}`);
    await assertUriCallable(trunk, options, await this.#rule());
    this.#assertOnline(); // a call placed over another trunk must not count here
    const admission = this.#admit();
    try {
      await this.#waitTurn(admission.waitMs, signal);
      return await this.#place(user, options, signal, (leg) => {
        admission.release();
        onEnded(leg);
      });
    } catch (fault) {
      admission.release();
      throw this.#dialError(fault, signal);
    }
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #place(
    user: string,
    options: CarrierDialOptions,
    signal: AbortSignal,
    onEnded: (leg: SipLeg) => void,
  ): Promise<SipLeg> {
    const { trunk, system, media } = this.#options;
    const { callId, deadlines } = options;
    const refusalOf = await this.#rule();
    const stack = await this.#open();
    this.#assertOnline();
    const address = await stack.address(signal);
    const engine = await media();
    signal.throwIfAborted();
    const { leg, session, begin } = await prepareCall({
      ...{ trunk, system, stack, engine, address, user, options, refusalOf },
      onEnded: (endedLeg, end, release) => {
        this.#legs.delete(callId);
        if (release.retryAfterMs !== undefined) this.#limiter.pause(release.retryAfterMs);
        if (end.type === "unreachable" && end.isRedirected !== true) stack.presence.suspect(end.detail);
        onEnded(endedLeg);
      },
    });
    if (signal.aborted || this.#closePromise !== undefined) {
      await session.close();
      throw signal.reason ?? new Error(CLOSED);
    }
    if (system.monotonic() >= deadlines.dial) {
      await session.close();
      throw new DialError("line_lost", DEADLINE_PASSED);
    }
    this.#legs.set(callId, leg);
    begin();
    return leg;
  }

  #assertOnline(): void {
    if (this.#health?.state !== "offline") return;
    throw new DialError("line_lost", `the line is offline: ${this.#health.reason}`);
  }

  #admit(): Extract<Admission, { admitted: true }> {
    if (this.#closePromise !== undefined) throw new DialError("unreachable", CLOSED);
    const admission = this.#limiter.admit();
    if (admission.admitted) return admission;
    throw new DialError("line_lost", admission.reason, { retryAfterMs: admission.retryAfterMs });
  }

  /** Waits for the call's turn. @throws the signal's reason */
  async #waitTurn(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await pause(this.#options.system, ms, signal);
    signal.throwIfAborted();
  }

  #dialError(fault: unknown, signal: AbortSignal): DialError {
    if (fault instanceof DialError) return fault;
    if (signal.aborted) return new DialError("released", "hung up before the call was placed");
    if (fault instanceof PortsExhausted) {
      // Ports that our calls use become free again; ports that other programs use may not.
      if (this.#legs.size > 0) return new DialError("line_lost", fault.message, { retryAfterMs: PORT_WAIT_MS });
      return new DialError("media_failed", fault.message);
    }
    if (fault instanceof MediaOverloaded)
      return new DialError("line_lost", fault.message, { retryAfterMs: OVERLOAD_WAIT_MS });
    if (fault instanceof TransportError) {
      // An open stack probes the trunk immediately.
      void this.#stack?.then(({ presence }) => presence.suspect(fault.message)).catch(() => {});
      return new DialError("unreachable", fault.message);
    }
    if (this.#closePromise !== undefined) return new DialError("unreachable", CLOSED);
    this.#options.logger.error({ trunk: this.#options.trunk.name, err: fault }, "sip: a call could not be placed");
    return new DialError("internal_error", errorText(fault));
  }

  #open(): Promise<SipStack> {
    if (this.#closePromise !== undefined) return Promise.reject(new ClosedError(CLOSED));
    void this.#options.media().catch(() => {}); // opened early; a failure is reported by the first call
    this.#stack ??= this.#openStack();
    return this.#stack;
  }

  async #openStack(): Promise<SipStack> {
    const { trunk, system, logger } = this.#options;
    try {
      const stack = await openStack({
        ...this.#options,
        onChange: (health) => this.#onHealthChange(health),
        trace: (callId, direction, message) =>
          this.#legs.get(callId)?.recordSignalling({ direction, message: maskedMessage(message).slice(0, MAX_TRACE) }),
      });
      stack.presence.start();
      return stack;
    } catch (fault) {
      logger.error({ trunk: trunk.name, err: fault }, "sip: the trunk's sockets could not be opened");
      this.#cancelReopen = system.after(REOPEN_MS, () => {
        this.#stack = undefined;
      });
      this.#onHealthChange(stackFault(fault));
      throw fault;
    }
  }

  #onHealthChange(health: LineHealth): void {
    const { logger, trunk } = this.#options;
    this.#health = health;
    if (health.state === "offline")
      logger.warn({ trunk: trunk.name, reason: health.reason }, "sip: the trunk is offline");
    else logger.info({ trunk: trunk.name }, "sip: the trunk is online");
    this.#lines.report(health);
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#legs.values()].map((leg) => leg.hangUp()));
    const stack = await this.#stack?.catch(() => undefined);
    await stack?.close();
    this.#cancelReopen();
  }
}

/** The health of a trunk whose sockets could not be opened. */
function stackFault(fault: unknown): LineHealth {
  return offline(errorText(fault), fault instanceof TransportError && fault.isPermanent);
}
