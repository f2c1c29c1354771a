import type { Call } from "../../../domain/calls/call.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import type { Context } from "../../context.ts";
import type { Lines } from "../../instances/lines.ts";
import { WallClock } from "../../wall-clock.ts";
import type { CallSession } from "../live/call-session.ts";
import { InstanceQueue, type InstanceQueueContext, type QueueHost } from "./instance-queue.ts";
import { Preparations } from "./preparations.ts";

type DispatcherContext = Pick<Context, "system"> & InstanceQueueContext;

interface LiveCall {
  readonly session: CallSession;
  readonly whenEnded: Promise<void>;
}

/**
 * Starts queued calls with a queue for each instance. Instances do not wait for each other. It is woken by events
 * (a call created, a line online, a leg released) and never scans.
 */
export class Dispatcher {
  readonly #context: DispatcherContext;
  readonly #host: QueueHost;
  readonly #preparations: Preparations;
  readonly #wallClock: WallClock;
  readonly #queues = new Map<string, InstanceQueue>();
  /** By call. */
  readonly #liveCalls = new Map<string, LiveCall>();
  isStopping = false;

  /**
   * @param onRequeued called with each claimed call that waits again
   * @param isEnding returns true if a call is ending, although that is not stored yet: it is not dialled
   */
  constructor(
    context: DispatcherContext,
    lines: Lines,
    onRequeued: (call: Call) => void,
    isEnding: (callId: string) => boolean,
  ) {
    this.#context = context;
    this.#wallClock = new WallClock(context.system);
    this.#preparations = new Preparations(context, {
      onFinished: (instanceId) => this.wake(instanceId),
      onUnavailable: (instanceId, error) => this.#queue(instanceId).tryAgain(error),
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
      onStarted: (session, ended) => this.#liveCalls.set(session.callId, { session, whenEnded: ended }),
      onEnded: ({ callId }) => this.#liveCalls.delete(callId),
      wake: (instanceId) => this.wake(instanceId),
      onEmptied: (queue) => {
        if (this.#queues.get(queue.instanceId) === queue) this.#queues.delete(queue.instanceId);
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

  /** Checks for a call of the instance to dial. */
  wake(instanceId: string): void {
    if (this.#wallClock.takeJumpMs() !== 0) for (const queue of this.#queues.values()) queue.clockSet();
    this.#queue(instanceId).wake();
  }

  /** Resolves when no claim is under way: a claimed call has its session then. */
  async whenIdle(instanceId: string): Promise<void> {
    await this.#queues.get(instanceId)?.whenIdle;
  }

  /** Resolves when no session works on the call. */
  async whenReleased(callId: string): Promise<void> {
    await this.#liveCalls.get(callId)?.whenEnded;
  }

  /** Stops preparing a call that is being ended. */
  withdraw({ id, instanceId }: Pick<Call, "id" | "instanceId">): void {
    if (this.#preparations.call(instanceId)?.id === id) this.#queue(instanceId).withdraw();
  }

  /** Passes a report of the line on to the live call. */
  lineDown(instanceId: string, reason: string): void {
    this.#queue(instanceId).lineDown(reason);
  }

  lineUp(instanceId: string): void {
    this.#queues.get(instanceId)?.session?.lineUp();
    this.wake(instanceId);
  }

  /** Stops dialling, lets live calls continue for `drainMs`, then ends them as `interrupted`. */
  async stop(drainMs: number): Promise<void> {
    this.isStopping = true;
    for (const queue of this.#queues.values()) queue.stop();
    const preparationsStopped = this.#preparations.stop();
    const allEnded = async () => {
      await preparationsStopped;
      await Promise.all([...this.#queues.values()].map((queue) => queue.whenIdle));
      await Promise.all([...this.#liveCalls.values()].map(({ whenEnded: ended }) => ended));
    };
    let cancel = () => {};
    const drainTimeout = new Promise<void>((resolve) => {
      cancel = this.#context.system.after(drainMs, resolve);
    });
    await Promise.race([allEnded(), drainTimeout]);
    cancel();
    await this.endAll("interrupted", "the server stopped");
    await allEnded();
  }

  /** Ends the live call of an instance; resolves when that is stored. */
  async endLive(instanceId: string, reason: FailedReason, detail: string): Promise<void> {
    await this.#queues.get(instanceId)?.session?.end(reason, detail);
  }

  /** Ends every live call. */
  async endAll(reason: FailedReason, detail: string): Promise<void> {
    await Promise.all([...this.#liveCalls.values()].map(({ session }) => session.end(reason, detail)));
  }

  #queue(instanceId: string): InstanceQueue {
    const queue = this.#queues.get(instanceId) ?? new InstanceQueue(this.#context, instanceId, this.#host);
    this.#queues.set(instanceId, queue);
    return queue;
  }
}
