import { nextState, type Transitions } from "../../base/state-machine.ts";

/**
 * State of an agent's turn on a call. `open`: agent and callee take turns. `held`: the agent pauses, because the callee
 * may be interrupting. `ending`: the last words are queued. `machine_records`: the agent leaves its message.
 */
export const AGENT_TURN_STATES = [
  "open",
  "held",
  "transferring",
  "ending",
  "machine_greets",
  "machine_records",
  "message_left",
  "over",
] as const;
export type AgentTurnState = (typeof AGENT_TURN_STATES)[number];

/**
 * An event of an agent's turn. `hold`: the callee may be interrupting; `release`: it was a false alarm; `stop`: the
 * call has ended.
 */
export type AgentTurnInput =
  | "hold"
  | "release"
  | "interrupt"
  | "replace"
  | "transfer"
  | "transfer_failed"
  | "end"
  | "greet"
  | "record"
  | "stop";

/** Every legal move of an agent's turn. */
export const AGENT_TURN_TRANSITIONS: Transitions<AgentTurnState, AgentTurnInput> = {
  open: {
    hold: "held",
    interrupt: "open",
    replace: "open",
    transfer: "transferring",
    end: "ending",
    greet: "machine_greets",
    stop: "over",
  },
  held: {
    release: "open",
    interrupt: "open",
    replace: "open",
    transfer: "transferring",
    end: "ending",
    greet: "machine_greets",
    stop: "over",
  },
  transferring: {
    transfer_failed: "open",
    replace: "transferring",
    end: "ending",
    greet: "machine_greets",
    stop: "over",
  },
  ending: { greet: "machine_greets", stop: "over" },
  machine_greets: { record: "machine_records", stop: "over" },
  machine_records: { replace: "machine_records", end: "message_left", stop: "over" },
  message_left: { stop: "over" },
  over: {},
};

/**
 * An effect on the agent's speech. `hold` pauses it and keeps the unheard part; `release` plays that part; `cut`
 * drops it; `finish` reports the words that were heard.
 */
export type AgentTurnEffect = "hold" | "release" | "cut" | "finish";

const NO_EFFECTS: readonly AgentTurnEffect[] = [];

/** The next state and its effects, in order; undefined if the input changes nothing. */
export function decideAgentTurn(
  state: AgentTurnState,
  input: AgentTurnInput,
): { readonly state: AgentTurnState; readonly effects: readonly AgentTurnEffect[] } | undefined {
  const next = nextState(AGENT_TURN_TRANSITIONS, state, input);
  return next && { state: next, effects: effectsOf(state, input) };
}

function effectsOf(state: AgentTurnState, input: AgentTurnInput): readonly AgentTurnEffect[] {
  switch (input) {
    case "hold":
      return ["hold"];
    case "interrupt":
    case "replace":
    case "greet":
      return state === "held" ? ["cut"] : ["hold", "cut"];
    case "stop":
      return state === "held" ? ["finish"] : ["hold", "finish"];
    default:
      return state === "held" ? ["release"] : NO_EFFECTS;
  }
}

/**
 * True if the callee can change the course of the call: the agent is not ending it, transferring it, or talking to a
 * machine.
 */
export function isOpenTurn(state: AgentTurnState): boolean {
  return state === "open" || state === "held";
}

/** True if a machine has answered the call. */
export function isMachineTurn(state: AgentTurnState): boolean {
  return state === "machine_greets" || state === "machine_records" || state === "message_left";
}
