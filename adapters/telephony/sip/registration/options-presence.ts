import type { System } from "../../../../src/ports/system.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import type { UserAgent } from "../dialog/agent.ts";
import type { SipResponse } from "../message/message.ts";
import { oneLine } from "../outcome/one-line.ts";
import { retryAfterMsOf, statusText } from "../outcome/release-of.ts";
import { chance } from "./chance.ts";
import { Deadline } from "./deadline.ts";
import {
  backoffMs,
  type HealthChanged,
  LOOK_MS,
  ONLINE,
  offline,
  type Presence,
  SILENCE_MS,
  sameHealth,
  silenceText,
} from "./presence.ts";

/** What it needs. */
export interface OptionsPresenceOptions {
  readonly agent: UserAgent;
  readonly system: System;
  /** Request-URI. */
  readonly uri: string;
  /** The next hop, for people. */
  readonly server: string;
  /** Whether we have a password, which a challenge that remains is a complaint about then. */
  readonly password: boolean;
  readonly changed: HealthChanged;
}

/** Looks at a trunk by OPTIONS (RFC 3261 section 11): every 30 s, and sooner while there is no answer. */
export class OptionsPresence implements Presence {
  readonly #options: OptionsPresenceOptions;
  #health: LineHealth | undefined;
  #lookedAt = 0;
  #failures = 0;
  #looking: Promise<void> | undefined;
  #cancelNext: (() => void) | undefined;
  #deadline: Deadline | undefined;
  /** Something happened since the look that is under way began. */
  #again = false;
  #closed = false;

  constructor(options: OptionsPresenceOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#health === undefined) void this.#look();
  }

  async ask(): Promise<LineHealth> {
    const known = this.#health;
    const fresh = known !== undefined && this.#options.system.monotonic() - this.#lookedAt <= LOOK_MS;
    if (!fresh || this.#again) await this.#look();
    else if (known.state === "offline") await this.#looking;
    return this.#health ?? offline("the trunk is closed");
  }

  doubt(): void {
    if (this.#closed) return;
    this.#again = true;
    void this.#look();
  }

  proven(): void {
    if (this.#health?.state === "offline") this.doubt();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelNext?.();
    this.#deadline?.cancel(new Error("the trunk is closed"));
    await this.#looking;
    this.#health = offline("the trunk is closed");
  }

  /** Looks now; whoever asks meanwhile gets the answer to the same look. */
  #look(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      if (this.#again) void this.#look();
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { agent, system, uri, changed } = this.#options;
    this.#cancelNext?.();
    this.#again = false;
    const deadline = new Deadline(system, SILENCE_MS, `nothing came back within ${SILENCE_MS / 1_000} s`);
    this.#deadline = deadline;
    let health: LineHealth;
    let restMs: number | undefined;
    try {
      const { response, refusal } = await agent.request({ method: "OPTIONS", uri }, deadline.signal);
      health = this.#judge(response, refusal);
      if (response.status === 503) restMs = retryAfterMsOf(response);
    } catch (fault) {
      health = offline(this.#silence(fault));
    }
    deadline.cancel();
    if (this.#closed) return;
    const before = this.#health;
    this.#health = health;
    this.#lookedAt = system.monotonic();
    this.#failures = health.state === "online" ? 0 : this.#failures + 1;
    const wait = health.state === "online" ? LOOK_MS : (restMs ?? backoffMs(this.#failures, chance(system)));
    this.#cancelNext = system.after(Math.min(wait, LOOK_MS), () => void this.#look());
    if (!sameHealth(before, health)) changed(health);
  }

  /** Any final answer but 408 and 503 comes from a server that works; a refused password is of no use for calls either. */
  #judge(response: SipResponse, refusal: string | undefined): LineHealth {
    const { status } = response;
    const { server, password } = this.#options;
    if (status === 503) return offline(`${server} is overloaded or out of order (${statusText(response)})`);
    if (status === 408) return offline(`nobody answers behind ${server} (${statusText(response)}); check \`domain\``);
    if (password && (status === 401 || status === 407))
      return offline(
        `${server} does not take our password (${statusText(response)}); ${refusal === undefined ? "" : `${oneLine(refusal)}; `}check \`user\`, \`authUser\` and \`password\``,
      );
    return ONLINE;
  }

  #silence(fault: unknown): string {
    return silenceText(this.#options.server, fault);
  }
}
