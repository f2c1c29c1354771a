import { disconnect } from "./lost-connections.ts";
import { checkOwnershipSoon } from "./ownership-flow.ts";
import {
  isUnstable,
  loginBudgetMs,
  withConnectionLost,
  withConnectionUp,
  withLogin,
  withResumption,
} from "./reconnects.ts";
import {
  applyMove,
  CONNECT_TIMEOUT_MS,
  healthOf,
  isLinked,
  reportOffline,
  STOP_WAITING,
  stay,
} from "./session-health.ts";
import type { LiveState, Moment, SessionDecision, SessionEffect, SessionFlow } from "./session-transitions.ts";

/** Decides the effect of the client's current state: no other input makes a session online. */
export function decideLive(flow: SessionFlow, live: LiveState, moment: Moment): SessionDecision {
  // A waiting session is not connected, and its next attempt checks whether this server may act for the number.
  return moment.isOwner || flow.state === "waiting"
    ? decideOwned(flow, live, moment)
    : decideDisowned(flow, live, moment);
}

function decideOwned(flow: SessionFlow, { isOpen, connected, registered }: LiveState, moment: Moment): SessionDecision {
  const isWorking = flow.isOpened && connected && registered;
  if (flow.state === "online" && isWorking) return stay({ ...flow, resumingSince: undefined });
  if (flow.state === "online") return isResuming(flow, isOpen, moment.now) ? stay(flow) : decideDropped(flow, moment);
  if (flow.state === "connecting" && flow.isOpened && !isOpen) return disconnect(flow, CONNECTION_DROPPED, moment);
  if (flow.state === "dropped" && !isWorking) return decideStillDropped(flow, isOpen, moment);
  if (!isWorking || !isLinked(flow) || flow.state === "halted") return stay(flow);
  const reconnects = withConnectionUp(flow.reconnects, moment.now);
  const next: SessionFlow = { ...applyMove(flow, "open", null), isLasting: false, restriction: undefined, reconnects };
  const report: SessionEffect[] = healthOf(next).state === "online" ? [{ do: "report_online" }] : [];
  return { flow: next, effects: [...STOP_WAITING, ...report, { do: "calls_restored" }] };
}

/** Time limit for opening the socket of a connection that WhatsApp has requested, ms. */
const REOPENING_MS = 4_000;

function isResuming({ resumingSince }: SessionFlow, isOpen: boolean, now: number): boolean {
  return resumingSince !== undefined && (isOpen || now - resumingSince < REOPENING_MS);
}

/** The line never comes online while the server may not act for the number, but a drop is still noticed. */
function decideDisowned(flow: SessionFlow, live: LiveState, moment: Moment): SessionDecision {
  const { flow: disownedFlow, effects } = checkOwnershipSoon(flow);
  if (disownedFlow.state !== "online") return { flow: disownedFlow, effects };
  const next = decideOwned(disownedFlow, live, moment);
  return { flow: next.flow, effects: [...effects, ...next.effects] };
}

/** A connection that ended without a reason. */
export const CONNECTION_DROPPED = { kind: "temporary", reason: "the connection to WhatsApp dropped" } as const;

/**
 * Handles a socket that dropped without an event. The client would log in every 2 s, so it is disconnected, and logs in
 * at its turn; during a call the current client is needed, which then logs in automatically.
 */
function decideDropped(flow: SessionFlow, moment: Moment): SessionDecision {
  const { reason } = CONNECTION_DROPPED;
  const reconnects = withConnectionLost(flow.reconnects, moment.now);
  if (!moment.inCall || isUnstable(reconnects, moment.now) || loginBudgetMs(reconnects, moment.now) > 0)
    return disconnect({ ...flow, reconnects }, CONNECTION_DROPPED, moment);
  const next = { ...applyMove(flow, "drop", reason), reconnects: withLogin(reconnects, moment.now) };
  const effects: SessionEffect[] = [
    { do: "start_timer", timer: "timeout", ms: CONNECT_TIMEOUT_MS },
    ...reportOffline(next),
  ];
  return { flow: next, effects: [...effects, { do: "calls_lost", reason, isPermanent: false }] };
}

/**
 * Handles a socket that is still closed. The client reopens it every 2 s until WhatsApp accepts a login, and each login
 * counts.
 */
function decideStillDropped(flow: SessionFlow, isOpen: boolean, moment: Moment): SessionDecision {
  if (isOpen || !flow.isReopened) return stay({ ...flow, isReopened: isOpen });
  const reconnects = withResumption(flow.reconnects, moment);
  return reconnects === undefined
    ? disconnect(flow, CONNECTION_DROPPED, moment)
    : stay({ ...flow, isReopened: false, reconnects });
}
