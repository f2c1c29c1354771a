import type { Closing } from "./closings.ts";
import { decideLinking } from "./linking-flow.ts";
import { BROKE_OFF, decideLive } from "./live-state.ts";
import { disconnected } from "./lost-connections.ts";
import { connectionLost, loggedIn, resumed } from "./reconnects.ts";
import { isLinked, stay } from "./session-state.ts";
import type { LiveState, Moment, SessionDecision, SessionFlow } from "./session-types.ts";

/** A login that WhatsApp has asked for is accepted within this time, ms: longer than the socket and `ACCEPTANCE_MS` take. */
const RESUMING_MS = 10_000;

/** The client logs in again immediately. This is not reported unless it takes longer than usual or repeats at once. */
export function resuming(before: SessionFlow, { reason }: Pick<Closing, "reason">, moment: Moment): SessionDecision {
  if (before.state === "idle") return stay(before);
  if (before.state === "waiting" || before.state === "halted") return { flow: before, effects: [{ do: "disconnect" }] };
  const reconnects = resumed(before.reconnects, moment);
  if (reconnects === undefined && before.state === "linking")
    return decideLinking(before, { type: "closing", closing: { kind: "passes", reason } }, moment);
  if (reconnects === undefined) {
    const lost = connectionLost(before.reconnects, moment.now);
    return disconnected({ ...before, reconnects: lost }, { kind: "passes", reason }, moment);
  }
  // The client reports the connection as open once more.
  const opened = before.opened && before.state !== "connecting";
  const flow = { ...before, opened, reopened: false, reconnects };
  if (flow.state !== "online") return stay(flow);
  return {
    flow: { ...flow, resumingSince: moment.now },
    effects: [{ do: "start_timer", timer: "patience", ms: RESUMING_MS }],
  };
}

/** WhatsApp has ended the stream: the client opens another socket immediately. During a login this would restart it. */
export function streamEnded(flow: SessionFlow, code: number | undefined, moment: Moment): SessionDecision {
  const reason = `WhatsApp has ended the connection (${code ?? "without a code"})`;
  if (flow.state === "connecting") return disconnected(flow, { kind: "passes", reason }, moment);
  return resuming(flow, { reason }, moment);
}

/** A login that the session started, or a silent one by the client. */
export function loginAccepted(flow: SessionFlow, live: LiveState, moment: Moment): SessionDecision {
  if (!isLinked(flow)) return stay(flow);
  const { reconnects } = flow;
  if (reconnects.acceptanceDue)
    return decideLive({ ...flow, reconnects: { ...reconnects, acceptanceDue: false } }, live, moment);
  const counted = { ...loggedIn(reconnects, moment.now), loggingIn: false, acceptanceDue: false };
  if (flow.state === "halted" || (flow.state === "waiting" && !flow.opened))
    return { flow: { ...flow, reconnects: counted }, effects: [{ do: "disconnect" }] };
  const allowed = resumed(reconnects, moment);
  if (allowed === undefined)
    return disconnected({ ...flow, reconnects: connectionLost(counted, moment.now) }, BROKE_OFF, moment);
  return decideLive({ ...flow, reconnects: { ...allowed, acceptanceDue: false } }, live, moment);
}
