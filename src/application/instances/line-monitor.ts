import { within } from "../../base/timeout.ts";
import type { Instance } from "../../domain/instance.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import {
  type CredentialStore,
  type Deadlines,
  type Line,
  type LineHealth,
  type LineHost,
  type LinkCode,
  NetworkSilent,
  type Telephony,
} from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { Connection } from "../use-cases.ts";
import { BoundedLine } from "./bounded-line.ts";
import { InstanceRecord } from "./instance-record.ts";

/** What a caller learns of an error of the adapter. */
const NOT_OPENED = "the line could not be opened; the server's log says why";

/** Whether its instances need no code: the operator has configured their numbers. */
export function linksByItself({ capabilities }: Telephony): boolean {
  return capabilities.linking === "operator";
}

/** Who wants to know about a line. */
export interface LineWatcher {
  online(instanceId: string): void;
  offline(instanceId: string, reason: string): void;
  /** The line has a fault that will not pass by itself. */
  broken(instanceId: string): void;
}

/**
 * Keeps one instance's line: opens it, probes it, and turns what the network reports into moves of the instance.
 *
 * What it answers about the line comes from the last probe, never from the memory of an event. Its writes run one
 * after the other. `CREATED` → (linked) → `CONFIGURED` → (a probe finds it online) → `ACTIVE`; offline for longer than
 * the grace → `CONFIGURED`; unlinked by the phone's owner → `CREATED`. Where the network links by itself, a probe that
 * finds the line online links it as well.
 */
export class LineMonitor implements LineHost {
  readonly credentials: CredentialStore;
  readonly telephony: Telephony;
  /** When a call was last dialled on it, by the monotonic clock, ms. The pace is counted from it. */
  lastDialAt: number | undefined;
  /** Until when the line takes no call, by the monotonic clock, ms, and why. */
  full: { readonly until: number; readonly reason: string } | undefined;
  readonly #context: Context;
  readonly #watcher: LineWatcher;
  readonly #scope = new AbortController();
  readonly #record: InstanceRecord;
  readonly #line: BoundedLine;
  readonly #codeWaiters = new Set<(code: LinkCode | undefined) => void>();
  #state: Connection["state"] = "unlinked";
  #reason: string | null = "no phone number is linked";
  /** The reason, if the fault will not pass by itself. */
  #lastingFault: string | undefined;
  #lastSeenAt: number | null = null;
  #code: LinkCode | undefined;
  #inCall = false;
  /** Credentials are stored, although no number counts as linked yet: it goes on trying. */
  #halfLinked = false;
  #probing: Promise<void> | undefined;
  /** Something was reported while a probe was under way, so its answer may be old. */
  #probeAgain = false;
  /** Counts the reports that speak against the line, to know whether one came meanwhile. */
  #offlineReports = 0;
  /** The line is closed: what it still reports is not heard. */
  #closed = false;
  #cancelProbe: (() => void) | undefined;
  #cancelGrace: (() => void) | undefined;

  constructor(context: Context, instance: Instance, telephony: Telephony, watcher: LineWatcher) {
    this.#context = context;
    this.#record = new InstanceRecord(context, instance);
    this.telephony = telephony;
    this.#watcher = watcher;
    this.credentials = context.vault.of(instance.id, context.storage.instances);
    const { id, name } = instance;
    this.#line = new BoundedLine(context, telephony, { id, name }, this, (error) => this.#notOpened(error));
    if (instance.status !== "CREATED" || this.linksByItself) this.#say("connecting", "connecting");
  }

  get linksByItself(): boolean {
    return linksByItself(this.telephony);
  }

  get connection(): Connection {
    return {
      state: this.#state,
      phone: this.#record.current.phone,
      lastSeenAt: this.#lastSeenAt,
      reason: this.#reason,
      provider: this.telephony.name,
    };
  }

  /** Whether the last probe found the line able to place calls. */
  get canDial(): boolean {
    return this.#state === "online";
  }

  /** Why the line cannot place calls until somebody mends it; undefined if it can, or if the fault may pass by itself. */
  get lastingFault(): string | undefined {
    return this.canDial ? undefined : this.#lastingFault;
  }

  /** Whether the line counts as up for the instance's status: online, or offline for less than the grace. */
  get up(): boolean {
    return this.#state === "online" || this.#state === "reconnecting";
  }

  /** The open line; opens it when it is not. */
  line(): Promise<Line> {
    return this.#line.open();
  }

  /** Starts linking, or goes on with it. */
  async link(): Promise<void> {
    const line = await this.line();
    if (this.#state === "unlinked") this.#say("linking", "waiting for the code to be scanned");
    try {
      await line.link();
    } catch (error) {
      this.#context.log.error({ instance_id: this.#record.current.id, err: error }, "the linking could not be started");
      throw error;
    }
  }

  /** The current code, or the next one within `ms`; undefined when none comes or the number is linked meanwhile. */
  async currentCode(ms: number): Promise<LinkCode | undefined> {
    if (this.#code && this.#code.expiresAt > this.#context.system.now()) return this.#code;
    return new Promise((resolve) => {
      const done = (code: LinkCode | undefined) => {
        this.#codeWaiters.delete(done);
        cancel();
        resolve(code);
      };
      const cancel = this.#context.system.after(ms, () => done(undefined));
      this.#codeWaiters.add(done);
    });
  }

  /** Probes more often while a call is live. */
  setInCall(inCall: boolean): void {
    this.#inCall = inCall;
    if (this.#cancelProbe) this.#scheduleProbe();
  }

  get deadlines(): Deadlines {
    return this.#context.ownership.deadlines;
  }

  publicUrl(): string {
    return this.#context.publicUrl();
  }

  code(code: LinkCode): void {
    this.#code = code;
    for (const waiter of this.#codeWaiters) waiter(code);
  }

  async linked(phone: string | null, credentials?: Uint8Array): Promise<void> {
    const gone = () =>
      new Refusal("instance_not_found", "the instance is deleted or its line closed; nothing is linked");
    if (this.#closed) throw gone();
    const doubts = this.#offlineReports;
    // Sealed in its turn, so that an unlink that is reported meanwhile is stored behind the link.
    await this.#record.inTurn(async () => {
      const sealed = credentials && (await this.#context.vault.seal(this.#record.current.id, credentials));
      await this.#record.move({ input: "link", patch: { phone }, type: "instance.linked", data: { phone }, sealed });
    });
    if (this.#record.current.status === "DELETED") throw gone();
    this.#code = undefined;
    if (doubts === this.#offlineReports) this.#lastingFault = undefined;
    for (const waiter of this.#codeWaiters) waiter(undefined);
    if (!this.canDial && doubts === this.#offlineReports) this.#say("connecting", "connecting");
    this.#scheduleProbe();
  }

  /** Connects with stored credentials, although no number counts as linked: the first probe that is online links it. */
  resume(): Promise<void> {
    this.#halfLinked = true;
    if (this.#state === "unlinked") this.#say("connecting", "connecting");
    return this.probe();
  }

  online(): void {
    void this.probe();
  }

  offline(reason: string, lasting = false): void {
    this.#offlineReports++;
    if (this.#scope.signal.aborted || this.#state === "unlinked" || this.#state === "linking") return;
    this.#reason = reason;
    const known = this.#lastingFault !== undefined;
    this.#lastingFault = lasting ? reason : undefined;
    if (this.#state === "online") {
      this.#say("reconnecting", reason);
      this.#watcher.offline(this.#record.current.id, reason);
    }
    if (lasting && !known) this.#watcher.broken(this.#record.current.id);
    if (this.#state !== "reconnecting" && this.#state !== "connecting") return;
    this.#cancelGrace ??= this.#context.system.after(this.#context.timings.lineGraceMs, () => this.#graceOver());
  }

  unlinked(reason: string): void {
    if (this.#closed) return;
    if (this.linksByItself) {
      this.offline(reason); // nobody could scan a code for it
      return;
    }
    this.#offlineReports++;
    this.#halfLinked = false;
    this.#lastingFault = undefined;
    this.#stopTimers();
    this.#say("unlinked", reason);
    this.#watcher.offline(this.#record.current.id, reason);
    const move = { input: "unlink", patch: { phone: null }, type: "instance.unlinked", data: { reason } } as const;
    this.#record.enqueue(async () => {
      if (this.#record.current.status !== "CREATED") return this.#record.move(move);
      await retryUntilStored(this.#context, "the erasure of credentials", () => this.credentials.erase()); // of a link half done
    });
  }

  /** Asks the network now and acts on the answer; where it is being asked already, once more after that. Never rejects. */
  probe(): Promise<void> {
    if (this.#scope.signal.aborted) return Promise.resolve();
    this.#probeAgain = this.#probing !== undefined;
    this.#probing ??= this.#probeUntilFresh();
    return this.#probing;
  }

  async #probeUntilFresh(): Promise<void> {
    do {
      this.#probeAgain = false;
      await this.#probeOnce();
    } while (this.#probeAgain && !this.#scope.signal.aborted);
    this.#probing = undefined;
    this.#scheduleProbe();
  }

  async #probeOnce(): Promise<void> {
    try {
      const health = await this.#ask(await this.line());
      if (this.#scope.signal.aborted || this.#state === "unlinked" || this.#probeAgain) return;
      if (health.state === "offline") this.offline(health.reason, health.lasting);
      else this.#found();
    } catch {
      // The line could not be opened: said and logged there.
    }
  }

  /** Waits until all that was reported is stored. */
  async settled(): Promise<void> {
    await this.#record.settled();
  }

  /**
   * For an instance that is deleted: nothing more is probed, and the network forgets the device; rejects with why it was
   * not asked or did not.
   * @param open open the line if it is not open
   */
  async unlink({ open }: { open: boolean }): Promise<void> {
    this.#quiet();
    if (open || this.#line.wanted) await this.#line.unlink();
  }

  /** Closes the line; writes that wait for the storage go on. Never rejects. */
  async close(): Promise<void> {
    this.#quiet();
    await this.#line.close();
    this.#closed = true;
  }

  #quiet(): void {
    this.#stopTimers();
    this.#scope.abort(new Error("the line is closed"));
    for (const waiter of this.#codeWaiters) waiter(undefined);
  }

  /** What the network says now; a network that stays silent until the next probe is due is offline. */
  async #ask(line: Line): Promise<LineHealth> {
    const { timings, system } = this.#context;
    const late = () => new NetworkSilent("the network does not answer");
    try {
      return await within(line.probe(), { system, ms: timings.probeMs, late, signal: this.#scope.signal });
    } catch (error) {
      if (!(error instanceof NetworkSilent)) throw error;
      return { state: "offline", reason: error.message };
    }
  }

  #notOpened(error: unknown): void {
    const unlinked = this.#record.current.status === "CREATED" && !this.linksByItself && !this.#halfLinked;
    this.#say(unlinked ? "unlinked" : "offline", error instanceof NetworkSilent ? error.message : NOT_OPENED);
    const level = error instanceof StorageUnavailable ? "warn" : "error";
    this.#context.log[level]({ instance_id: this.#record.current.id, err: error }, "the line could not be opened");
  }

  #found(): void {
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
    this.#lastingFault = undefined;
    this.#lastSeenAt = this.#context.system.now();
    if (this.#state === "online") return;
    const doubts = this.#offlineReports;
    this.#record.enqueue(async () => {
      if (doubts !== this.#offlineReports) return;
      if (this.#record.current.status === "CREATED")
        await this.#record.move({ input: "link", type: "instance.linked" });
      if (this.#record.current.status === "CONFIGURED")
        await this.#record.move({ input: "activate", type: "instance.active" });
      // It may have gone offline, or been unlinked, while this was being stored.
      if (this.#record.current.status !== "ACTIVE" || doubts !== this.#offlineReports) return;
      this.#say("online", null);
      this.#watcher.online(this.#record.current.id);
    });
  }

  #graceOver(): void {
    this.#cancelGrace = undefined;
    if (this.#state !== "reconnecting" && this.#state !== "connecting") return;
    const reason = this.#reason ?? "offline";
    this.#say("offline", reason);
    this.#record.enqueue(() => this.#record.move({ input: "deactivate", type: "instance.offline", data: { reason } }));
  }

  #say(state: Connection["state"], reason: string | null): void {
    this.#state = state;
    this.#reason = reason;
  }

  #scheduleProbe(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    if (this.#scope.signal.aborted || this.#state === "unlinked" || this.#state === "linking") return;
    const { timings, system } = this.#context;
    this.#cancelProbe = system.after(this.#inCall ? timings.probeInCallMs : timings.probeMs, () => void this.probe());
  }

  #stopTimers(): void {
    this.#cancelProbe?.();
    this.#cancelGrace?.();
    this.#cancelProbe = this.#cancelGrace = undefined;
  }
}
