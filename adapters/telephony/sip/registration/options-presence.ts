import type { System } from "../../../../src/ports/system.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import type { AgentReply, UserAgent } from "../../../sip-stack/dialog/user-agent-options.ts";
import { oneLine, statusText } from "../../../sip-stack/message/sip-message.ts";
import { retryAfterMsOf } from "../outcome/release-of.ts";
import { chance } from "./chance.ts";
import {
  backoffMs,
  type HealthChanged,
  ONLINE,
  offline,
  PROBE_INTERVAL_MS,
  type Presence,
  refusalWaitMs,
  SILENCE_MS,
  sameHealth,
  silentHealth,
} from "./presence.ts";
import { Deadline } from "./signal-deadline.ts";

/** Options of {@link OptionsPresence}. */
export interface OptionsPresenceOptions {
  readonly agent: UserAgent;
  readonly system: System;
  /** Request-URI. */
  readonly uri: string;
  /** The next hop as named in messages. */
  readonly server: string;
  /** True if a password is configured: then a challenge that cannot be answered means that it is wrong. */
  readonly hasPassword: boolean;
  readonly onChange: HealthChanged;
}

/** The result of a probe. */
interface ProbeResult {
  readonly health: LineHealth;
  /** Minimum time until the next probe. Default: the usual interval. */
  readonly waitMs?: number | undefined;
}

/**
 * Probes a trunk with OPTIONS (RFC 3261 section 11): every 30 s, sooner while it does not respond, and rarely if our
 * password is refused, because too many attempts may lock the account.
 */
export class OptionsPresence implements Presence {
  readonly #options: OptionsPresenceOptions;
  #health: LineHealth | undefined;
  /** Time until which the result is valid, on the monotonic clock. */
  #freshUntil = Number.NEGATIVE_INFINITY;
  #failureCount = 0;
  #probePromise: Promise<void> | undefined;
  #cancelNext: (() => void) | undefined;
  #deadline: Deadline | undefined;
  /** True if the running probe is outdated and another one follows. */
  #isOutdated = false;
  #isClosed = false;

  constructor(options: OptionsPresenceOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#health === undefined) void this.#probe();
  }

  async checkHealth(): Promise<LineHealth> {
    const isFresh = this.#options.system.monotonic() <= this.#freshUntil;
    if (!isFresh || this.#isOutdated) await this.#probe();
    else if (this.#health?.state === "offline") await this.#probePromise;
    return this.#health ?? offline("the trunk is closed");
  }

  suspect(): void {
    if (this.#isClosed) return;
    this.#isOutdated = true;
    void this.#probe();
  }

  markReachable(): void {
    if (this.#health?.state === "offline") this.suspect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelNext?.();
    this.#deadline?.cancel(new Error("the trunk is closed"));
    await this.#probePromise;
    this.#health = offline("the trunk is closed");
  }

  /** Probes now; concurrent callers share one probe. */
  #probe(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#probePromise ??= this.#probeOnce().finally(() => {
      this.#probePromise = undefined;
      if (this.#isOutdated) void this.#probe();
    });
    return this.#probePromise;
  }

  async #probeOnce(): Promise<void> {
    const { agent, system, uri, server, onChange } = this.#options;
    this.#cancelNext?.();
    this.#isOutdated = false;
    const deadline = new Deadline(system, SILENCE_MS, `no response within ${SILENCE_MS / 1_000} s`);
    this.#deadline = deadline;
    const { health, waitMs } = await agent.request({ method: "OPTIONS", uri }, deadline.signal).then(
      (reply) => this.#probeResultOf(reply),
      (fault: unknown): ProbeResult => ({ health: silentHealth(server, fault) }),
    );
    deadline.cancel();
    if (this.#isClosed) return;
    const previous = this.#health;
    this.#health = health;
    this.#failureCount = health.state === "online" ? 0 : this.#failureCount + 1;
    const usualMs = health.state === "online" ? PROBE_INTERVAL_MS : backoffMs(this.#failureCount, chance(system));
    const intervalMs = Math.max(waitMs ?? 0, usualMs);
    this.#freshUntil = system.monotonic() + intervalMs + SILENCE_MS;
    this.#cancelNext = system.after(intervalMs, () => void this.#probe());
    if (!sameHealth(previous, health)) onChange(health);
  }

  /**
   * Derives the health from a response. Any final response except 408 and 503 shows that the server works, but calls
   * also fail if the password is refused.
   */
  #probeResultOf({ response, refusal }: AgentReply): ProbeResult {
    const { status } = response;
    const { server, hasPassword } = this.#options;
    const text = statusText(response);
    if (status === 503) {
      const health = offline(`${server} is overloaded or out of order (${text})`);
      return { health, waitMs: Math.min(PROBE_INTERVAL_MS, retryAfterMsOf(response) ?? 0) };
    }
    if (status === 408) return { health: offline(`no server behind ${server} responds (${text}); check \`domain\``) };
    if (!hasPassword || (status !== 401 && status !== 407)) return { health: ONLINE };
    const reason = refusal === undefined ? "" : `${oneLine(refusal.detail)}; `;
    return {
      health: offline(
        `${server} does not accept our password (${text}); ${reason}check \`user\`, \`authUser\` and \`password\``,
        true,
      ),
      waitMs: refusalWaitMs(this.#failureCount + 1),
    };
  }
}
