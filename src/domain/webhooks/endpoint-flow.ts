import { nextState, type Transitions } from "../../base/state-machine.ts";

/**
 * State of a webhook's endpoint. `working`: a round looks for events and for due deliveries; `woken`: another round
 * follows it; `pausing`: the webhook was disabled during a round. While the endpoint is `idle`, a timer may be set.
 */
export type EndpointState = "idle" | "working" | "woken" | "pausing" | "disabled" | "stopped";

/** Input of an endpoint. `finish`: a round has ended; `postpone`: it has failed, or the server may not send now. */
export type EndpointInput = "wake" | "finish" | "postpone" | "enable" | "disable" | "stop";

/** Every legal move of an endpoint. */
export const ENDPOINT_TRANSITIONS: Transitions<EndpointState, EndpointInput> = {
  idle: { wake: "working", enable: "working", disable: "disabled", stop: "stopped" },
  working: { wake: "woken", enable: "woken", finish: "idle", postpone: "idle", disable: "pausing", stop: "stopped" },
  woken: { finish: "working", postpone: "idle", disable: "pausing", stop: "stopped" },
  pausing: { finish: "disabled", postpone: "disabled", enable: "woken", stop: "stopped" },
  disabled: { enable: "working", stop: "stopped" },
  stopped: {},
};

/** `begin_round`: look for events and for due deliveries; `wake_later`: send the input `wake` after a pause. */
export type EndpointEffect = "begin_round" | "wake_later" | "end";

/** Decides the next state of an endpoint and its effects. An input without a move changes nothing. */
export function decideEndpoint(
  state: EndpointState,
  input: EndpointInput,
): { readonly state: EndpointState; readonly effects: readonly EndpointEffect[] } {
  const next = nextState(ENDPOINT_TRANSITIONS, state, input);
  if (next === "working") return { state: next, effects: ["begin_round"] };
  if (next === "idle" && input === "postpone") return { state: next, effects: ["wake_later"] };
  if (next === "stopped") return { state: next, effects: ["end"] };
  return { state: next ?? state, effects: [] };
}

/** True if the endpoint may deliver: its webhook is enabled, and the server is not stopping. */
export function isDelivering(state: EndpointState): boolean {
  return state === "idle" || state === "working" || state === "woken";
}
