import type { Call } from "../../../domain/calls/call.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import type { Context } from "../../context.ts";
import type { Lines } from "../../instances/lines.ts";
import { WallClock } from "../../wall-clock.ts";
import type { CallSession } from "../live/call-session.ts";
import { InstanceLanes, type InstanceLanesContext, type LanesHost } from "./instance-lanes.ts";
import type { LaneQueue } from "./lane-queue.ts";
import { Preparations } from "./preparations.ts";

type DispatcherContext = Pick<Context, "system"> & InstanceLanesContext;

interface LiveCall {
  readonly session: CallSession;
  readonly whenEnded: Promise<void>;
}

/**
 * Starts queued calls with a queue for each line of each instance. Instances do not wait for each other. It is woken by
 * events (a call created, a line online, a leg released) and never scans.
 */
export class Dispatcher {
  readonly #context: DispatcherContext;
  readonly #host: LanesHost;
  readonly #preparations: Preparations<LaneQueue>;
  readonly #wallClock: WallClock;
  /** By instance. */
  readonly #lanes = new Map<string, InstanceLanes>();
  /** By call. */
  readonly #liveCalls = new Map<string, LiveCall>();
  isStopping = false;

  /**
   * @param onRequeued called with each claimed call that returns to its queue
   * @param isEnding returns true if a call is ending, even if that is not stored yet: it must not be dialled
   */
  constructor(
    context: DispatcherContext,
    lines: Lines,
    onRequeued: (call: Call) => void,
    isEnding: (callId: string) => boolean,
  ) {
    this.#context = context;
    this.#wallClock = new WallClock(context.system);
    this.#preparations = new Preparations<LaneQueue>(context, {
      onFinished: (queue) => {
        this.#checkClock();
        queue.wake();
      },
      onUnavailable: (queue, error) => queue.tryAgain(error),
    });
    const hasStopped = () => this.isStopping;
    this.#host = {
      get isStopping() {
        return hasStopped();
      },
      preparations: this.#preparations,
      monitor: (instanceId) => lines.find(instanceId),
      isEnding,
      onRequeued,
      onStarted: (session, whenEnded) => this.#liveCalls.set(session.callId, { session, whenEnded }),
      onEnded: ({ callId }) => this.#liveCalls.delete(callId),
      wake: (queue) => this.wake(queue.instanceId, queue),
      onEmptied: (lanes) => {
        if (this.#lanes.get(lanes.instanceId) === lanes) this.#lanes.delete(lanes.instanceId);
      },
    };
  }

  /** Number of live calls. */
  get liveCount(): number {
    return this.#liveCalls.size;
  }

  /** The live session of a call. */
  session(callId: string): CallSession | undefined {
    return this.#liveCalls.get(callId)?.session;
  }

  /** Checks for a call of the instance to dial. @param queue the lane that checks, if it already has a call */
  wake(instanceId: string, queue?: LaneQueue): void {
    this.#checkClock();
    this.#lanesOf(instanceId).wake(queue);
  }

  /** Resolves when no claim is under way: every claimed call then has its session. */
  async whenIdle(instanceId: string): Promise<void> {
    await this.#lanes.get(instanceId)?.whenIdle;
  }

  /** Resolves when no session works on the call. */
  async whenReleased(callId: string): Promise<void> {
    await this.#liveCalls.get(callId)?.whenEnded;
  }

  /** Stops preparing a call that is being ended. */
  withdraw(call: Pick<Call, "id" | "instanceId">): void {
    this.#lanes.get(call.instanceId)?.withdraw(call);
  }

  /** Notifies the live calls that the line is down. */
  onLineDown(instanceId: string, reason: string): void {
    this.#lanes.get(instanceId)?.onLineDown(reason);
  }

  onLineUp(instanceId: string): void {
    this.#lanes.get(instanceId)?.onLineUp();
    this.wake(instanceId);
  }

  /** Stops dialling, lets live calls continue for `drainMs`, then ends them as `interrupted`. */
  async stop(drainMs: number): Promise<void> {
    this.isStopping = true;
    for (const lanes of this.#lanes.values()) lanes.stop();
    const preparationsStopped = this.#preparations.stop();
    const whenAllEnded = async () => {
      await preparationsStopped;
      await Promise.all([...this.#lanes.values()].map((lanes) => lanes.whenIdle));
      await Promise.all([...this.#liveCalls.values()].map(({ whenEnded }) => whenEnded));
    };
    let cancel = () => {};
    const drainTimeout = new Promise<void>((resolve) => {
      cancel = this.#context.system.after(drainMs, resolve);
    });
    await Promise.race([whenAllEnded(), drainTimeout]);
    cancel();
    await this.endAll("interrupted", "the server stopped");
    await whenAllEnded();
  }

  /** Ends the live calls of an instance; resolves when that is stored. */
  async endLive(instanceId: string, reason: FailedReason, detail: string): Promise<void> {
    const sessions = this.#lanes.get(instanceId)?.sessions ?? [];
    await Promise.all(sessions.map((session) => session.end(reason, detail)));
  }

  /** Ends every live call. */
  async endAll(reason: FailedReason, detail: string): Promise<void> {
    await Promise.all([...this.#liveCalls.values()].map(({ session }) => session.end(reason, detail)));
  }

  /** Checks again for calls if the wall clock was changed, because waits may be too long. */
  #checkClock(): void {
    if (this.#wallClock.takeJumpMs() !== 0) for (const lanes of this.#lanes.values()) lanes.onClockSet();
  }

  #lanesOf(instanceId: string): InstanceLanes {
    const lanes = this.#lanes.get(instanceId) ?? new InstanceLanes(this.#context, instanceId, this.#host);
    this.#lanes.set(instanceId, lanes);
    return lanes;
  }
}
