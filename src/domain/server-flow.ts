import { nextState, type Transitions } from "../base/state-machine.ts";

/**
 * State of a server. `standby`: another server owns the database, so the start waits. `lost`: the lease was lost, and
 * the application ends. `stopping`: live calls end, and requests are still served.
 */
export type ServerState = "new" | "starting" | "standby" | "owner" | "lost" | "stopping" | "stopped";

/** Input of a server's life cycle. `close`: its live calls have ended. */
export type ServerInput = "start" | "wait" | "own" | "fail" | "lose" | "stop" | "close";

/** Every legal move of a server. */
export const SERVER_TRANSITIONS: Transitions<ServerState, ServerInput> = {
  new: { start: "starting", stop: "stopping" },
  starting: { wait: "standby", own: "owner", fail: "new", stop: "stopping" },
  standby: { own: "owner", fail: "new", stop: "stopping" },
  owner: { lose: "lost", stop: "stopping" },
  lost: { own: "owner", stop: "stopping" },
  stopping: { close: "stopped" },
  stopped: {},
};

/**
 * `refuse_callers`: callers that wait for the first start; `restart`: own the database again; `exit`: stop, and report
 * why.
 */
export type ServerEffect = "refuse_callers" | "restart" | "exit";

/** Decides the next state of a server and its effects. An input without a move changes nothing. */
export function decideServer(
  state: ServerState,
  input: ServerInput,
  onLeaseLost: "restart" | "exit",
): { readonly state: ServerState; readonly effects: readonly ServerEffect[] } {
  const next = nextState(SERVER_TRANSITIONS, state, input);
  if (next === "standby") return { state: next, effects: ["refuse_callers"] };
  if (next === "lost") return { state: next, effects: ["refuse_callers", onLeaseLost] };
  return { state: next ?? state, effects: [] };
}
