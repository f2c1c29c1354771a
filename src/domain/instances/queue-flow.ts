import { nextState, type Transitions } from "../../base/state-machine.ts";

/**
 * The queue of one instance, decided by a pure function: a state and an input determine the next state and the effects.
 * `LaneQueue` carries the effects out.
 */
export interface QueueFlow {
  readonly state: QueueState;
  /** Latest time at which the database may still carry out an unconfirmed claim, on the monotonic clock, ms. */
  readonly unconfirmedUntil: number | undefined;
}

/**
 * State of an instance's queue. `preparing`: the next call waits for its message; `waiting`: for the pace or the
 * protection of the number; `starting`: the next call is looked up, claimed and dialled; `busy`: a call is live;
 * `checking`: a call is live, and an unconfirmed claim is looked up.
 */
export type QueueState = "idle" | "preparing" | "waiting" | "starting" | "starting_again" | "busy" | "checking";

/** Inputs of an instance's queue. */
export type QueueMove = "wake" | "release" | "prepare" | "hold" | "dial" | "rest" | "end" | "requeue";

/** Every legal move of an instance's queue. */
export const QUEUE_TRANSITIONS: Transitions<QueueState, QueueMove> = {
  idle: { wake: "starting" },
  preparing: { wake: "starting", release: "idle" },
  waiting: { release: "idle" },
  starting: { wake: "starting_again", prepare: "preparing", hold: "waiting", dial: "busy", rest: "idle" },
  starting_again: { prepare: "preparing", hold: "waiting", dial: "busy", rest: "idle" },
  busy: { wake: "checking", end: "idle", requeue: "idle" },
  checking: { rest: "busy", end: "starting_again", requeue: "starting" },
};

export type QueueInput =
  /**
   * Something has changed. `canDial`: the server and the line take a call; `isStopping`: the server has stopped
   * dialling.
   */
  | { readonly type: "wake"; readonly canDial: boolean; readonly isStopping: boolean }
  | { readonly type: "alarm" }
  /** The wall clock was set: a wait may be longer than necessary. */
  | { readonly type: "clock_set" }
  /** The line cannot dial; another number may be linked. */
  | { readonly type: "line_down" }
  /** The call that is being prepared is ending. */
  | { readonly type: "withdraw" }
  /** The next call cannot be started now. */
  | { readonly type: "retry"; readonly ms: number }
  /** The message of the next call is not ready. */
  | { readonly type: "prepare" }
  /** The next call must wait for its time. */
  | { readonly type: "hold"; readonly ms: number }
  | { readonly type: "dial" }
  /** The search for the next call, or for an unconfirmed claim, has ended. */
  | { readonly type: "rest" }
  /** The live call has ended. */
  | { readonly type: "end" }
  /** The live call has returned to the queue. */
  | { readonly type: "requeue" }
  /** The database has not confirmed a claim. */
  | { readonly type: "claim_unconfirmed"; readonly now: number }
  /** Claims without a session were looked up, and returned to the queue. */
  | { readonly type: "claims_checked"; readonly now: number };

export type QueueEffect =
  /** Look for an unconfirmed claim, then for the next call. */
  | { readonly do: "look" }
  /** Send the input `wake`. */
  | { readonly do: "wake" }
  /** Send the input `alarm`, instead of an earlier one. */
  | { readonly do: "wake_in"; readonly ms: number }
  | { readonly do: "cancel_preparation" };

export interface QueueDecision {
  readonly flow: QueueFlow;
  readonly effects: readonly QueueEffect[];
}

/** Time until the next attempt to start a call, ms. */
export const RETRY_MS = 1_000;
/** Maximum time during which the database may still carry out an unconfirmed claim, ms. */
export const UNCONFIRMED_MS = 20_000;

/** The queue of an instance before its first call. */
export const NEW_QUEUE: QueueFlow = { state: "idle", unconfirmedUntil: undefined };

/** Decides the next state of the queue and the effects of an input. */
export function decideQueue(flow: QueueFlow, input: QueueInput): QueueDecision {
  switch (input.type) {
    case "wake":
      return onWake(flow, input);
    case "alarm":
      return { flow: afterMove(flow, "release"), effects: [{ do: "wake" }] };
    case "clock_set":
      return { flow: flow.state === "waiting" ? afterMove(flow, "release") : flow, effects: [] };
    case "line_down":
      return { flow: afterMove(flow, "release"), effects: [{ do: "cancel_preparation" }] };
    case "withdraw":
      return {
        flow: flow.state === "preparing" ? afterMove(flow, "release") : flow,
        effects: [{ do: "cancel_preparation" }],
      };
    case "retry":
      return { flow: afterMove(flow, "release"), effects: [{ do: "wake_in", ms: input.ms }] };
    case "hold":
      return { flow: afterMove(flow, "hold"), effects: [{ do: "wake_in", ms: input.ms }, ...wakeAfterCheck(flow)] };
    case "prepare":
    case "dial":
    case "rest":
      return { flow: afterMove(flow, input.type), effects: wakeAfterCheck(flow) };
    case "end":
      return { flow: afterMove(flow, "end"), effects: flow.state === "busy" ? [{ do: "wake" }] : [] };
    case "requeue":
      return { flow: afterMove(flow, "requeue"), effects: [{ do: "wake_in", ms: RETRY_MS }] };
    case "claim_unconfirmed":
      return { flow: { ...flow, unconfirmedUntil: input.now + UNCONFIRMED_MS }, effects: [] };
    case "claims_checked":
      if (input.now > (flow.unconfirmedUntil ?? 0))
        return { flow: { ...flow, unconfirmedUntil: undefined }, effects: [] };
      return { flow, effects: [{ do: "wake_in", ms: RETRY_MS }] };
  }
}

function onWake(
  flow: QueueFlow,
  { canDial, isStopping }: { readonly canDial: boolean; readonly isStopping: boolean },
): QueueDecision {
  if (flow.state === "starting") return { flow: afterMove(flow, "wake"), effects: [] };
  if (flow.state === "starting_again" || flow.state === "checking") return { flow, effects: [] };
  const mustCheck = flow.unconfirmedUntil !== undefined && !isStopping;
  const mayDial = canDial && flow.state !== "busy";
  if (!mayDial && !mustCheck) return { flow: afterMove(flow, "release"), effects: [{ do: "cancel_preparation" }] };
  const next = afterMove(flow, "wake");
  return { flow: next, effects: next === flow ? [] : [{ do: "look" }] };
}

/** A wake during the check takes effect after it. */
function wakeAfterCheck({ state }: QueueFlow): readonly QueueEffect[] {
  return state === "starting_again" ? [{ do: "wake" }] : [];
}

/** The flow after a move; unchanged if the table has no such move from this state. */
function afterMove(flow: QueueFlow, move: QueueMove): QueueFlow {
  const state = nextState(QUEUE_TRANSITIONS, flow.state, move);
  return state === undefined ? flow : { ...flow, state };
}
