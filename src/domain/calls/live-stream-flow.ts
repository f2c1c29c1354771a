import { nextState, type Transitions } from "../../base/state-machine.ts";

/**
 * State of a live stream. `draining` and `draining_detached`: the client has asked for the end of the call, and the
 * audio that it had sent is still being played.
 */
export type StreamState = "detached" | "attached" | "draining" | "draining_detached" | "over";

/** Inputs of a live stream; `lose`: the client disconnected, or was dropped; `end`: the call has ended. */
export type StreamInput = "attach" | "lose" | "hang_up" | "leave" | "end";

/** Every legal move of a live stream. */
export const STREAM_TRANSITIONS: Transitions<StreamState, StreamInput> = {
  detached: { attach: "attached", end: "over" },
  attached: { lose: "detached", hang_up: "draining", leave: "draining_detached", end: "over" },
  draining: { lose: "draining_detached", leave: "draining_detached", end: "over" },
  draining_detached: { attach: "draining", end: "over" },
  over: {},
};

/** The state after `input`; the same state if the input changes nothing. */
export function nextStreamState(state: StreamState, input: StreamInput): StreamState {
  return nextState(STREAM_TRANSITIONS, state, input) ?? state;
}

/** True if the client has asked for the end of the call. */
export function isDraining(state: StreamState): boolean {
  return state === "draining" || state === "draining_detached";
}
