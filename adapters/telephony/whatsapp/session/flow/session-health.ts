import { nextState } from "../../../../../src/base/state-machine.ts";
import type { LineHealth } from "../../../../../src/ports/telephony.ts";
import { NO_RECONNECTS } from "./reconnects.ts";
import {
  SESSION_TRANSITIONS,
  type SessionDecision,
  type SessionEffect,
  type SessionFlow,
  type SessionMove,
} from "./session-transitions.ts";

/** The initial state of a session. */
export const NEW_SESSION: SessionFlow = {
  state: "idle",
  reason: "not linked",
  isLasting: false,
  isStored: false,
  isOpened: false,
  isReopened: false,
  resumingSince: undefined,
  isDisowned: false,
  isEndingCalls: false,
  codes: 0,
  codesUntil: -Infinity,
  pairingUntil: -Infinity,
  restriction: undefined,
  reconnects: NO_RECONNECTS,
  isExplained: false,
};

/** Maximum wait for a connection to open, or to reopen automatically, ms. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** Time for which a number may wait for its turn to log in, ms. */
export const TURN_MS = 30 * 60_000;

/** The line's health. */
export function healthOf({ state, reason, isLasting, isStored, restriction }: SessionFlow): LineHealth {
  if (restriction !== undefined) return { state: "offline", reason: restriction.reason };
  if (state === "online")
    return isStored ? { state: "online" } : { state: "offline", reason: "the link is being stored" };
  const offlineReason = reason ?? "offline";
  return isLasting
    ? { state: "offline", reason: offlineReason, lasting: true }
    : { state: "offline", reason: offlineReason };
}

/** True if the session has a linked number. */
export function isLinked({ state }: SessionFlow): boolean {
  return state !== "idle" && state !== "linking" && state !== "closed";
}

/**
 * Interval for polling the client's state, ms; undefined for no polling. A socket may drop and reopen without an event.
 * The client logs in 2 s later unless the session disconnects it; if it logs in during a call, its socket may close
 * again within moments, and each login counts.
 */
export function pollMs({ state }: SessionFlow): number | undefined {
  if (state === "dropped") return 100;
  return state === "linking" || state === "connecting" || state === "online" ? 1_000 : undefined;
}

/** The flow after a move, which ends a resumption; unchanged if the table has no such move from here. */
export function applyMove(flow: SessionFlow, move: SessionMove, reason: string | null): SessionFlow {
  const state = nextState(SESSION_TRANSITIONS, flow.state, move);
  return state === undefined ? flow : { ...flow, state, reason, isReopened: false, resumingSince: undefined };
}

export function stay(flow: SessionFlow): SessionDecision {
  return { flow, effects: [] };
}

/** Stops waiting for a connection, for codes and for the next attempt. */
export const STOP_WAITING: readonly SessionEffect[] = [
  { do: "stop_timer", timer: "timeout" },
  { do: "stop_timer", timer: "retry" },
];

export const STOP_ALL: readonly SessionEffect[] = [...STOP_WAITING, { do: "stop_timer", timer: "ownership" }];

/** Reports the line as offline, unless its link is not stored yet and thus unknown to the core. */
export function reportOffline(flow: SessionFlow): SessionEffect[] {
  const health = healthOf(flow);
  if (!flow.isStored || health.state === "online") return [];
  return [{ do: "report_offline", reason: health.reason, lasting: health.lasting ?? false }];
}

/** Handles the loss of the link. @param clientEffect treatment of the client */
export function forgetLink(flow: SessionFlow, reason: string, clientEffect: SessionEffect): SessionDecision {
  return {
    flow: { ...NEW_SESSION, state: applyMove(flow, "unlink", reason).state, reason },
    effects: [...STOP_ALL, { do: "calls_lost", reason, isPermanent: true }, clientEffect, { do: "forget" }],
  };
}
