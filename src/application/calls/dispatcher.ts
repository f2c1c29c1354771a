import type { Call } from "../../domain/call.ts";
import type { FailedReason } from "../../domain/outcome.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import { ProgramFailed } from "../call-audio/programs/program.ts";
import type { Context } from "../context.ts";
import type { LineMonitor, NumberState } from "../instances/line-monitor.ts";
import type { Lines } from "../instances/lines.ts";
import { WallClock } from "../wall-clock.ts";
import { CallSession } from "./call-session.ts";
import { Preparations } from "./preparations.ts";
import { failCall, storeCall } from "./stored-calls.ts";

const RETRY_MS = 1_000;
/** The rate of most legs of a network that names none, Hz. */
const USUAL_RATE = 8_000;
/** A claim that was not answered may still be done by the database this much later, ms. */
const DOUBT_MS = 20_000;

interface Claim {
  /** Somebody woke the instance meanwhile. */
  again: boolean;
  readonly done: Promise<void>;
}

/**
 * Starts queued calls: one per instance at a time, each as soon as its instance can dial and the beginning of its message
 * is ready. Instances do not wait for each other. It is woken by what happens (a call created, a line online, a leg gone) and never scans.
 */
export class Dispatcher {
  readonly #context: Context;
  readonly #lines: Lines;
  readonly #requeued: (call: Call) => void;
  readonly #ending: (callId: string) => boolean;
  readonly #preparations: Preparations;
  readonly #byInstance = new Map<string, CallSession>();
  readonly #byCall = new Map<string, CallSession>();
  /** Instances whose next call is being claimed. */
  readonly #claiming = new Map<string, Claim>();
  /** Instances with a claim that was not answered, and until when it may still be done (monotonic, ms). */
  readonly #unanswered = new Map<string, number>();
  /** Instances that are woken later: to keep the pace, or to try again. */
  readonly #alarms = new Map<string, () => void>();
  /** Instances whose next call is known to wait for its alarm: until then nobody looks again. */
  readonly #held = new Set<string>();
  readonly #wallClock: WallClock;
  /** Calls of which a session had to do without storing what became of them: they may have been dialled. */
  readonly #unstored = new Set<string>();
  /** By call. */
  readonly #running = new Map<string, Promise<void>>();
  stopping = false;

  /**
   * @param requeued called with each claimed call that waits again
   * @param ending whether a call is to end although that is not stored yet: it is not dialled
   */
  constructor(context: Context, lines: Lines, requeued: (call: Call) => void, ending: (callId: string) => boolean) {
    this.#context = context;
    this.#lines = lines;
    this.#requeued = requeued;
    this.#ending = ending;
    this.#wallClock = new WallClock(context.system);
    this.#preparations = new Preparations(context, {
      finished: (instanceId) => this.wake(instanceId),
      unavailable: (instanceId, error) => this.#tryAgain(instanceId, error),
    });
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
    if (!(this.#mayDial(instanceId) || (this.#unanswered.has(instanceId) && !this.stopping))) {
      this.#held.delete(instanceId); // another number may be linked
      this.#preparations.cancel(instanceId);
      return;
    }
    if (this.#wallClock.jumped() !== 0) this.#held.clear();
    if (this.#held.has(instanceId)) return;
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

  /** Stops preparing a call that is being ended. */
  withdraw({ id, instanceId }: Pick<Call, "id" | "instanceId">): void {
    this.#preparations.cancel(instanceId, id);
  }

  /** Passes a report of the line on to the live call. */
  lineDown(instanceId: string, reason: string): void {
    this.#preparations.cancel(instanceId);
    this.#held.delete(instanceId); // another number may be linked
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
    const prepared = this.#preparations.stop();
    const quiet = async () => {
      await prepared;
      await Promise.all([...this.#claiming.values()].map((claim) => claim.done));
      await Promise.all(this.#running.values());
    };
    let cancel = () => {};
    const drained = new Promise<void>((resolve) => {
      cancel = this.#context.system.after(drainMs, resolve);
    });
    await Promise.race([quiet(), drained]);
    cancel();
    await this.endAll("interrupted", "the server stopped");
    await quiet();
  }

  /** Ends the live call of an instance; resolves when that is stored. */
  async endLive(instanceId: string, reason: FailedReason, detail: string): Promise<void> {
    await this.#byInstance.get(instanceId)?.end(reason, detail);
  }

  /** Ends every live call. */
  async endAll(reason: FailedReason, detail: string): Promise<void> {
    await Promise.all([...this.#byCall.values()].map((session) => session.end(reason, detail)));
  }

  #mayDial(instanceId: string): boolean {
    if (!this.#context.lease.mayDial) return false;
    return !this.stopping && !this.#byInstance.has(instanceId) && this.#lines.find(instanceId)?.canDial === true;
  }

  async #dialNext(instanceId: string): Promise<void> {
    const { system } = this.#context;
    const monitor = this.#lines.find(instanceId);
    try {
      if (this.#unanswered.has(instanceId)) await this.#giveBackUnanswered(instanceId);
      const wait = (monitor?.number.full?.until ?? 0) - system.monotonic();
      if (wait > 0) return this.#wakeIn(instanceId, wait);
      const line = await monitor?.line();
      if (!monitor || !line || !this.#mayDial(instanceId)) return this.#preparations.cancel(instanceId);
      const next = this.#preparations.call(instanceId) ?? (await this.#next(instanceId));
      const missed = next && this.#context.standStill.missedBy(next);
      if (next && missed !== undefined) return await this.#block(next, { reason: "instance_offline", detail: missed });
      if (!(await this.#isAllowed(monitor, next)) || !next) return;
      if (this.#ending(next.id) || !this.#mayDial(instanceId)) return; // whoever ends it goes on with it
      this.#preparations.begin(next, monitor.telephony.capabilities.sampleRate ?? USUAL_RATE);
      const prepared = this.#preparations.ready(instanceId);
      if (!prepared) return; // `finished` wakes this instance again
      const call = await this.#claim(instanceId);
      const taken = this.#preparations.ready(instanceId) === prepared ? this.#preparations.take(instanceId) : undefined;
      const mine = call?.id === prepared.callId;
      if (!taken || !mine || this.#ending(call.id) || !this.#mayDial(instanceId)) {
        prepared.message?.cancel();
        if (!call || this.#ending(call.id)) return; // whoever ends it goes on with it
        await this.#giveBack(call);
        return this.wake(instanceId);
      }
      const { number } = monitor;
      number.full = undefined; // this dial will tell
      const asking = () => {
        const missed = this.#context.standStill.missedBy(call);
        if (missed !== undefined) throw new ProgramFailed("instance_offline", missed);
        number.lastDial = { at: system.monotonic() };
      };
      const session = new CallSession(this.#context, call, monitor.telephony, line, prepared.message, asking);
      this.#byInstance.set(instanceId, session);
      this.#byCall.set(call.id, session);
      monitor.setInCall(true);
      const running = session.run().then(() => this.#gone(instanceId, session, number));
      this.#running.set(call.id, running);
      void running.finally(() => this.#running.delete(call.id));
    } catch (error) {
      this.#tryAgain(instanceId, error);
    }
  }

  #tryAgain(instanceId: string, error: unknown): void {
    const level = error instanceof StorageUnavailable ? "warn" : "error";
    this.#context.log[level](
      { instance_id: instanceId, err: error },
      "the next call could not be started; trying again",
    );
    this.#wakeIn(instanceId, RETRY_MS);
  }

  /** The call that is claimed next. */
  async #next(instanceId: string): Promise<Call | undefined> {
    const next = await this.#context.storage.calls.nextWaiting(instanceId);
    return next && !this.#ending(next.id) ? next : undefined;
  }

  /** Whether number protection lets the next call be dialled now; otherwise the call waits for its time, or has ended. */
  async #isAllowed(monitor: LineMonitor, next: Call | undefined): Promise<boolean> {
    const { id } = monitor.instance;
    const { decideNext } = await import("./dial-protection.ts");
    const decision = await decideNext(this.#context, monitor, next);
    if (decision.do === "wait" && next) {
      this.#wakeIn(id, decision.ms);
      this.#held.add(id);
    }
    if (decision.do === "block" && next) await this.#block(next, decision);
    return decision.do === "dial";
  }

  /** Fails a call instead of dialling it. */
  async #block(
    call: Call,
    { reason, detail }: { readonly reason: FailedReason; readonly detail: string },
  ): Promise<void> {
    this.#preparations.cancel(call.instanceId, call.id);
    if (!this.#ending(call.id)) await failCall(this.#context, call, reason, detail);
    this.wake(call.instanceId);
  }

  async #claim(instanceId: string): Promise<Call | undefined> {
    const { storage, system, nodeId } = this.#context;
    try {
      return await storage.calls.claimNext(instanceId, nodeId, system.now());
    } catch (error) {
      this.#unanswered.set(instanceId, system.monotonic() + DOUBT_MS);
      throw error;
    }
  }

  /** A claim whose answer was lost on the way leaves a call that nobody carries, now or a little later: it waits again. */
  async #giveBackUnanswered(instanceId: string): Promise<void> {
    const { storage, system, nodeId } = this.#context;
    for (const call of await storage.calls.claimed(instanceId, nodeId))
      if (!this.#byCall.has(call.id) && !this.#unstored.has(call.id)) await this.#giveBack(call);
    if (system.monotonic() > (this.#unanswered.get(instanceId) ?? 0)) this.#unanswered.delete(instanceId);
    else this.#wakeIn(instanceId, RETRY_MS);
  }

  /** The line went down, or the server began to stop, while the call was being claimed. */
  async #giveBack(claimed: Call): Promise<void> {
    const call = await storeCall(this.#context, claimed, { owner: null, dialingAt: null }, []);
    if (call) this.#requeued(call);
  }

  #wakeIn(instanceId: string, ms: number): void {
    this.#alarms.get(instanceId)?.();
    this.#alarms.delete(instanceId);
    this.#held.delete(instanceId);
    if (this.stopping) return;
    const ring = () => {
      this.#alarms.delete(instanceId);
      this.#held.delete(instanceId);
      this.wake(instanceId);
    };
    this.#alarms.set(instanceId, this.#context.system.after(ms, ring));
  }

  #gone(instanceId: string, session: CallSession, number: NumberState): void {
    if (!session.saved) this.#unstored.add(session.callId);
    this.#byCall.delete(session.callId);
    this.#byInstance.delete(instanceId);
    const monitor = this.#lines.find(instanceId);
    monitor?.setInCall(false);
    const waitsAgain = session.call.owner === null;
    number.full = waitsAgain ? session.lineFull : undefined;
    if (waitsAgain) {
      this.#requeued(session.call);
      this.#wakeIn(instanceId, RETRY_MS);
    } else this.wake(instanceId);
  }
}
