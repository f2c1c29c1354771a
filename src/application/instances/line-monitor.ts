import type { Pause } from "../../domain/dialling-rules/number-protection.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import {
  decideLine,
  isProbed,
  type LineEffect,
  type LineFlow,
  type LineInput,
  newLine,
} from "../../domain/instances/line-flow.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import {
  type Line,
  type LineHealth,
  type LineHost,
  type LinkCode,
  NetworkSilent,
  type PairingCode,
  type Telephony,
} from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { Connection } from "../use-cases.ts";
import { BoundedLine } from "./bounded-line.ts";
import { CurrentLinkCode } from "./current-link-code.ts";
import { InstanceRecord, type InstanceRecordContext } from "./instance-record.ts";
import { LinkTime } from "./link-time.ts";
import { NumberPause } from "./number-pause.ts";
import { Prober } from "./prober.ts";
import { StoredLink, type StoredLinkContext } from "./stored-link.ts";

/** Dependencies of {@link LineMonitor}. */
export type LineMonitorContext = Pick<
  Context,
  "lease" | "log" | "publicUrl" | "shutdownSignal" | "processPauses" | "system" | "timings"
> &
  InstanceRecordContext &
  StoredLinkContext;

/** The reason shown to a caller if the adapter fails with an error. */
const OPEN_FAILED = "the line could not be opened; the server's log has the reason";

/** True if instances of the network need no code: the operator has configured their numbers. */
export function linksAutomatically({ capabilities }: Telephony): boolean {
  return capabilities.linking === "operator";
}

/** Dial state of a linked number; discarded when the number is unlinked. */
export interface NumberState {
  /** Number of calls that are about to be dialled; the pace after them is not known yet. */
  dialling: number;
  /** Time of the number's latest call, on the monotonic clock, ms, and the jitter of the pace after it, 0 to 1. */
  lastDial?: { readonly at: number; chance?: number } | undefined;
  /** Time until which the line takes no call, on the monotonic clock, ms, and the reason. */
  linePause?: { readonly until: number; readonly reason: string } | undefined;
}

/** Receives the changes to a line. */
export interface LineWatcher {
  onOnline(instanceId: string): void;
  onOffline(instanceId: string, reason: string): void;
  /** Called when the line has a fault that needs a person to fix it. */
  onBroken(instanceId: string): void;
}

/**
 * Monitors one instance's line: opens it, probes it, and turns the network's reports into moves of the instance.
 *
 * Every report and every probe result is decided by `domain/instances/line-flow.ts` and carried out here. Writes run
 * one after the other. `CREATED` → (linked) → `CONFIGURED` → (a probe finds it online) → `ACTIVE`; offline for longer
 * than the grace period → `CONFIGURED`; unlinked by the phone's owner → `CREATED`. If the network links automatically,
 * a probe that finds the line online links it as well.
 */
export class LineMonitor {
  readonly telephony: Telephony;
  readonly #context: LineMonitorContext;
  readonly #watcher: LineWatcher;
  readonly #record: InstanceRecord;
  readonly #link: StoredLink;
  readonly #linkTime: LinkTime;
  readonly #pause: NumberPause;
  readonly #line: BoundedLine;
  readonly #prober: Prober;
  readonly #codes: CurrentLinkCode;
  #flow: LineFlow;
  #number: NumberState = { dialling: 0 };
  #cancelGrace: (() => void) | undefined;
  #liveCallCount = 0;

  constructor(context: LineMonitorContext, instance: Instance, telephony: Telephony, watcher: LineWatcher) {
    this.#context = context;
    this.#record = new InstanceRecord(context, instance);
    this.telephony = telephony;
    this.#watcher = watcher;
    this.#link = new StoredLink(context, this.#record);
    this.#linkTime = new LinkTime(context, this.#record);
    this.#pause = new NumberPause(context, this.#record);
    const { id, userId, name } = instance;
    this.#line = new BoundedLine(
      context,
      telephony,
      { id, userId, name },
      (abandonSignal) => this.#hostOf(abandonSignal),
      (error) => this.#reportOpenFailure(error),
    );
    this.#codes = new CurrentLinkCode(context.system);
    this.#prober = new Prober(context, {
      line: () => this.line(),
      isProbed: () => isProbed(this.#flow),
      onHealth: (health) => this.#onHealth(health),
    });
    this.#flow = newLine(instance.status !== "CREATED" || this.linksAutomatically);
  }

  get linksAutomatically(): boolean {
    return linksAutomatically(this.telephony);
  }

  get connection(): Connection {
    const { state, lastSeenAt, reason, condition, notice } = this.#flow;
    const { phone } = this.#record.instance;
    const { name: provider } = this.telephony;
    return { state, phone, lastSeenAt, reason, condition, provider, ...(notice && { notice }) };
  }

  /**
   * State of the number's dials; a new object once the link has ended, so that calls of one number never delay those of
   * the next.
   */
  get number(): NumberState {
    return this.#number;
  }

  /** The instance as last stored. */
  get instance(): Instance {
    return this.#record.instance;
  }

  /** Time at which the number was linked, ms since 1970-01-01 UTC; the current time if no number is linked. */
  get linkedAt(): number {
    return this.#linkTime.linkedAt();
  }

  /** Stores the pause of the number, and reports it, once. @param pause undefined if the number may call again */
  pause(pause: Pause | undefined): void {
    this.#pause.set(pause);
  }

  /** True if the last probe found the line able to place calls. */
  get canDial(): boolean {
    return this.#flow.state === "online";
  }

  /** Reason why the line cannot place calls until a person fixes it; undefined if it can, or if the fault may pass. */
  get lastingFault(): string | undefined {
    return this.canDial ? undefined : this.#flow.lastingFault;
  }

  /**
   * True if the line is up as far as the instance's status is concerned: online, or offline for less than the grace
   * period.
   */
  get isUp(): boolean {
    return this.#flow.state === "online" || this.#flow.state === "reconnecting";
  }

  /** The open line; opens it if it is closed. */
  line(): Promise<Line> {
    return this.#line.open();
  }

  /** Starts or continues linking. */
  async link(): Promise<void> {
    const line = await this.line();
    this.#apply({ type: "linking_started" });
    try {
      await line.link();
    } catch (error) {
      this.#context.log.error(
        { instance_id: this.#record.instance.id, err: error },
        "the linking could not be started",
      );
      throw error;
    }
  }

  /** Retries a line with a permanent fault: a person may have removed the cause. */
  retry(): void {
    if (this.lastingFault === undefined) return;
    const logFailure = (err: unknown) =>
      this.#context.log.warn({ instance_id: this.#record.instance.id, err }, "the line could not be tried again");
    this.line()
      .then((line) => line.link())
      .catch(logFailure);
  }

  /** A code for the phone with this number; undefined if the network has none. Starts linking if necessary. */
  async pairingCode(phone: string, signal: AbortSignal): Promise<PairingCode | undefined> {
    const line = await this.line();
    if (!line.pairingCode) return undefined;
    this.#apply({ type: "linking_started" });
    try {
      return await line.pairingCode(phone, signal);
    } catch (error) {
      this.#context.log.warn({ instance_id: this.instance.id, err: error }, "no pairing code could be requested");
      throw error;
    }
  }

  /**
   * The current code, or the next code within `ms`; undefined if none arrives or the number is linked in the meantime.
   */
  currentCode(ms: number): Promise<LinkCode | undefined> {
    return this.#codes.current(ms);
  }

  /** Records that a call has begun or ended. The line is probed more often while any call is live. */
  setInCall(inCall: boolean): void {
    const liveCalls = Math.max(0, this.#liveCallCount + (inCall ? 1 : -1));
    if (liveCalls > 0 !== this.#liveCallCount > 0) this.#prober.setInCall(liveCalls > 0);
    this.#liveCallCount = liveCalls;
  }

  /** The host of one opened line. Once that line is abandoned, its host can no longer report, read or store. */
  #hostOf(abandonSignal: AbortSignal): LineHost {
    const { lease } = this.#context;
    const apply = (input: LineInput): void => {
      if (!abandonSignal.aborted) this.#apply(input);
    };
    return {
      ...this.#link.storesFor(abandonSignal),
      deadlines: lease.deadlines,
      publicUrl: () => this.#context.publicUrl(),
      code: (code) => {
        if (!abandonSignal.aborted) this.#codes.show(code);
      },
      linked: async (phone, credentials) => {
        abandonSignal.throwIfAborted();
        await this.#onLinked(phone, credentials);
      },
      online: () => {
        if (!abandonSignal.aborted) void this.probe();
      },
      offline: (reason, isLasting = false) => apply({ type: "offline", reason, isLasting }),
      condition: (condition, reason) => apply({ type: "condition", condition: condition ?? null, reason }),
      unlinked: (reason) => apply({ type: "unlinked", reason }),
    };
  }

  async #onLinked(phone: string | null, credentials?: Uint8Array): Promise<void> {
    const notLinked = () =>
      new Refusal(
        "instance_not_found",
        "the instance was deleted or unlinked, or its line was closed; no number was linked",
      );
    if (this.#flow.stage === "closed" || this.#isUnlinking) throw notLinked();
    const { offlineReports } = this.#flow;
    await this.#link.store(phone, credentials);
    if (this.#record.instance.status === "DELETED") throw notLinked();
    this.#apply({ type: "link_stored", offlineReports });
  }

  /**
   * Connects with stored credentials even though no number is linked: the first probe that finds the line online links
   * it.
   */
  resume(): Promise<void> {
    this.#apply({ type: "resumed" });
    return this.probe();
  }

  /** Probes the line now and acts on the result; if a probe is under way, another probe follows it. Never rejects. */
  probe(): Promise<void> {
    return this.#prober.probe();
  }

  /** Waits until all reports are stored. */
  async whenStored(): Promise<void> {
    await this.#record.whenStored();
  }

  /**
   * Unlinks the number at its user's request: stops dialling, then makes the network forget the device, and then stores
   * the unlinking, even if the network has not responded in time. Resolves with false if the line is closed before
   * that: then the instance is deleted, or is unchanged at the next start.
   * @param onNetworkAsked called once the network has responded, or has not responded in time
   */
  async unlinkNumber(reason: string, onNetworkAsked: () => void): Promise<boolean> {
    const { log } = this.#context;
    const { id } = this.#record.instance;
    this.#apply({ type: "unlinking", reason });
    try {
      await retryUntilStored(this.#context, `the unlinking of instance ${id}`, () => this.#line.unlink());
    } catch (error) {
      if (!this.#isUnlinking) return false;
      if (error instanceof StorageUnavailable) throw error;
      log.warn({ instance_id: id, err: error }, "the device could not be unlinked; its credentials are erased anyway");
    }
    if (!this.#isUnlinking) return false;
    this.#line.abandon(); // its late writes must not reach the next link
    onNetworkAsked();
    await this.#link.erase(reason);
    this.#apply({ type: "unlinking_stored", reason });
    return true;
  }

  get #isUnlinking(): boolean {
    return this.#flow.stage === "unlinking";
  }

  /**
   * Makes the network forget the device of a deleted instance, and stops probing; rejects with the reason if the
   * network was not asked or did not do it.
   * @param openLine opens the line if it is not open
   */
  async unlink({ open: openLine }: { open: boolean }): Promise<void> {
    this.#stopProbing();
    if (openLine || this.#line.isOpenOrOpening) await this.#line.unlink();
  }

  /** Closes the line; writes that wait for the storage continue. Never rejects. */
  async close(): Promise<void> {
    this.#stopProbing();
    await this.#line.close();
    this.#apply({ type: "closed" });
  }

  #stopProbing(): void {
    this.#apply({ type: "closing" });
    this.#prober.stop();
    this.#codes.endWaits();
  }

  #apply(input: LineInput): void {
    const rules = { graceMs: this.#context.timings.lineGraceMs, linksAutomatically: this.linksAutomatically };
    const { flow, effects } = decideLine(this.#flow, input, rules);
    if (flow.state === "unlinked" && this.#flow.state !== "unlinked") this.#number = { dialling: 0 };
    this.#flow = flow;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: LineEffect): void {
    const { id } = this.#record.instance;
    switch (effect.do) {
      case "notify_online":
        this.#watcher.onOnline(id);
        break;
      case "notify_offline":
        this.#watcher.onOffline(id, effect.reason);
        break;
      case "notify_broken":
        this.#watcher.onBroken(id);
        break;
      case "store_active":
        this.#record.enqueue(() => this.#storeActive(effect.offlineReports));
        break;
      case "store_inactive": {
        const move = {
          input: "deactivate",
          fact: { event: "instance.offline", data: { reason: effect.reason } },
        } as const;
        this.#record.enqueue(() => this.#record.move(move));
        break;
      }
      case "store_unlinked":
        this.#link.erase(effect.reason).catch(() => {}); // logged by the record
        break;
      case "start_grace":
        this.#cancelGrace = this.#context.system.after(effect.ms, () => this.#apply({ type: "grace_over" }));
        break;
      case "stop_grace":
        this.#cancelGrace?.();
        break;
      case "schedule_probe":
        this.#prober.schedule();
        break;
      case "cancel_probe":
        this.#prober.cancel();
        break;
      case "clear_code":
        this.#codes.clear();
        break;
    }
  }

  #reportOpenFailure(error: unknown): void {
    this.#apply({ type: "open_failed", reason: error instanceof NetworkSilent ? error.message : OPEN_FAILED });
    const level = error instanceof StorageUnavailable ? "warn" : "error";
    this.#context.log[level]({ instance_id: this.#record.instance.id, err: error }, "the line could not be opened");
  }

  #onHealth(health: LineHealth): void {
    this.#context.processPauses.readClocks();
    const at = this.#context.system.now();
    if (health.state === "online") this.#apply({ type: "found_online", at, notice: health.notice });
    else this.#apply({ type: "found_offline", reason: health.reason, isLasting: health.lasting ?? false });
  }

  async #storeActive(offlineReports: number): Promise<void> {
    if (offlineReports !== this.#flow.offlineReports) return;
    if (await this.#link.activate()) this.#apply({ type: "active_stored", offlineReports });
  }
}
