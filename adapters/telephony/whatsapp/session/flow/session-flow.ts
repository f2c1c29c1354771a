import { utc } from "../utc.ts";
import { CONNECTION_DROPPED, decideLive } from "./client-state.ts";
import { type Closing, closingOf } from "./closings.ts";
import { decideLinking, startLinking } from "./linking-flow.ts";
import { disconnect, halt, waitForLogin } from "./lost-connections.ts";
import { decideLoginAcceptance, decideResuming, decideStreamEnd } from "./own-logins.ts";
import { giveUpNumber, OWNERSHIP_MS } from "./ownership-flow.ts";
import {
  loginBudgetMs,
  MAX_LOGINS,
  withConnectionLost,
  withLogin,
  withoutPendingLogin,
  withTakeover,
} from "./reconnects.ts";
import { decideLoginRefusal, restoreHistory } from "./refused-logins.ts";
import {
  applyMove,
  CONNECT_TIMEOUT_MS,
  forgetLink,
  healthOf,
  isLinked,
  reportOffline,
  STOP_ALL,
  stay,
  TURN_MS,
} from "./session-health.ts";
import type { Moment, SessionDecision, SessionEffect, SessionFlow, SessionInput } from "./session-transitions.ts";

/**
 * Decides the effect of an input on a number's session: a pure function, whose effects `Session` carries out. Only the
 * client's own state makes a session `online`; only a logout makes it forget its credentials.
 */
export function decideSession(flow: SessionFlow, input: SessionInput, moment: Moment): SessionDecision {
  if (flow.state === "closed") return stay(flow);
  switch (input.type) {
    case "link":
      return link(flow, moment);
    case "resume":
      if (flow.state !== "idle") return stay(flow);
      return startConnecting({ ...flow, isStored: true });
    case "unlink":
      return forgetLink(flow, "not linked", isLinked(flow) ? { do: "log_out" } : { do: "drop_client" });
    case "close":
      return close(flow);
    case "qr":
    case "pairing_code":
    case "pairing_code_expired":
    case "passkey":
    case "paired":
      if (flow.state === "linking") return decideLinking(flow, input, moment);
      // A client with credentials would show no codes, so its records are deleted.
      return input.type === "qr" && isLinked(flow) ? unlink(flow, "the keys of this device are lost") : stay(flow);
    case "link_stored":
      return linkStored(flow);
    case "link_refused":
      return isLinked(flow) && !flow.isStored ? forgetLink(flow, "not linked", { do: "log_out" }) : stay(flow);
    case "opened":
      if (!isLinked(flow)) return stay(flow);
      return moment.isOwner ? decideLive({ ...flow, isOpened: true }, input, moment) : giveUpNumber(flow, moment);
    case "state":
      return decideLive(flow, input, moment);
    case "closed":
      return decideClosed(flow, closingOf(input), moment);
    case "failure":
      return decideLoginRefusal(flow, input, moment);
    case "accepted":
      return decideLoginAcceptance(flow, input, moment);
    case "stream_error":
      return decideStreamEnd(flow, input.code, moment);
    case "history":
      return restoreHistory(flow, input, moment);
    case "login":
      return login(flow, moment);
    case "failed":
      return decideFailed(flow, input.reason, moment);
    case "calls_ended":
      return flow.isEndingCalls ? checkOwnership(flow, moment) : stay(flow);
    case "timer":
      if (input.timer === "ownership") return checkOwnership(flow, moment);
      return input.timer === "retry" ? retry(flow, moment) : timeout(flow, moment);
  }
}

/** Checks whether the server may act for the number. */
function checkOwnership(flow: SessionFlow, moment: Moment): SessionDecision {
  return moment.isOwner ? stay({ ...flow, isDisowned: false, isEndingCalls: false }) : giveUpNumber(flow, moment);
}

function link(flow: SessionFlow, { now, isOwner }: Moment): SessionDecision {
  if (!isOwner) return stay(flow);
  if (flow.state === "idle") return startLinking(flow, now);
  // A user requested another attempt: the cause may have been removed. An attempt beyond the login budget waits.
  return flow.state === "halted" || (flow.state === "waiting" && flow.isLasting) ? startConnecting(flow) : stay(flow);
}

/** Lets the client connect at its turn. The reason and a permanent fault remain until a connection disproves them. */
function startConnecting(flow: SessionFlow): SessionDecision {
  return {
    flow: { ...applyMove(flow, "connect", flow.isLasting ? flow.reason : "connecting"), isOpened: false },
    effects: [
      { do: "stop_timer", timer: "retry" },
      { do: "connect" },
      { do: "start_timer", timer: "timeout", ms: TURN_MS },
    ],
  };
}

/** Handles the number's turn to log in, whatever made the login necessary. */
function login(flow: SessionFlow, moment: Moment): SessionDecision {
  if (flow.state !== "connecting") return stay(flow);
  if (!moment.isOwner) return giveUpNumber(flow, moment);
  const budgetMs = loginBudgetMs(flow.reconnects, moment.now);
  if (budgetMs > 0) {
    const end = utc(moment.wallTime + budgetMs);
    const reason = `the number has logged in ${MAX_LOGINS} times within an hour, and logs in again at ${end}`;
    return disconnect(flow, { kind: "temporary", reason }, moment);
  }
  return {
    flow: { ...flow, reconnects: withLogin(flow.reconnects, moment.now) },
    effects: [{ do: "start_timer", timer: "timeout", ms: CONNECT_TIMEOUT_MS }],
  };
}

function linkStored(flow: SessionFlow): SessionDecision {
  if (!isLinked(flow) || flow.isStored) return stay(flow);
  const next = { ...flow, isStored: true };
  if (healthOf(next).state === "online") return { flow: next, effects: [{ do: "report_online" }] };
  return { flow: next, effects: next.state === "connecting" ? [] : reportOffline(next) };
}

function decideClosed(flow: SessionFlow, closing: Closing, moment: Moment): SessionDecision {
  const { kind, reason } = closing;
  if (kind === "resumes") return decideResuming(flow, closing, moment);
  if (kind === "unlinked") return flow.state === "idle" ? stay(flow) : unlink(flow, reason);
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (!isLinked(flow) || flow.state === "halted") return stay(flow);
  if (kind === "replaced") return decideReplaced(flow, reason, moment);
  if (kind === "refused") return halt(flow, reason);
  // The connection is already known to be closed.
  if (flow.state === "waiting" && kind === "temporary") return stay({ ...flow, isOpened: false });
  const reconnects = withConnectionLost(flow.reconnects, moment.now);
  return waitForLogin({ ...flow, reconnects }, { kind, reason }, moment);
}

/**
 * Handles another client on the link: a foreign client is left alone, and one of our own is closed by the next
 * attempt.
 */
function decideReplaced(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const takeovers = moment.hasStrays ? withTakeover(flow.reconnects, moment.now) : undefined;
  if (takeovers === undefined) return halt(flow, reason, "replaced");
  const reconnects = withConnectionLost(takeovers, moment.now);
  const closing = { kind: "temporary", reason: "an earlier client of this server has reconnected" } as const;
  return waitForLogin({ ...flow, reconnects }, closing, moment);
}

function retry(flow: SessionFlow, { isOwner }: Moment): SessionDecision {
  if (flow.state !== "waiting" && flow.state !== "linking") return stay(flow);
  if (!isOwner) return { flow, effects: [{ do: "start_timer", timer: "retry", ms: OWNERSHIP_MS }] };
  return flow.state === "linking" ? { flow, effects: [{ do: "connect" }] } : startConnecting(flow);
}

function decideFailed(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const closing = { kind: "temporary", reason } as const;
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (flow.state !== "connecting") return stay(flow);
  const reconnects = flow.isOpened ? flow.reconnects : withoutPendingLogin(flow.reconnects);
  return waitForLogin({ ...flow, reconnects }, closing, moment);
}

const NOT_OPENED = { kind: "temporary", reason: "WhatsApp did not open the connection in time" } as const;

function timeout(flow: SessionFlow, moment: Moment): SessionDecision {
  if (flow.state === "linking") return decideLinking(flow, { type: "codes_expired" }, moment);
  if (flow.state === "connecting") return disconnect(flow, NOT_OPENED, moment);
  if (flow.state === "dropped") return disconnect(flow, CONNECTION_DROPPED, moment);
  if (flow.resumingSince === undefined) return stay(flow);
  return { flow: { ...flow, resumingSince: undefined }, effects: [{ do: "poll_state" }] };
}

/** Unlinks the number, whose credentials are void. */
function unlink(flow: SessionFlow, reason: string): SessionDecision {
  const { flow: next, effects } = forgetLink(flow, reason, { do: "drop_client" });
  const log: SessionEffect = { do: "log", level: "warn", message: `unlinked: ${reason}` };
  return { flow: next, effects: [{ do: "report_unlinked", reason }, ...effects, log] };
}

function close(flow: SessionFlow): SessionDecision {
  const next = { ...applyMove(flow, "close", "closed"), isLasting: false, isOpened: false, restriction: undefined };
  const calls: SessionEffect = { do: "calls_lost", reason: "the line is closed", isPermanent: true };
  return {
    flow: next,
    effects: [...STOP_ALL, calls, { do: "drop_client" }],
  };
}
