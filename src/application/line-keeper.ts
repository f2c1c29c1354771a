import type { EventData, EventType } from "../domain/events.ts";
import { INSTANCE_TRANSITIONS, type Instance, type InstanceInput } from "../domain/instance.ts";
import { nextState } from "../domain/machine.ts";
import type { InstancePatch } from "../ports/storage.ts";
import type { CredentialStore, Line, LineHealth, LineHost, LinkCode, Telephony } from "../ports/telephony.ts";
import type { Context } from "./context.ts";
import { insist } from "./insist.ts";
import type { Connection } from "./use-cases.ts";

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
}

/**
 * Keeps one instance's line: opens it, probes it, and turns what the network reports into moves of the instance.
 *
 * What it answers about the line comes from the last probe, never from the memory of an event. Its writes run one
 * after the other. `CREATED` → (linked) → `CONFIGURED` → (a probe finds it online) → `ACTIVE`; offline for longer than
 * the grace → `CONFIGURED`; unlinked by the phone's owner → `CREATED`. Where the network links by itself, a probe that
 * finds the line online links it as well.
 */
export class LineKeeper implements LineHost {
  readonly credentials: CredentialStore;
  readonly telephony: Telephony;
  /** When a call was last dialled on it, by the monotonic clock, ms. The pace is counted from it. */
  lastDialAt: number | undefined;
  /** Until when the line takes no call, by the monotonic clock, ms, and why. */
  full: { readonly until: number; readonly reason: string } | undefined;
  readonly #context: Context;
  readonly #watcher: LineWatcher;
  readonly #scope = new AbortController();
  readonly #codeWaiters = new Set<(code: LinkCode | undefined) => void>();
  #instance: Instance;
  #opening: Promise<Line> | undefined;
  #state: Connection["state"] = "unlinked";
  #reason: string | null = "no phone number is linked";
  #lastSeenAt: number | null = null;
  #code: LinkCode | undefined;
  #inCall = false;
  #probing: Promise<void> | undefined;
  /** Something was reported while a probe was under way, so its answer may be old. */
  #probeAgain = false;
  #stopAsking: (() => void) | undefined;
  /** Counts the reports that speak against the line, to know whether one came meanwhile. */
  #doubts = 0;
  /** The line is closed: what it still reports is not heard. */
  #closed = false;
  #cancelProbe: (() => void) | undefined;
  #cancelGrace: (() => void) | undefined;
  #writes: Promise<void> = Promise.resolve();

  constructor(context: Context, instance: Instance, telephony: Telephony, watcher: LineWatcher) {
    this.#context = context;
    this.#instance = instance;
    this.telephony = telephony;
    this.#watcher = watcher;
    this.credentials = context.vault.of(instance.id, context.storage.instances);
    if (instance.status !== "CREATED" || this.linksByItself) this.#say("connecting", "connecting");
  }

  get linksByItself(): boolean {
    return linksByItself(this.telephony);
  }

  get connection(): Connection {
    return {
      state: this.#state,
      phone: this.#instance.phone,
      lastSeenAt: this.#lastSeenAt,
      reason: this.#reason,
      provider: this.telephony.name,
    };
  }

  /** Whether the last probe found the line able to place calls. */
  get canDial(): boolean {
    return this.#state === "online";
  }

  /** Whether the line counts as up for the instance's status: online, or offline for less than the grace. */
  get up(): boolean {
    return this.#state === "online" || this.#state === "reconnecting";
  }

  /** The open line; opens it when it is not. */
  line(): Promise<Line> {
    this.#opening ??= this.telephony
      .open({ id: this.#instance.id, name: this.#instance.name }, this, this.#scope.signal)
      .catch((error: unknown) => {
        this.#opening = undefined;
        const unlinked = this.#instance.status === "CREATED" && !this.linksByItself;
        this.#say(unlinked ? "unlinked" : "offline", NOT_OPENED);
        this.#context.log.error({ instance_id: this.#instance.id, err: error }, "the line could not be opened");
        throw error;
      });
    return this.#opening;
  }

  /** Starts linking, or goes on with it. */
  async link(): Promise<void> {
    const line = await this.line();
    if (this.#state === "unlinked") this.#say("linking", "waiting for the code to be scanned");
    try {
      await line.link();
    } catch (error) {
      this.#context.log.error({ instance_id: this.#instance.id, err: error }, "the linking could not be started");
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

  publicUrl(): string {
    return this.#context.publicUrl();
  }

  code(code: LinkCode): void {
    this.#code = code;
    for (const waiter of this.#codeWaiters) waiter(code);
  }

  linked(phone: string | null): void {
    if (this.#closed) return;
    this.#code = undefined;
    for (const waiter of this.#codeWaiters) waiter(undefined);
    if (!this.canDial) this.#say("connecting", "connecting");
    this.#enqueue(() => this.#move("link", { phone }, "instance.linked", { phone }));
    this.#scheduleProbe();
  }

  online(): void {
    void this.probe();
  }

  offline(reason: string): void {
    this.#doubts++;
    if (this.#scope.signal.aborted || this.#state === "unlinked" || this.#state === "linking") return;
    this.#reason = reason;
    if (this.#state === "online") {
      this.#say("reconnecting", reason);
      this.#watcher.offline(this.#instance.id, reason);
    }
    if (this.#state !== "reconnecting" && this.#state !== "connecting") return;
    this.#cancelGrace ??= this.#context.system.after(this.#context.timings.lineGraceMs, () => this.#graceOver());
  }

  unlinked(reason: string): void {
    if (this.#closed) return;
    if (this.linksByItself) {
      this.offline(reason); // nobody could scan a code for it
      return;
    }
    this.#doubts++;
    this.#stopTimers();
    this.#say("unlinked", reason);
    this.#watcher.offline(this.#instance.id, reason);
    this.#enqueue(async () => {
      await insist(this.#context, "erased credentials", () => this.credentials.erase());
      await this.#move("unlink", { phone: null }, "instance.unlinked", { reason });
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
      if (health.state === "offline") this.offline(health.reason);
      else this.#found();
    } catch {
      // The line could not be opened: said and logged there.
    }
  }

  /** Waits until all that was reported is stored. */
  async settled(): Promise<void> {
    await this.#writes;
  }

  /** Stops everything; with `unlink` the network forgets the device too. Never rejects. */
  async close({ unlink = false }: { unlink?: boolean } = {}): Promise<void> {
    this.#stopTimers();
    this.#scope.abort();
    this.#stopAsking?.();
    for (const waiter of this.#codeWaiters) waiter(undefined);
    const line = await this.#opening?.catch(() => undefined);
    const failed = (error: unknown) =>
      this.#context.log.warn({ instance_id: this.#instance.id, err: error }, "the line did not close in order");
    if (unlink) await line?.unlink().catch(failed);
    await line?.close().catch(failed);
    this.#closed = true;
    await this.settled();
  }

  /** What the network says now; a network that stays silent until the next probe is due is offline. */
  async #ask(line: Line): Promise<LineHealth> {
    const { timings, system } = this.#context;
    let cancel = () => {};
    const silence = new Promise<LineHealth>((resolve) => {
      this.#stopAsking = () => resolve({ state: "offline", reason: "the network does not answer" });
      cancel = system.after(timings.probeMs, this.#stopAsking);
    });
    try {
      return await Promise.race([line.probe(), silence]);
    } finally {
      cancel();
    }
  }

  #found(): void {
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
    this.#lastSeenAt = this.#context.system.now();
    if (this.#state === "online") return;
    const doubts = this.#doubts;
    this.#enqueue(async () => {
      if (doubts !== this.#doubts) return;
      if (this.#instance.status === "CREATED") await this.#move("link", {}, "instance.linked", {});
      if (this.#instance.status === "CONFIGURED") await this.#move("activate", {}, "instance.active", {});
      // It may have gone offline, or been unlinked, while this was being stored.
      if (this.#instance.status !== "ACTIVE" || doubts !== this.#doubts) return;
      this.#say("online", null);
      this.#watcher.online(this.#instance.id);
    });
  }

  #graceOver(): void {
    this.#cancelGrace = undefined;
    if (this.#state !== "reconnecting" && this.#state !== "connecting") return;
    const reason = this.#reason ?? "offline";
    this.#say("offline", reason);
    this.#enqueue(() => this.#move("deactivate", {}, "instance.offline", { reason }));
  }

  /** Writes a move of the instance's table; nothing where the table has none. */
  async #move(input: InstanceInput, patch: InstancePatch, type: EventType, data: EventData): Promise<void> {
    const { storage, events, system } = this.#context;
    for (;;) {
      const current = this.#instance;
      const status = nextState(INSTANCE_TRANSITIONS, current.status, input);
      if (!status) return;
      const event = events.event(type, { callId: null, instanceId: current.id, userId: current.userId }, data);
      const next = await insist(this.#context, `instance ${current.id}`, () =>
        storage.instances.update(current.id, current.version, { ...patch, status, updatedAt: system.now() }, [event]),
      );
      if (next) {
        this.#instance = next;
        return events.publish([event]);
      }
      const stored = await insist(this.#context, `instance ${current.id}`, () => storage.instances.get(current.id));
      if (!stored) return;
      this.#instance = stored;
    }
  }

  #enqueue(write: () => Promise<void>): void {
    this.#writes = this.#writes.then(write).catch((error: unknown) => {
      this.#context.log.error({ instance_id: this.#instance.id, err: error }, "a line's report could not be stored");
    });
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
