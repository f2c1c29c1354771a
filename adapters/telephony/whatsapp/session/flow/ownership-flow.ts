import { DEADLINE_PASSED } from "../../../../../src/ports/telephony.ts";
import { applyMove, forgetLink, reportOffline, stay } from "./session-health.ts";
import type { Moment, SessionDecision, SessionEffect, SessionFlow } from "./session-transitions.ts";

/** Time until a server that may not act for the number checks again, ms: the renewal may just be late. */
export const OWNERSHIP_MS = 2_000;
/** Time limit for calls to hang up, after which the connection is abandoned, ms. */
export const HANG_UP_MS = 1_000;

/** Handles a lease that was not renewed in time; without a renewal soon, the server loses the number. */
export function checkOwnershipSoon(flow: SessionFlow): SessionDecision {
  if (flow.isDisowned || flow.state === "idle" || flow.state === "halted") return stay(flow);
  const timer: SessionEffect = { do: "start_timer", timer: "ownership", ms: OWNERSHIP_MS };
  return { flow: { ...flow, isDisowned: true }, effects: [timer] };
}

/**
 * Gives up the number, for which another server may already act. Its calls hang up first: no other process can end
 * them.
 */
export function giveUpNumber(before: SessionFlow, { inCall }: Pick<Moment, "inCall">): SessionDecision {
  if (inCall && before.isOpened && !before.isEndingCalls)
    return {
      flow: { ...before, isDisowned: true, isEndingCalls: true },
      effects: [
        { do: "start_timer", timer: "ownership", ms: HANG_UP_MS },
        { do: "end_calls", reason: DEADLINE_PASSED },
      ],
    };
  const flow = { ...before, isDisowned: false, isEndingCalls: false };
  // A waiting session is not connected, and its next attempt checks again; a restriction must not end early.
  if (flow.state === "idle" || flow.state === "halted" || flow.state === "waiting") return stay(flow);
  if (flow.state === "linking") return forgetLink(flow, DEADLINE_PASSED, { do: "drop_client" });
  const reconnects = { ...flow.reconnects, upSince: undefined };
  const next: SessionFlow = {
    ...applyMove(flow, "lose", DEADLINE_PASSED),
    ...{ isLasting: false, isOpened: false, reconnects },
  };
  return {
    flow: next,
    effects: [
      { do: "disconnect" },
      { do: "stop_timer", timer: "timeout" },
      { do: "stop_timer", timer: "ownership" },
      ...reportOffline(next),
      { do: "calls_lost", reason: DEADLINE_PASSED, isPermanent: true },
      { do: "start_timer", timer: "retry", ms: OWNERSHIP_MS },
    ],
  };
}
