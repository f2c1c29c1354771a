import { type FarEnd, type FarEndCall, type Script, startFarEnd } from "../support/sip/far-end.ts";
import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";

/** An INVITE that came. */
export interface Invite {
  /** Of the process that sent it. */
  readonly epoch: number;
  readonly call: FarEndCall;
}

/** The phones that are called, and the registrar of the accounts: all that is seen of the server from the network. */
export class Phones {
  readonly #farEnd: FarEnd;
  readonly #scripts: Record<string, Script>;
  readonly #invites: Map<string, Invite[]>;
  readonly #journal: Journal;
  /** Registrations that came before this process. */
  #registrationsBefore = 0;

  private constructor(
    farEnd: FarEnd,
    scripts: Record<string, Script>,
    invites: Map<string, Invite[]>,
    journal: Journal,
  ) {
    this.#farEnd = farEnd;
    this.#scripts = scripts;
    this.#invites = invites;
    this.#journal = journal;
  }

  static async start(journal: Journal, moments: Moments): Promise<Phones> {
    const scripts: Record<string, Script> = {};
    const invites = new Map<string, Invite[]>();
    const farEnd = await startFarEnd({
      callees: scripts,
      registrar: {},
      invited(call) {
        journal.note(`INVITE ${call.user}`);
        invites.set(call.user, [...(invites.get(call.user) ?? []), { epoch: journal.epoch, call }]);
        moments.happened("an INVITE");
      },
    });
    return new Phones(farEnd, scripts, invites, journal);
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
  }

  close(): Promise<void> {
    return this.#farEnd.close();
  }
}
