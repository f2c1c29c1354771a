import type { PastLogins } from "../records/past-logins.ts";
import { utc } from "../utc.ts";
import { type LoginRefusal, linkRefusal, staysClosed } from "./closings.ts";
import { decideLinking } from "./linking-flow.ts";
import { disconnect } from "./lost-connections.ts";
import {
  MAX_RESTRICTION_MS,
  restrictionMs,
  withConnectionLost,
  withFailedAttempt,
  withPastLogins,
} from "./reconnects.ts";
import { applyMove, isLinked, reportOffline, stay } from "./session-health.ts";
import type { Moment, SessionDecision, SessionEffect, SessionFlow } from "./session-transitions.ts";

/**
 * Handles a refused login. After most refusals the client logs in again every 2 s until it is disconnected, which harms
 * the number more than the refusal, so it is disconnected immediately.
 */
export function decideLoginRefusal(flow: SessionFlow, refusal: LoginRefusal, moment: Moment): SessionDecision {
  if (staysClosed(refusal.code)) return stay(flow); // the client's closing follows
  if (flow.state === "waiting" || flow.state === "halted") return { flow, effects: [{ do: "disconnect" }] };
  if (refusal.code === 402) return restrict(flow, refusal.expiresInMs, moment);
  const closing = linkRefusal(refusal);
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (!isLinked(flow)) return stay(flow);
  return disconnect({ ...flow, reconnects: withConnectionLost(flow.reconnects, moment.now) }, closing, moment);
}

/** Keeps the number disconnected until the restriction has ended; the next accepted login clears it. */
function restrict(before: SessionFlow, expiresInMs: number | undefined, moment: Moment): SessionDecision {
  const until = expiresInMs === undefined ? "for a while" : `until ${utc(moment.wallTime + expiresInMs)}`;
  const reason = `WhatsApp has restricted the number ${until} (402)`;
  if (before.state === "linking")
    return decideLinking(before, { type: "refused", condition: "restricted", reason }, moment);
  if (!isLinked(before)) return stay(before);
  const afterLoss = withFailedAttempt(withConnectionLost(before.reconnects, moment.now), "temporary");
  const reconnects = { ...afterLoss, restrictions: afterLoss.restrictions + 1 };
  const ms = restrictionMs(reconnects, expiresInMs, moment.now, moment.chance);
  return holdBack({ ...before, reconnects }, reason, ms, moment);
}

/** Keeps the number disconnected for this long. */
function holdBack(before: SessionFlow, reason: string, ms: number, { wallTime }: Moment): SessionDecision {
  const next: SessionFlow = {
    ...applyMove(before, "lose", reason),
    ...{ isLasting: false, isOpened: false, restriction: { reason, endsAt: wallTime + ms } },
  };
  const effects: SessionEffect[] = [
    { do: "disconnect" },
    { do: "stop_timer", timer: "timeout" },
    ...reportOffline(next),
    { do: "report_condition", condition: "restricted", reason },
    { do: "calls_lost", reason, isPermanent: true },
  ];
  if (before.restriction === undefined) effects.push({ do: "log", level: "error", message: reason });
  return { flow: next, effects: [...effects, { do: "start_timer", timer: "retry", ms }] };
}

/** Adopts an earlier process's history: its logins count, and a restriction continues. */
export function restoreHistory(before: SessionFlow, past: PastLogins, moment: Moment): SessionDecision {
  if (!isLinked(before)) return stay(before);
  const ages = past.logins.map((at) => moment.wallTime - at);
  const reconnects = { ...withPastLogins(before.reconnects, ages, moment.now), restrictions: past.restrictions };
  const { restriction } = past;
  const ms = restriction === undefined ? 0 : Math.min(MAX_RESTRICTION_MS, restriction.endsAt - moment.wallTime);
  if (restriction === undefined || ms <= 0 || before.state !== "connecting") return stay({ ...before, reconnects });
  return holdBack({ ...before, reconnects }, restriction.reason, ms, moment);
}
