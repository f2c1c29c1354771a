import type { LineCondition } from "../../../../../src/ports/telephony.ts";
import { type FaultKind, isUnstable, NO_RECONNECTS, type Reconnects, waitMs, withFailedAttempt } from "./reconnects.ts";
import { applyMove, reportOffline, STOP_WAITING } from "./session-health.ts";
import type { Moment, SessionDecision, SessionEffect, SessionFlow } from "./session-transitions.ts";

/** The reason for a lost connection. Its kind sets the length of the wait before the next login. */
export interface Loss {
  readonly kind: FaultKind;
  readonly reason: string;
}

/** Closes the session until a user requests another attempt. */
export function halt(flow: SessionFlow, reason: string, condition?: LineCondition): SessionDecision {
  const reconnects = { ...NO_RECONNECTS, logins: flow.reconnects.logins };
  const next: SessionFlow = {
    ...applyMove(flow, "halt", reason),
    ...{ isLasting: true, isOpened: false, restriction: undefined, reconnects },
  };
  const effects: SessionEffect[] = [...STOP_WAITING, { do: "disconnect" }, ...reportOffline(next)];
  if (condition !== undefined || flow.restriction !== undefined)
    effects.push({ do: "report_condition", condition, reason });
  effects.push({ do: "calls_lost", reason, isPermanent: true }, { do: "log", level: "error", message: reason });
  return { flow: next, effects };
}

/** Waits until the next login. */
export function waitForLogin(before: SessionFlow, { kind, reason }: Loss, { now, chance }: Moment): SessionDecision {
  const isLasting = kind === "outdated"; // WhatsApp refuses the client's version
  const keepsDropping = isUnstable(before.reconnects, now);
  const reconnects: Reconnects = { ...withFailedAttempt(before.reconnects, kind), isInstabilityLogged: keepsDropping };
  const next: SessionFlow = {
    ...applyMove(before, "lose", reason),
    ...{ isLasting, isOpened: false, restriction: undefined, reconnects },
  };
  const effects: SessionEffect[] = [{ do: "stop_timer", timer: "timeout" }, ...reportOffline(next)];
  // The problem has changed, unless the next attempt fails in the same way.
  if ((before.isLasting || before.restriction !== undefined) && !isLasting)
    effects.push({ do: "report_condition", condition: undefined, reason });
  if (isLasting) {
    effects.push({ do: "report_condition", condition: "client_outdated", reason });
    effects.push({ do: "log", level: "error", message: reason });
  }
  effects.push({ do: "calls_lost", reason, isPermanent: false });
  if (keepsDropping && !before.reconnects.isInstabilityLogged)
    effects.push({ do: "log", level: "warn", message: "the connection to WhatsApp keeps dropping" });
  const ms = waitMs(kind, reconnects, now, chance);
  return { flow: next, effects: [...effects, { do: "start_timer", timer: "retry", ms }] };
}

/** Closes the connection, so that the client does not log in automatically, and opens it again later. */
export function disconnect(flow: SessionFlow, loss: Loss, moment: Moment): SessionDecision {
  const { flow: next, effects } = waitForLogin(flow, loss, moment);
  return { flow: next, effects: [{ do: "disconnect" }, ...effects] };
}
