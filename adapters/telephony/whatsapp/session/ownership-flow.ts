import { DEADLINE_PASSED } from "../../../../src/ports/telephony.ts";
import { forgotten, moved, reportOffline, stay } from "./session-state.ts";
import type { SessionDecision, SessionEffect, SessionFlow } from "./session-types.ts";

/** How soon a server that may not act for the number is asked again whether it may, ms: a renewal may only be late. */
export const OWNERSHIP_MS = 2_000;

/** The lease was not renewed in time; if it is not renewed soon, the server has lost the number. */
export function doubtful(flow: SessionFlow): SessionDecision {
  if (flow.disowned || flow.state === "idle" || flow.state === "halted") return stay(flow);
  const timer: SessionEffect = { do: "start_timer", timer: "ownership", ms: OWNERSHIP_MS };
  return { flow: { ...flow, disowned: true }, effects: [timer] };
}

/** Another server may act for the number by now, so this one must not. */
export function disowned(before: SessionFlow): SessionDecision {
  const flow = { ...before, disowned: false };
  if (flow.state === "idle" || flow.state === "halted") return stay(flow);
  if (flow.state === "linking") return forgotten(flow, DEADLINE_PASSED, { do: "drop_client" });
  const reconnects = { ...flow.reconnects, upSince: undefined };
  const next: SessionFlow = {
    ...moved(flow, "lose", DEADLINE_PASSED),
    ...{ lasting: false, opened: false, reconnects },
  };
  return {
    flow: next,
    effects: [
      { do: "disconnect" },
      { do: "stop_timer", timer: "patience" },
      ...reportOffline(next),
      { do: "calls_lost", reason: DEADLINE_PASSED, final: true },
      { do: "start_timer", timer: "retry", ms: OWNERSHIP_MS },
    ],
  };
}
