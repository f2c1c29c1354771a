import { type FarEnd, type FarEndCall, type Script, startFarEnd } from "../support/sip/far-end.ts";
import { field, type SipText } from "../support/sip/sip-text.ts";
import type { HeardPacket } from "../support/sip/voice.ts";
import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";

/** Time within which a resumed process finishes sending, on a busy machine, ms. */
const IN_FLIGHT_MS = 250;

/** A received INVITE. */
export interface Invite {
  /** The process that sent it, if its port is known; otherwise the current one. */
  readonly epoch: number;
  readonly call: FarEndCall;
}

/** The called phones and the accounts' registrar: the server as seen from the network. */
export class Phones {
  readonly #farEnd: FarEnd;
  readonly #scripts: Record<string, Script>;
  readonly #invites: Map<string, Invite[]>;
  /** Epoch of a server that has lost the database and still runs, by its address. */
  readonly #earlierCalls: Map<string, number>;
  /** Time at which a server that was stopped while it lost the database resumed, by its epoch. */
  readonly #resumedAt = new Map<number, number>();
  readonly #journal: Journal;
  #requestsBefore = 0;
  /** Number of registrations from before this process. */
  #registrationsBefore = 0;

  private constructor(
    farEnd: FarEnd,
    scripts: Record<string, Script>,
    invites: Map<string, Invite[]>,
    earlierCalls: Map<string, number>,
    journal: Journal,
  ) {
    this.#farEnd = farEnd;
    this.#scripts = scripts;
    this.#invites = invites;
    this.#earlierCalls = earlierCalls;
    this.#journal = journal;
  }

  static async start(journal: Journal, moments: Moments): Promise<Phones> {
    const scripts: Record<string, Script> = {};
    const invites = new Map<string, Invite[]>();
    const earlierCalls = new Map<string, number>();
    const epochOf = (call: FarEndCall): number => earlierCalls.get(senderOf(call.requests[0]!.text)) ?? journal.epoch;
    const farEnd = await startFarEnd({
      callees: scripts,
      registrar: {},
      onInvite(call) {
        journal.note(`INVITE ${call.user}`);
        const earlierInvites = invites.get(call.user) ?? [];
        const epoch = epochOf(call);
        if (earlierInvites.some((invite) => invite.epoch === epoch && invite.call.end === undefined))
          journal.reportViolation("no number has two calls at once", call.user, "an INVITE beside a live call");
        invites.set(call.user, [...earlierInvites, { epoch, call }]);
        moments.notify("an INVITE");
      },
    });
    return new Phones(farEnd, scripts, invites, earlierCalls, journal);
  }

  get port(): number {
    return this.#farEnd.port;
  }

  /** Puts a phone behind a number. */
  add(number: string, script: Script): void {
    this.#scripts[number] = script;
  }

  /** Every INVITE to a number; outside a batch, more than one is a fault. */
  invites(number: string): readonly Invite[] {
    return this.#invites.get(number) ?? [];
  }

  /** True if the running process still has a call to this number. */
  hasLeg(number: string): boolean {
    return this.invites(number).some(({ epoch, call }) => epoch === this.#journal.epoch && call.end === undefined);
  }

  /** True if the running process keeps this account registered. */
  isRegistered(account: string): boolean {
    const registrations = this.#farEnd.registrations.slice(this.#registrationsBefore);
    return (registrations.findLast(({ contact }) => contact.includes(`sip:${account}@`))?.expires ?? 0) > 0;
  }

  /** Cuts off a dead server process's calls. */
  serverDied(): void {
    for (const call of this.#farEnd.calls) call.close();
    this.#registrationsBefore = this.#farEnd.registrations.length;
    this.#requestsBefore = this.#farEnd.requests.length;
    this.#earlierCalls.clear();
  }

  /** Prepares for the loss of the database: later messages come from the next server. */
  ownerLost(): void {
    for (const request of this.#farEnd.requests.slice(this.#requestsBefore))
      this.#earlierCalls.set(senderOf(request), this.#journal.epoch);
    this.#journal.epoch += 0.5;
  }

  /** Called when the server that was stopped while it lost the database resumes. */
  ownerResumed(): void {
    this.#resumedAt.set(Math.floor(this.#journal.epoch), performance.now());
  }

  /** Audio received in a call, without any packet that was being sent when its server was stopped. */
  audio({ call }: Invite): readonly HeardPacket[] {
    const inFlightPacket = this.#firstInFlight(packetsOf);
    return packetsOf(call).filter((packet) => packet !== inFlightPacket);
  }

  /**
   * Checks that a server without its database has ended its calls, and has sent no packet since another took over. A
   * process that was stopped between its last deadline check and the system call sends that one datagram when it
   * resumes. This is so rare that only one INVITE and one audio packet per sequence are tolerated.
   */
  checkSilent(takenAt: number): void {
    const epoch = Math.floor(this.#journal.epoch);
    const reportViolation = (call: FarEndCall, detail: string) =>
      this.#journal.reportViolation("a server that lost the database is silent", call.user, detail);
    for (const call of this.#callsOf(epoch)) {
      if (call.end === undefined) reportViolation(call, "the call is still live");
      for (const [label, sentBy] of DATAGRAMS) {
        const latePackets = sentBy(call).filter(({ at }) => at > takenAt);
        const inFlightPacket = this.#firstInFlight(sentBy);
        const violatingPackets = latePackets.filter((packet) => packet !== inFlightPacket);
        if (inFlightPacket && violatingPackets.length < latePackets.length) {
          const ms = (inFlightPacket.at - this.#resumedAt.get(epoch)!).toFixed(1);
          this.#journal.tolerate(`${label} to ${call.user} ${ms} ms after SIGCONT: it was being sent`);
        }
        const last = violatingPackets.at(-1);
        if (last)
          reportViolation(
            call,
            `${label} (${violatingPackets.length} ×), the last ${last.at - takenAt} ms after the take-over`,
          );
      }
    }
  }

  close(): Promise<void> {
    return this.#farEnd.close();
  }

  #callsOf(epoch: number): FarEndCall[] {
    return [...this.#invites.values()].flat().flatMap((invite) => (invite.epoch === epoch ? [invite.call] : []));
  }

  /** The first message of a kind that arrived shortly after SIGCONT. */
  #firstInFlight<Message extends SentDatagram>(sentBy: (call: FarEndCall) => readonly Message[]): Message | undefined {
    for (const [epoch, resumedAt] of this.#resumedAt) {
      const inFlight = this.#callsOf(epoch)
        .flatMap(sentBy)
        .filter(({ at }) => at >= resumedAt && at < resumedAt + IN_FLIGHT_MS)
        .sort((first, other) => first.at - other.at);
      if (inFlight[0]) return inFlight[0];
    }
    return undefined;
  }
}

/** A datagram from the server. */
interface SentDatagram {
  /** Arrival time, ms, monotonic. */
  readonly at: number;
}

const packetsOf = ({ voice }: FarEndCall): readonly HeardPacket[] => voice?.packets ?? [];

/** Host and port of the server that sent a request. */
function senderOf(request: SipText): string {
  return /^\S+\s+([^;\s]+)/.exec(field(request, "Via"))?.[1] ?? "";
}

/** Datagrams that a server without its database must not send in a call. */
const DATAGRAMS: readonly (readonly [label: string, sentIn: (call: FarEndCall) => readonly SentDatagram[]])[] = [
  ["an INVITE", ({ requests }) => requests.filter(({ method }) => method === "INVITE")],
  ["an audio packet", packetsOf],
];
