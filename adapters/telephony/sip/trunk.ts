import { errorText } from "../../../src/base/error-text.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import { DEADLINE_PASSED, DialError, type LineHealth } from "../../../src/ports/telephony.ts";
import type { Carrier, CarrierDialOptions, HealthListener } from "./carrier.ts";
import type { ResolvedTrunk } from "./config/resolve-trunk.ts";
import { loadRefusals, mayFollow, type RefusalOf } from "./destinations/destinations.ts";
import type { InviteUsage } from "./dialog/invite.ts";
import { JoinedLines } from "./joined-lines.ts";
import { SipLeg } from "./leg.ts";
import { type Admission, Limiter } from "./limiter.ts";
import { type MediaEngine, type MediaSession, PortsExhausted } from "./media/engine.ts";
import { maskedMessage } from "./message/masked-message.ts";
import { OFFER_REFUSED } from "./outcome/media-refusal.ts";
import { releaseOf } from "./outcome/release-of.ts";
import { offline } from "./registration/presence.ts";
import { type SrtpOffer, srtpOffers } from "./sdp/keys.ts";
import { mediaRule, openStack, type SipStack } from "./stack.ts";
import { TransportError } from "./transport/transport.ts";

/** Sockets that could not be opened are tried again after this at the earliest, ms. */
const REOPEN_MS = 5_000;
/** Whose ports are all held by its own calls waits so long for one of them to end, ms. */
const PORT_WAIT_MS = 1_000;
/** A message in a call's timeline is cut there, characters. */
const LONGEST_TRACE = 8_000;

/** What a trunk needs. */
export interface SipTrunkOptions {
  readonly trunk: ResolvedTrunk;
  readonly system: System;
  readonly logger: Logger;
  /** The media of all trunks. */
  readonly media: () => Promise<MediaEngine>;
}

/** One trunk at work: its sockets, its presence, its limits and its calls, for all lines that are linked to it. */
export class SipTrunk implements Carrier {
  readonly #options: SipTrunkOptions;
  readonly #limiter: Limiter;
  readonly #lines = new JoinedLines(() => this.ask());
  readonly #legs = new Map<string, SipLeg>();
  readonly #rule: () => Promise<RefusalOf>;
  #stack: Promise<SipStack> | undefined;
  /** The last report of the presence. */
  #health: LineHealth | undefined;
  #cancelReopen = (): void => {};
  #closing: Promise<void> | undefined;

  constructor(options: SipTrunkOptions) {
    this.#options = options;
    this.#limiter = new Limiter(options.system, options.trunk);
    this.#rule = loadRefusals(options.trunk, `trunk ${options.trunk.name}`);
  }

  /** The number that calls come from; null where there is none. */
  get phone(): string | null {
    return this.#options.trunk.phone;
  }

  /** Calls that have not ended. */
  get calls(): number {
    return this.#legs.size;
  }

  /** A line is linked: it gets the trunk's health now and after every change. */
  join(line: HealthListener): void {
    this.#lines.join(line);
  }

  part(line: HealthListener): void {
    this.#lines.part(line);
  }

  /** What is true now. Never rejects. */
  async ask(): Promise<LineHealth> {
    try {
      return await (await this.#open()).presence.ask();
    } catch (fault) {
      return faulty(fault);
    }
  }

  /**
   * Places a call.
   * @param gone called at its end
   * @throws {DialError}
   */
  async dial(
    to: string,
    options: CarrierDialOptions,
    signal: AbortSignal,
    gone: (leg: SipLeg) => void,
  ): Promise<SipLeg> {
    const { trunk } = this.#options;
    const refused = (await this.#rule())(to);
    if (refused !== undefined) throw new DialError("rejected_by_network", `not dialled: ${refused}`);
    const user = trunk.format(to);
    if (user === undefined)
      throw new DialError("number_invalid", `not dialled: the trunk's numberFormat has no way to write ${to}`);
    this.#assertOnline(); // a call that goes over another trunk takes no place in this one
    const admission = this.#admit();
    try {
      await this.#wait(admission.waitMs, signal);
      return await this.#place(user, options, signal, (leg) => {
        admission.leave();
        gone(leg);
      });
    } catch (fault) {
      admission.leave();
      throw this.#dialError(fault, signal);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #place(
    user: string,
    { callId, from, deadlines, mayCall, sampleRate = this.#options.trunk.sampleRate }: CarrierDialOptions,
    signal: AbortSignal,
    gone: (leg: SipLeg) => void,
  ): Promise<SipLeg> {
    const { trunk, system, media } = this.#options;
    const refuses = await this.#rule();
    const mayRedirect: RefusalOf = (e164) =>
      mayCall?.(e164) === false ? `this call may not lead to ${e164}` : refuses(e164);
    const stack = await this.#open();
    this.#assertOnline();
    const address = await stack.address(signal);
    const engine = await media();
    signal.throwIfAborted();
    let takesKeys = false;
    const invite = ({ policy: srtp, profile }: SrtpOffer): InviteUsage =>
      stack.invite({
        user,
        from,
        callId,
        session,
        address,
        srtp,
        profile,
        listener: leg,
        lost: leg.heard.lost,
        refused: leg.refused,
        maySend: () => system.monotonic() < deadlines.send,
        mayFollow: (place) => mayFollow(place, mayRedirect, trunk.format),
        settled(settings) {
          takesKeys = settings.telephoneEvent !== undefined;
        },
      });
    const [firstOffer, ...otherOffers] = srtpOffers(trunk.srtp);
    const leg: SipLeg = new SipLeg({
      callId,
      sampleRate,
      system,
      evidenceRequired: trunk.requireInboundAudio,
      releaseOf: (end) => releaseOf(end, trunk),
      takesTelephoneEvents: () => takesKeys,
      answered: () => stack.presence.proven(),
      again(end) {
        // After an 18x a phone may have rung, and would ring twice.
        if (end.type !== "rejected" || end.progressed || !OFFER_REFUSED.has(end.response.status)) return undefined;
        const offer = otherOffers.shift();
        return offer && invite(offer);
      },
      gone: (_, end, release) => {
        this.#legs.delete(callId);
        if (release.retryAfterMs !== undefined) this.#limiter.rest(release.retryAfterMs);
        if (end.type === "unreachable" && end.redirected !== true) stack.presence.suspect(end.detail);
        gone(leg);
      },
    });
    const session: MediaSession = await engine.open(
      {
        ...{ address: address.local, ports: trunk.rtpPorts, from: mediaRule(trunk, address) },
        ...{ sampleRate, lossMs: trunk.mediaLossMs, strictRtp: trunk.strictRtp },
        mayUseOpus: trunk.codecs.includes("opus"),
      },
      leg.heard,
      deadlines,
    );
    if (signal.aborted || this.#closing !== undefined) {
      await session.close();
      throw signal.reason ?? new Error("the trunk is closed");
    }
    if (system.monotonic() >= deadlines.dial) {
      await session.close();
      throw new DialError("line_lost", DEADLINE_PASSED);
    }
    this.#legs.set(callId, leg);
    leg.begin(invite(firstOffer), session);
    return leg;
  }

  #assertOnline(): void {
    if (this.#health?.state !== "offline") return;
    throw new DialError("line_lost", `the line is offline: ${this.#health.reason}`);
  }

  #admit(): Extract<Admission, { admitted: true }> {
    if (this.#closing !== undefined) throw new DialError("unreachable", "the trunk is closed");
    const admission = this.#limiter.admit();
    if (admission.admitted) return admission;
    throw new DialError("line_lost", admission.reason, { retryAfterMs: admission.retryAfterMs });
  }

  /** @throws the signal's reason */
  #wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        cancel();
        reject(signal.reason);
      };
      const cancel = this.#options.system.after(ms, () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      });
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  #dialError(fault: unknown, signal: AbortSignal): DialError {
    if (fault instanceof DialError) return fault;
    if (signal.aborted) return new DialError("released", "hung up before the call was placed");
    if (fault instanceof PortsExhausted) {
      // Held by our own calls they come free; held by others they may never.
      if (this.#legs.size > 0) return new DialError("line_lost", fault.message, { retryAfterMs: PORT_WAIT_MS });
      return new DialError("media_failed", fault.message);
    }
    if (fault instanceof TransportError) {
      void this.#stack?.then(({ presence }) => presence.suspect(fault.message)).catch(() => {});
      return new DialError("unreachable", fault.message);
    }
    if (this.#closing !== undefined) return new DialError("unreachable", "the trunk is closed");
    this.#options.logger.error({ trunk: this.#options.trunk.name, err: fault }, "sip: a call could not be placed");
    return new DialError("internal_error", errorText(fault));
  }

  /** The sockets and what stands on them; opened when they are first needed. */
  #open(): Promise<SipStack> {
    if (this.#closing !== undefined) return Promise.reject(new Error("the trunk is closed"));
    this.#stack ??= this.#openOnce();
    return this.#stack;
  }

  async #openOnce(): Promise<SipStack> {
    const { trunk, system, logger, media } = this.#options;
    void media().catch(() => {}); // it is there before the first call, which reports a failure
    try {
      const stack = await openStack({
        trunk,
        system,
        logger,
        changed: (health) => this.#changed(health),
        trace: (callId, direction, message) =>
          this.#legs.get(callId)?.traced({ direction, message: maskedMessage(message).slice(0, LONGEST_TRACE) }),
      });
      stack.presence.start();
      return stack;
    } catch (fault) {
      logger.error({ trunk: trunk.name, err: fault }, "sip: the trunk's sockets could not be opened");
      this.#cancelReopen = system.after(REOPEN_MS, () => {
        this.#stack = undefined;
      });
      this.#changed(faulty(fault));
      throw fault;
    }
  }

  #changed(health: LineHealth): void {
    const { logger, trunk } = this.#options;
    this.#health = health;
    if (health.state === "offline")
      logger.warn({ trunk: trunk.name, reason: health.reason }, "sip: the trunk is offline");
    else logger.info({ trunk: trunk.name }, "sip: the trunk is online");
    this.#lines.changed(health);
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#legs.values()].map((leg) => leg.hangUp()));
    const stack = await this.#stack?.catch(() => undefined);
    await stack?.close();
    this.#cancelReopen();
  }
}

/** The health of a trunk whose sockets could not be opened. */
function faulty(fault: unknown): LineHealth {
  return offline(errorText(fault), fault instanceof TransportError && fault.lasting);
}
