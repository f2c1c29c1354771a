import type { Call } from "../domain/call.ts";
import type { FailedReason } from "../domain/outcome.ts";
import { nextDialAt } from "../domain/queue-policy.ts";
import { StorageUnavailable } from "../ports/storage.ts";
import { CallSession } from "./call-session.ts";
import type { Context } from "./context.ts";
import type { LineKeeper } from "./line-keeper.ts";
import type { Lines } from "./lines.ts";
import { storeCall } from "./stored-calls.ts";

const RETRY_MS = 1_000;

interface Claim {
  /** Somebody woke the instance meanwhile. */
  again: boolean;
  readonly done: Promise<void>;
}

/**
 * Starts queued calls: one per instance at a time, each as soon as its instance can dial. Instances do not wait for
 * each other. It is woken by what happens (a call created, a line online, a leg gone) and never scans.
 */
export class Dispatcher {
  readonly #context: Context;
  readonly #lines: Lines;
  readonly #requeued: (call: Call) => void;
  readonly #byInstance = new Map<string, CallSession>();
  readonly #byCall = new Map<string, CallSession>();
  /** Instances whose next call is being claimed. */
  readonly #claiming = new Map<string, Claim>();
  /** Instances whose last claim was not answered: it may have been done all the same. */
  readonly #unanswered = new Set<string>();
  /** Instances that are woken later: to keep the pace, or to try again. */
  readonly #alarms = new Map<string, () => void>();
  /** By call. */
  readonly #running = new Map<string, Promise<void>>();
  stopping = false;

  /** @param requeued told of each claimed call that waits again */
  constructor(context: Context, lines: Lines, requeued: (call: Call) => void) {
    this.#context = context;
    this.#lines = lines;
    this.#requeued = requeued;
  }

  get live(): number {
    return this.#byCall.size;
  }

  /** The live session of a call. */
  session(callId: string): CallSession | undefined {
    return this.#byCall.get(callId);
  }

  /** Looks whether the instance has a call to dial. */
  wake(instanceId: string): void {
    const current = this.#claiming.get(instanceId);
    if (current) {
      current.again = true;
      return;
    }
    if (this.stopping || !(this.#mayDial(instanceId) || this.#unanswered.has(instanceId))) return;
    const claim: Claim = { again: false, done: this.#dialNext(instanceId) };
    this.#claiming.set(instanceId, claim);
    void claim.done.finally(() => {
      this.#claiming.delete(instanceId);
      if (claim.again) this.wake(instanceId);
    });
  }

  /** Resolves when no claim is under way: a claimed call has its session then. */
  async settled(instanceId: string): Promise<void> {
    await this.#claiming.get(instanceId)?.done;
  }

  /** Resolves when no session works on the call. */
  async over(callId: string): Promise<void> {
    await this.#running.get(callId);
  }

  /** Passes a report of the line on to the live call. */
  lineDown(instanceId: string, reason: string): void {
    this.#byInstance.get(instanceId)?.lineDown(reason);
  }

  lineUp(instanceId: string): void {
    this.#byInstance.get(instanceId)?.lineUp();
    this.wake(instanceId);
  }

  /** Dials no more, lets live calls go on for `drainMs`, then ends them as `interrupted`. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true;
    for (const cancel of this.#alarms.values()) cancel();
    this.#alarms.clear();
    await Promise.all([...this.#claiming.values()].map((claim) => claim.done));
    if (this.#running.size === 0) return;
    let cancel = () => {};
    const drained = new Promise<void>((resolve) => {
      cancel = this.#context.system.after(drainMs, resolve);
    });
    await Promise.race([Promise.all(this.#running.values()), drained]);
    cancel();
    await this.endAll("interrupted", "the server stopped");
    await Promise.all(this.#running.values());
  }

  /** Ends every live call. */
  async endAll(reason: FailedReason, detail: string): Promise<void> {
    await Promise.all([...this.#byCall.values()].map((session) => session.end(reason, detail)));
  }

  #mayDial(instanceId: string): boolean {
    return !this.stopping && !this.#byInstance.has(instanceId) && this.#lines.find(instanceId)?.canDial === true;
  }

  async #dialNext(instanceId: string): Promise<void> {
    const { system, policy, storage, nodeId, log } = this.#context;
    const keeper = this.#lines.find(instanceId);
    try {
      if (this.#unanswered.has(instanceId)) await this.#giveBackUnanswered(instanceId);
      const wait = Math.max(nextDialAt(policy, keeper?.lastDialAt), keeper?.full?.until ?? 0) - system.monotonic();
      if (wait > 0) return this.#wakeIn(instanceId, wait);
      const line = await keeper?.line();
      if (!keeper || !line || !this.#mayDial(instanceId)) return;
      this.#unanswered.add(instanceId);
      const call = await storage.calls.claimNext(instanceId, nodeId);
      this.#unanswered.delete(instanceId);
      if (!call) return;
      if (!this.#mayDial(instanceId)) return await this.#giveBack(call);
      keeper.lastDialAt = system.monotonic();
      keeper.full = undefined; // this dial will tell
      const session = new CallSession(this.#context, call, keeper.telephony, line);
      this.#byInstance.set(instanceId, session);
      this.#byCall.set(call.id, session);
      keeper.setInCall(true);
      const running = session.run().then(() => this.#gone(instanceId, session));
      this.#running.set(call.id, running);
      void running.finally(() => this.#running.delete(call.id));
    } catch (error) {
      const level = error instanceof StorageUnavailable ? "warn" : "error";
      log[level]({ instance_id: instanceId, err: error }, "the next call could not be started; trying again");
      this.#wakeIn(instanceId, RETRY_MS);
    }
  }

  /** A claim whose answer was lost on the way leaves a call that nobody carries: it waits again. */
  async #giveBackUnanswered(instanceId: string): Promise<void> {
    const { storage, nodeId } = this.#context;
    for (const call of await storage.calls.active(instanceId))
      if (call.status === "QUEUED" && call.owner === nodeId) await this.#giveBack(call);
    this.#unanswered.delete(instanceId);
  }

  /** The line went down, or the server began to stop, while the call was being claimed. */
  async #giveBack(claimed: Call): Promise<void> {
    const call = await storeCall(this.#context, claimed, { owner: null }, []);
    if (call) this.#requeued(call);
  }

  #wakeIn(instanceId: string, ms: number): void {
    this.#alarms.get(instanceId)?.();
    this.#alarms.delete(instanceId);
    if (this.stopping) return;
    const ring = () => {
      this.#alarms.delete(instanceId);
      this.wake(instanceId);
    };
    this.#alarms.set(instanceId, this.#context.system.after(ms, ring));
  }

  /** What the session learned of a full line, by the monotonic clock. */
  #fullUntil({ lineFull }: CallSession): LineKeeper["full"] {
    const { system } = this.#context;
    return lineFull && { ...lineFull, until: lineFull.until - system.now() + system.monotonic() };
  }

  #gone(instanceId: string, session: CallSession): void {
    this.#byCall.delete(session.callId);
    this.#byInstance.delete(instanceId);
    const keeper = this.#lines.find(instanceId);
    keeper?.setInCall(false);
    const waitsAgain = session.call.owner === null;
    if (keeper) keeper.full = waitsAgain ? this.#fullUntil(session) : undefined;
    if (waitsAgain) {
      this.#requeued(session.call);
      this.#wakeIn(instanceId, RETRY_MS);
    } else this.wake(instanceId);
  }
}
