import type { Call } from "../../../domain/calls/call.ts";
import { linesInForce } from "../../../domain/instances/queue-capacity.ts";
import type { Context } from "../../context.ts";
import type { LineMonitor } from "../../instances/line-monitor.ts";
import type { CallSession } from "../live/call-session.ts";
import { LaneQueue, type LaneQueueContext, type QueueHost } from "./lane-queue.ts";
import type { Preparations } from "./preparations.ts";

/** Dependencies of {@link InstanceLanes}. */
export type InstanceLanesContext = Pick<Context, "lease" | "policy"> & LaneQueueContext;

/** The dispatcher of the lanes. */
export interface LanesHost
  extends Pick<
    QueueHost,
    "isStopping" | "preparations" | "isEnding" | "onRequeued" | "onStarted" | "onEnded" | "wake"
  > {
  readonly preparations: Preparations<LaneQueue>;
  monitor(instanceId: string): LineMonitor | undefined;
  /** Called when no lane has a call or an alarm. */
  onEmptied(lanes: InstanceLanes): void;
}

/**
 * The lines of one instance, a queue for each. With one line that queue gets every wake. With several, one lane at a
 * time looks for a call; as soon as it prepares or dials one, the next free lane looks for another.
 */
export class InstanceLanes {
  readonly instanceId: string;
  readonly #context: InstanceLanesContext;
  readonly #host: LanesHost;
  readonly #queueHost: QueueHost;
  /** Queues with a call or an alarm, by line. */
  readonly #queues = new Map<number, LaneQueue>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: InstanceLanesContext, instanceId: string, host: LanesHost) {
    this.#context = context;
    this.instanceId = instanceId;
    this.#host = host;
    const { preparations } = host;
    const lanes = this;
    this.#queueHost = {
      get isStopping() {
        return host.isStopping;
      },
      get monitor() {
        return host.monitor(instanceId);
      },
      get canDial() {
        return lanes.#canDial;
      },
      get liveDials() {
        return lanes.sessions.map(({ call }) => call.dialingAt ?? 0);
      },
      preparations,
      runInTurn: (work) => this.#runInTurn(work),
      otherPreparedIds: (queue) =>
        [...this.#queues.values()].flatMap((other) => (other === queue ? [] : (preparations.call(other)?.id ?? []))),
      isEnding: host.isEnding,
      onRequeued: host.onRequeued,
      onStarted: host.onStarted,
      onEnded: host.onEnded,
      wake: host.wake,
      // A lane that is already looking finds the next call itself: waking it again would loop while messages are being
      // prepared.
      onAdvanced: () => {
        if (this.#limit > 1 && !this.#seekingQueue) this.#seek();
      },
      onEmptied: (queue) => this.#remove(queue),
    };
  }

  /** The sessions of the live calls. */
  get sessions(): readonly CallSession[] {
    return [...this.#queues.values()].flatMap(({ session }) => session ?? []);
  }

  /** Resolves when no claim is under way: every claimed call then has its session. */
  get whenIdle(): Promise<unknown> {
    return Promise.all([...this.#queues.values()].map((queue) => queue.whenIdle));
  }

  /** Checks for a call to dial. @param queue the lane that wakes itself; it checks if it already has a call */
  wake(queue?: LaneQueue): void {
    // Only that lane: lanes that look for unconfirmed claims would wake each other forever.
    if (!this.#canDial) this.#forEachQueue((existing) => (queue ?? existing) === existing && existing.wake());
    else if (this.#limit === 1) this.#queue(0).wake();
    else if (queue?.hasBegun) queue.wake();
    else this.#seek();
  }

  onClockSet(): void {
    this.#forEachQueue((queue) => queue.onClockSet());
  }

  /** Notifies the live calls that the line is down. */
  onLineDown(reason: string): void {
    this.#forEachQueue((queue) => queue.onLineDown(reason));
  }

  onLineUp(): void {
    for (const session of this.sessions) session.onLineUp();
  }

  /** Stops preparing a call that is being ended. */
  withdraw({ id }: Pick<Call, "id">): void {
    [...this.#queues.values()].find((queue) => this.#host.preparations.call(queue)?.id === id)?.withdraw();
  }

  /** Cancels the alarms. */
  stop(): void {
    this.#forEachQueue((queue) => queue.stop());
  }

  /** True if the server and the line can take a call. */
  get #canDial(): boolean {
    const { lease } = this.#context;
    return lease.canDial && !this.#host.isStopping && this.#host.monitor(this.instanceId)?.canDial === true;
  }

  /** Number of lines. */
  get #limit(): number {
    return linesInForce(this.#context.policy, this.#host.monitor(this.instanceId)?.telephony.capabilities.lines);
  }

  /**
   * Wakes one free lane to look for a call, unless a lane is already looking, or waits because the number may not dial
   * now.
   */
  #seek(): void {
    if ([...this.#queues.values()].some(({ state }) => state === "waiting")) return;
    const freeLine = this.#seekingQueue?.line ?? this.#freeLine();
    if (freeLine !== undefined) this.#queue(freeLine).wake();
  }

  /** The lane that looks for a call. */
  get #seekingQueue(): LaneQueue | undefined {
    return [...this.#queues.values()].find(({ state }) => state === "starting" || state === "starting_again");
  }

  /** The first line without a call. */
  #freeLine(): number | undefined {
    const limit = this.#limit;
    for (let line = 0; line < limit; line++) if ((this.#queues.get(line)?.state ?? "idle") === "idle") return line;
    return undefined;
  }

  /** Calls `act` with every lane, even if that removes some of them. */
  #forEachQueue(act: (queue: LaneQueue) => void): void {
    for (const queue of [...this.#queues.values()]) act(queue);
    if (this.#queues.size === 0) this.#host.onEmptied(this);
  }

  #runInTurn(work: () => Promise<void>): Promise<void> {
    if (this.#limit === 1) return work();
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #queue(line: number): LaneQueue {
    const queue = this.#queues.get(line) ?? new LaneQueue(this.#context, this.instanceId, line, this.#queueHost);
    this.#queues.set(line, queue);
    return queue;
  }

  #remove(queue: LaneQueue): void {
    if (this.#queues.get(queue.line) === queue) this.#queues.delete(queue.line);
    if (this.#queues.size === 0) this.#host.onEmptied(this);
  }
}
