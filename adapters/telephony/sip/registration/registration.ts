import { nextState } from "../../../../src/base/state-machine.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import type { AgentReply, RequestSeries, UserAgent } from "../../../sip-stack/dialog/user-agent-options.ts";
import { parseUint32 } from "../../../sip-stack/message/grammar.ts";
import { oneLine, statusText } from "../../../sip-stack/message/sip-message.ts";
import { FlowHold } from "../../../sip-stack/transport/keep-alive.ts";
import { retryAfterMsOf } from "../outcome/release-of.ts";
import { chance } from "./chance.ts";
import { grantedExpiry } from "./granted-expiry.ts";
import {
  backoffMs,
  type HealthChanged,
  ONLINE,
  offline,
  type Presence,
  refusalWaitMs,
  sameHealth,
  silentHealth,
} from "./presence.ts";
import {
  REGISTRATION_TRANSITIONS,
  type RegistrationInput,
  type RegistrationState,
  VALID_STATES,
} from "./registration-states.ts";
import { Deadline } from "./signal-deadline.ts";

/** The requested expiry, s: the maximum time for which a lost registration may go unnoticed. */
const EXPIRES_S = 300;
/** Maximum Min-Expires that is accepted from a 423, s. */
const MAX_MIN_EXPIRES_S = 86_400;
const RESPONSE_TIMEOUT_MS = 8_000;
const UNREGISTER_TIMEOUT_MS = 2_000;
/** Statuses of lasting refusals. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 407, 410, 416, 420, 501, 604]);

/** The fix for a refusal, by status. */
const ADVICE: Readonly<Record<number, string>> = {
  401: "check `user`, `authUser` and `password`",
  403: "check `user`, `domain` and `password`",
  404: "check `user` and `domain`",
  405: "it accepts no registrations; leave out `register`",
  407: "check `user`, `authUser` and `password`",
  501: "it accepts no registrations; leave out `register`",
};

/** Options of {@link TrunkRegistration}. */
export interface RegistrationOptions {
  readonly agent: UserAgent;
  readonly system: System;
  readonly logger: Logger;
  /** Request-URI: the bare domain. */
  readonly registrar: string;
  /** SIP URI of the account. */
  readonly account: string;
  /** The next hop as named in messages. */
  readonly server: string;
  readonly onChange: HealthChanged;
}

/** Keeps an account registered (RFC 3261 section 10): refreshes at 80 to 90 % of the granted time, unregisters at the end. */
export class TrunkRegistration implements Presence {
  readonly #options: RegistrationOptions;
  readonly #series: RequestSeries;
  #state: RegistrationState = "idle";
  #health: LineHealth | undefined;
  /** The health while the registration is not valid. */
  #unregisteredHealth: LineHealth = offline("not registered yet");
  #refusedReply: AgentReply | undefined;
  #requestedS = EXPIRES_S;
  /** Number of failures and refusals in a row. */
  #failureCount = 0;
  /** The connection on which the registrar reaches us. */
  readonly #flowHold = new FlowHold();
  #cancelNext: (() => void) | undefined;
  #deadline: Deadline | undefined;
  #sendPromise: Promise<void> | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#series = options.agent.series();
  }

  get state(): RegistrationState {
    return this.#state;
  }

  get refusedReply(): AgentReply | undefined {
    return VALID_STATES.has(this.#state) ? undefined : this.#refusedReply;
  }

  start(): void {
    if (this.#state === "idle") this.#register("register");
  }

  async checkHealth(): Promise<LineHealth> {
    if (this.#state === "idle") this.start();
    if (this.#state === "registered" && this.#flowHold.flow?.isAlive === false) this.suspect();
    if (!VALID_STATES.has(this.#state)) await this.#sendPromise;
    return this.#currentHealth();
  }

  suspect(): void {
    this.#register("suspect");
  }

  markReachable(): void {}

  close(): Promise<void> {
    this.#closePromise ??= this.#unregister();
    return this.#closePromise;
  }

  #register(input: "register" | "suspect"): void {
    if (this.#sendPromise !== undefined || !this.#move(input)) return;
    this.#cancelNext?.();
    this.#sendPromise = this.#send(this.#requestedS, RESPONSE_TIMEOUT_MS)
      .then((reply) => this.#onReply(reply))
      .catch((fault: unknown) => this.#onFailure(silentHealth(this.#options.server, fault), undefined))
      .finally(() => {
        this.#sendPromise = undefined;
      });
  }

  async #send(expires: number, waitMs: number): Promise<AgentReply> {
    const { agent, system, registrar, account } = this.#options;
    this.#deadline = new Deadline(system, waitMs, `no response within ${waitMs / 1_000} s`);
    const to = `<${account}>`;
    try {
      return await agent.request(
        {
          method: "REGISTER",
          uri: registrar,
          to,
          from: to,
          headers: [["Expires", String(expires)]],
          series: this.#series,
          flow: this.#flowHold.flow?.isAlive === true ? this.#flowHold.flow : undefined,
        },
        this.#deadline.signal,
      );
    } finally {
      this.#deadline.cancel();
    }
  }

  /** @param mayRetry true if a 423 may still cause a retry with a longer expiry */
  async #onReply(reply: AgentReply, mayRetry = true): Promise<void> {
    const { status, headers } = reply.response;
    const minExpiresS = status === 423 && mayRetry ? parseUint32(headers.get("Min-Expires")) : undefined;
    if (
      minExpiresS !== undefined &&
      minExpiresS > this.#requestedS &&
      minExpiresS <= MAX_MIN_EXPIRES_S &&
      !this.#isClosing
    ) {
      this.#requestedS = minExpiresS;
      return await this.#onReply(await this.#send(minExpiresS, RESPONSE_TIMEOUT_MS), false);
    }
    if (status >= 200 && status < 300) this.#onAccepted(reply);
    else if (REFUSALS.has(status)) this.#onRejected(reply);
    else {
      const reason = `${this.#options.server} answers REGISTER with ${statusText(reply.response)}`;
      this.#onFailure(offline(reason), reply);
    }
  }

  #onAccepted({ request, response, flow }: AgentReply): void {
    const { system } = this.#options;
    if (!this.#move("accepted")) return;
    this.#failureCount = 0;
    this.#flowHold.keep(flow);
    const expiresS = grantedExpiry(request, response, this.#requestedS);
    this.#scheduleRegister(expiresS * 1_000 * (0.8 + 0.1 * chance(system)));
    this.#report();
  }

  #onRejected(reply: AgentReply): void {
    const { server, account } = this.#options;
    const { response, refusal } = reply;
    const reason = `${server} refuses to register ${account}: ${statusText(response)}; ${refusal === undefined ? "" : `${oneLine(refusal.detail)}; `}${ADVICE[response.status] ?? "check the account"}`;
    this.#unregisteredHealth = offline(reason, true);
    this.#refusedReply = reply;
    if (!this.#move("refused")) return;
    this.#failureCount++;
    this.#scheduleRegister(refusalWaitMs(this.#failureCount));
    this.#report();
  }

  #onFailure(health: LineHealth, reply: AgentReply | undefined): void {
    const { system } = this.#options;
    this.#unregisteredHealth = health;
    this.#refusedReply = reply;
    if (!this.#move("failed")) return;
    this.#flowHold.release();
    this.#failureCount++;
    const retryAfterMs = reply === undefined ? undefined : retryAfterMsOf(reply.response);
    this.#scheduleRegister(Math.max(retryAfterMs ?? 0, backoffMs(this.#failureCount, chance(system))));
    this.#report();
  }

  async #unregister(): Promise<void> {
    // A pending REGISTER may have reached the registrar.
    const mayBeRegistered = VALID_STATES.has(this.#state) || this.#state === "registering";
    this.#cancelNext?.();
    this.#deadline?.cancel(new Error("the trunk is closed"));
    this.#move("close");
    await this.#sendPromise;
    if (mayBeRegistered) await this.#send(0, UNREGISTER_TIMEOUT_MS).catch(() => {});
    this.#flowHold.release();
    this.#move("unregistered");
    this.#health = offline("the trunk is closed");
  }

  get #isClosing(): boolean {
    return this.#state === "leaving" || this.#state === "closed";
  }

  #scheduleRegister(ms: number): void {
    this.#cancelNext?.();
    this.#cancelNext = this.#options.system.after(ms, () => this.#register("register"));
  }

  #move(input: RegistrationInput): boolean {
    const next = nextState(REGISTRATION_TRANSITIONS, this.#state, input);
    if (next === undefined) return false;
    this.#state = next;
    return !this.#isClosing;
  }

  #currentHealth(): LineHealth {
    if (VALID_STATES.has(this.#state)) return ONLINE;
    return this.#isClosing ? offline("the trunk is closed") : this.#unregisteredHealth;
  }

  #report(): void {
    const { logger, onChange, account } = this.#options;
    const health = this.#currentHealth();
    if (sameHealth(this.#health, health)) return;
    this.#health = health;
    if (health.state === "online") logger.info({ account }, "sip: registered");
    else logger.warn({ account, reason: health.reason }, "sip: not registered");
    onChange(health);
  }
}
