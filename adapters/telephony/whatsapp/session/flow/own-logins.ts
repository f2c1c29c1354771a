import { CONNECTION_DROPPED, decideLive } from "./client-state.ts";
import type { Closing } from "./closings.ts";
import { decideLinking } from "./linking-flow.ts";
import { disconnect } from "./lost-connections.ts";
import { withConnectionLost, withLogin, withResumption } from "./reconnects.ts";
import { isLinked, stay } from "./session-health.ts";
import type { LiveState, Moment, SessionDecision, SessionFlow } from "./session-transitions.ts";

/**
 * Maximum time until a login requested by WhatsApp is accepted, ms: longer than the socket and `ACCEPTANCE_MS` take.
 */
const RESUMING_MS = 10_000;

/**
 * Handles a client that logs in again immediately. This is reported only if it takes longer than usual or immediately
 * happens again.
 */
export function decideResuming(
  before: SessionFlow,
  { reason }: Pick<Closing, "reason">,
  moment: Moment,
): SessionDecision {
  if (before.state === "idle") return stay(before);
  if (before.state === "waiting" || before.state === "halted") return { flow: before, effects: [{ do: "disconnect" }] };
  const reconnects = withResumption(before.reconnects, moment);
  if (reconnects === undefined && before.state === "linking")
    return decideLinking(before, { type: "closing", closing: { kind: "temporary", reason } }, moment);
  if (reconnects === undefined) {
    const afterLoss = withConnectionLost(before.reconnects, moment.now);
    return disconnect({ ...before, reconnects: afterLoss }, { kind: "temporary", reason }, moment);
  }
  // The client will report the connection as open again.
  const isOpened = before.isOpened && before.state !== "connecting";
  const flow = { ...before, isOpened, isReopened: false, reconnects };
  if (flow.state !== "online") return stay(flow);
  return {
    flow: { ...flow, resumingSince: moment.now },
    effects: [{ do: "start_timer", timer: "timeout", ms: RESUMING_MS }],
  };
}

/**
 * Handles a stream that WhatsApp has ended: the client opens another socket immediately. During a login, it restarts
 * the login.
 */
export function decideStreamEnd(flow: SessionFlow, code: number | undefined, moment: Moment): SessionDecision {
  const reason = `WhatsApp has ended the connection (${code ?? "without a code"})`;
  if (flow.state === "connecting") return disconnect(flow, { kind: "temporary", reason }, moment);
  return decideResuming(flow, { reason }, moment);
}

/** Handles an accepted login, started by the session or silently by the client. */
export function decideLoginAcceptance(flow: SessionFlow, live: LiveState, moment: Moment): SessionDecision {
  if (!isLinked(flow)) return stay(flow);
  const { reconnects } = flow;
  if (reconnects.isAcceptanceDue)
    return decideLive({ ...flow, reconnects: { ...reconnects, isAcceptanceDue: false } }, live, moment);
  const reconnectsWithLogin = { ...withLogin(reconnects, moment.now), isLoggingIn: false, isAcceptanceDue: false };
  if (flow.state === "halted" || (flow.state === "waiting" && !flow.isOpened))
    return { flow: { ...flow, reconnects: reconnectsWithLogin }, effects: [{ do: "disconnect" }] };
  const resumption = withResumption(reconnects, moment);
  if (resumption === undefined)
    return disconnect(
      { ...flow, reconnects: withConnectionLost(reconnectsWithLogin, moment.now) },
      CONNECTION_DROPPED,
      moment,
    );
  return decideLive({ ...flow, reconnects: { ...resumption, isAcceptanceDue: false } }, live, moment);
}
