import type { System } from "../../../../src/ports/system.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import type { AgentReply, UserAgent } from "../dialog/agent.ts";
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
  refusedMs,
  SILENCE_MS,
  sameHealth,
  silent,
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

/** What a look has found. */
interface Finding {
  readonly health: LineHealth;
  /** Not to look again before; undefined: as usual. */
  readonly waitMs?: number | undefined;
}

/**
 * Looks at a trunk by OPTIONS (RFC 3261 section 11): every 30 s, sooner while there is no answer, and rarely where
 * our password is refused, because accounts are locked by too many tries.
 */
export class OptionsPresence implements Presence {
  readonly #options: OptionsPresenceOptions;
  #health: LineHealth | undefined;
  /** Until then, on the monotonic clock, the answer counts. */
  #freshUntil = Number.NEGATIVE_INFINITY;
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
    const fresh = this.#options.system.monotonic() <= this.#freshUntil;
    if (!fresh || this.#again) await this.#look();
    else if (this.#health?.state === "offline") await this.#looking;
    return this.#health ?? offline("the trunk is closed");
  }

  suspect(): void {
    if (this.#closed) return;
    this.#again = true;
    void this.#look();
  }

  proven(): void {
    if (this.#health?.state === "offline") this.suspect();
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
    const { agent, system, uri, server, changed } = this.#options;
    this.#cancelNext?.();
    this.#again = false;
    const deadline = new Deadline(system, SILENCE_MS, `nothing came back within ${SILENCE_MS / 1_000} s`);
    this.#deadline = deadline;
    const { health, waitMs } = await agent.request({ method: "OPTIONS", uri }, deadline.signal).then(
      (reply) => this.#judge(reply),
      (fault: unknown): Finding => ({ health: silent(server, fault) }),
    );
    deadline.cancel();
    if (this.#closed) return;
    const before = this.#health;
    this.#health = health;
    this.#failures = health.state === "online" ? 0 : this.#failures + 1;
    const usual = health.state === "online" ? LOOK_MS : backoffMs(this.#failures, chance(system));
    const wait = Math.max(waitMs ?? 0, usual);
    this.#freshUntil = system.monotonic() + wait + SILENCE_MS;
    this.#cancelNext = system.after(wait, () => void this.#look());
    if (!sameHealth(before, health)) changed(health);
  }

  /** Any final answer but 408 and 503 comes from a server that works; a refused password is of no use for calls either. */
  #judge({ response, refusal }: AgentReply): Finding {
    const { status } = response;
    const { server, password } = this.#options;
    const said = statusText(response);
    if (status === 503) {
      const health = offline(`${server} is overloaded or out of order (${said})`);
      return { health, waitMs: Math.min(LOOK_MS, retryAfterMsOf(response) ?? 0) };
    }
    if (status === 408) return { health: offline(`nobody answers behind ${server} (${said}); check \`domain\``) };
    if (!password || (status !== 401 && status !== 407)) return { health: ONLINE };
    const why = refusal === undefined ? "" : `${oneLine(refusal)}; `;
    return {
      health: offline(
        `${server} does not take our password (${said}); ${why}check \`user\`, \`authUser\` and \`password\``,
        true,
      ),
      waitMs: refusedMs(this.#failures + 1),
    };
  }
}
