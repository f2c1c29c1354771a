import { type FarEnd, type FarEndCall, type Script, startFarEnd } from "../support/sip/far-end.ts";
import { field, type SipText } from "../support/sip/sip-text.ts";
import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";

/** An INVITE that came. */
export interface Invite {
  /** Of the process that sent it, as far as its port is known; or else of the present one. */
  readonly epoch: number;
  readonly call: FarEndCall;
}

/** The phones that are called, and the registrar of the accounts: all that is seen of the server from the network. */
export class Phones {
  readonly #farEnd: FarEnd;
  readonly #scripts: Record<string, Script>;
  readonly #invites: Map<string, Invite[]>;
  /** The epoch of a server that has lost the database and still lives, by its address. */
  readonly #earlier: Map<string, number>;
  readonly #journal: Journal;
  #requestsBefore = 0;
  /** Registrations that came before this process. */
  #registrationsBefore = 0;

  private constructor(
    farEnd: FarEnd,
    scripts: Record<string, Script>,
    invites: Map<string, Invite[]>,
    earlier: Map<string, number>,
    journal: Journal,
  ) {
    this.#farEnd = farEnd;
    this.#scripts = scripts;
    this.#invites = invites;
    this.#earlier = earlier;
    this.#journal = journal;
  }

  static async start(journal: Journal, moments: Moments): Promise<Phones> {
    const scripts: Record<string, Script> = {};
    const invites = new Map<string, Invite[]>();
    const earlier = new Map<string, number>();
    const epochOf = (call: FarEndCall): number => earlier.get(senderOf(call.requests[0]!.text)) ?? journal.epoch;
    const farEnd = await startFarEnd({
      callees: scripts,
      registrar: {},
      invited(call) {
        journal.note(`INVITE ${call.user}`);
        invites.set(call.user, [...(invites.get(call.user) ?? []), { epoch: epochOf(call), call }]);
        moments.happened("an INVITE");
      },
    });
    return new Phones(farEnd, scripts, invites, earlier, journal);
  }

  get port(): number {
    return this.#farEnd.port;
  }

  /** Puts a phone behind a number. */
  add(number: string, script: Script): void {
    this.#scripts[number] = script;
  }

  /** Every INVITE to a number; more than one is a fault. */
  invites(number: string): readonly Invite[] {
    return this.#invites.get(number) ?? [];
  }

  /** Whether a call of the running process to this number is still there. */
  hasLeg(number: string): boolean {
    return this.invites(number).some(({ epoch, call }) => epoch === this.#journal.epoch && call.end === undefined);
  }

  /** Whether the running process keeps this account registered. */
  isRegistered(account: string): boolean {
    const own = this.#farEnd.registrations.slice(this.#registrationsBefore);
    return (own.findLast(({ contact }) => contact.includes(`sip:${account}@`))?.expires ?? 0) > 0;
  }

  /** The server process is dead: its calls are cut off. */
  serverDied(): void {
    for (const call of this.#farEnd.calls) call.close();
    this.#registrationsBefore = this.#farEnd.registrations.length;
    this.#requestsBefore = this.#farEnd.requests.length;
    this.#earlier.clear();
  }

  /** The server is about to lose the database: what comes from elsewhere comes from the next one. */
  ownerLost(): void {
    for (const request of this.#farEnd.requests.slice(this.#requestsBefore))
      this.#earlier.set(senderOf(request), this.#journal.epoch);
    this.#journal.epoch += 0.5;
  }

  /** Checks that the server that has lost the database has ended its calls, and has done nothing since another took it. */
  checkSilent(takenAt: number): void {
    const broken = (call: FarEndCall, detail: string) =>
      this.#journal.violated("a server that lost the database is silent", call.user, detail);
    for (const { epoch, call } of [...this.#invites.values()].flat()) {
      if (epoch !== Math.floor(this.#journal.epoch)) continue;
      if (call.end === undefined) broken(call, "the call is still there");
      const invited = call.requests.findLast(({ method }) => method === "INVITE")!.at - takenAt;
      if (invited > 0) broken(call, `an INVITE came ${invited} ms after the take-over`);
      const heard = (call.voice?.packets.at(-1)?.at ?? 0) - takenAt;
      if (heard > 0) broken(call, `audio came ${heard} ms after the take-over`);
    }
  }

  close(): Promise<void> {
    return this.#farEnd.close();
  }
}

/** Host and port of the server that sent a request. */
function senderOf(request: SipText): string {
  return /^\S+\s+([^;\s]+)/.exec(field(request, "Via"))?.[1] ?? "";
}
