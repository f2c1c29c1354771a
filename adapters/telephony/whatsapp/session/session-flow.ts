import { type Closing, closingOf } from "./closings.ts";
import { decideLinking, linkingStarted } from "./linking-flow.ts";
import { disconnected, halted, later } from "./lost-connections.ts";
import { disowned, doubtful, OWNERSHIP_MS } from "./ownership-flow.ts";
import {
  connectionLost,
  connectionUp,
  isUnstable,
  loggedIn,
  loginBudgetMs,
  MAX_LOGINS,
  notLoggedIn,
  resumed,
  takenOver,
} from "./reconnects.ts";
import { loginRefused } from "./refused-logins.ts";
import {
  forgotten,
  healthOf,
  isLinked,
  moved,
  PATIENCE_MS,
  reportOffline,
  STOP_ALL,
  STOP_WAITING,
  stay,
  TURN_MS,
} from "./session-state.ts";
import type { LiveState, Moment, SessionDecision, SessionEffect, SessionFlow, SessionInput } from "./session-types.ts";
import { utc } from "./utc.ts";

/** A connection that WhatsApp has closed in order to open it again is back within this time, ms. */
const RESUMING_MS = 1_000;

/**
 * Decides what an input means for the session of a number: a pure function, whose effects `Session` carries out.
 * Only the client's own state makes a session `online`; only a logout makes it forget its credentials.
 */
export function decideSession(flow: SessionFlow, input: SessionInput, moment: Moment): SessionDecision {
  if (flow.state === "closed") return stay(flow);
  switch (input.type) {
    case "link":
      return link(flow, moment);
    case "resume":
      if (flow.state !== "idle") return stay(flow);
      return connecting({ ...flow, stored: true });
    case "unlink":
      return forgotten(flow, "not linked", isLinked(flow) ? { do: "log_out" } : { do: "drop_client" });
    case "close":
      return close(flow);
    case "qr":
    case "pairing_code":
    case "pairing_code_over":
    case "passkey":
    case "paired":
      if (flow.state === "linking") return decideLinking(flow, input, moment);
      // A client with credentials shows no codes: its records are gone.
      return input.type === "qr" && isLinked(flow) ? unlinked(flow, "the keys of this device are lost") : stay(flow);
    case "link_stored":
      return linkStored(flow);
    case "link_refused":
      return isLinked(flow) && !flow.stored ? forgotten(flow, "not linked", { do: "log_out" }) : stay(flow);
    case "opened":
      if (!isLinked(flow)) return stay(flow);
      return moment.owned ? found({ ...flow, opened: true }, input, moment) : disowned(flow, moment);
    case "state":
      // While it waits, nothing is connected, and the next attempt asks whether this server may.
      return moment.owned || flow.state === "waiting" ? found(flow, input, moment) : foundInDoubt(flow, input, moment);
    case "closed":
      return closed(flow, closingOf(input), moment);
    case "failure":
      return loginRefused(flow, input, moment);
    case "login":
      return login(flow, moment);
    case "failed":
      return failed(flow, input.reason, moment);
    case "calls_over":
      return flow.endingCalls ? ownership(flow, moment) : stay(flow);
    case "timer":
      if (input.timer === "ownership") return ownership(flow, moment);
      return input.timer === "retry" ? retry(flow, moment) : patienceOver(flow, moment);
  }
}

/** Whether the server may act for the number was to be asked now. */
function ownership(flow: SessionFlow, moment: Moment): SessionDecision {
  return moment.owned ? stay({ ...flow, disowned: false, endingCalls: false }) : disowned(flow, moment);
}

function link(flow: SessionFlow, { now, owned }: Moment): SessionDecision {
  if (!owned) return stay(flow);
  if (flow.state === "idle") return linkingStarted(flow, now);
  // Somebody asks for another attempt: the cause may be removed. One beyond the login budget waits for its rest.
  return flow.state === "halted" || (flow.state === "waiting" && flow.lasting) ? connecting(flow) : stay(flow);
}

/** The client connects in its turn. The reason and a lasting fault stand until a connection disproves them. */
function connecting(flow: SessionFlow): SessionDecision {
  return {
    flow: { ...moved(flow, "connect", flow.lasting ? flow.reason : "connecting"), opened: false },
    effects: [
      { do: "stop_timer", timer: "retry" },
      { do: "connect" },
      { do: "start_timer", timer: "patience", ms: TURN_MS },
    ],
  };
}

/** It is the number's turn to log in, whatever made the login necessary. */
function login(flow: SessionFlow, moment: Moment): SessionDecision {
  if (flow.state !== "connecting") return stay(flow);
  if (!moment.owned) return disowned(flow, moment);
  const budgetMs = loginBudgetMs(flow.reconnects, moment.now);
  if (budgetMs > 0) {
    const end = utc(moment.wall + budgetMs);
    const reason = `the number has logged in ${MAX_LOGINS} times within an hour, and logs in again at ${end}`;
    return disconnected(flow, { kind: "passes", reason }, moment);
  }
  return {
    flow: { ...flow, reconnects: loggedIn(flow.reconnects, moment.now) },
    effects: [{ do: "start_timer", timer: "patience", ms: PATIENCE_MS }],
  };
}

function linkStored(flow: SessionFlow): SessionDecision {
  if (!isLinked(flow) || flow.stored) return stay(flow);
  const next = { ...flow, stored: true };
  if (healthOf(next).state === "online") return { flow: next, effects: [{ do: "report_online" }] };
  return { flow: next, effects: next.state === "connecting" ? [] : reportOffline(next) };
}

/** The client's state, asked just now: nothing else makes a session online. */
function found(flow: SessionFlow, { connected, registered }: LiveState, moment: Moment): SessionDecision {
  const works = flow.opened && connected && registered;
  if (flow.state === "online" && works) return stay({ ...flow, resuming: false });
  if (flow.state === "online") return flow.resuming ? stay(flow) : dropped(flow, moment);
  if (!works || !isLinked(flow) || flow.state === "halted") return stay(flow);
  const reconnects = connectionUp(flow.reconnects, moment.now);
  const next: SessionFlow = { ...moved(flow, "open", null), lasting: false, restriction: undefined, reconnects };
  const report: SessionEffect[] = healthOf(next).state === "online" ? [{ do: "report_online" }] : [];
  return { flow: next, effects: [...STOP_WAITING, ...report, { do: "calls_restored" }] };
}

/** Nothing comes online while the server may not act for the number; a drop is noticed all the same. */
function foundInDoubt(flow: SessionFlow, live: LiveState, moment: Moment): SessionDecision {
  const { flow: doubted, effects } = doubtful(flow);
  if (doubted.state !== "online") return { flow: doubted, effects };
  const next = found(doubted, live, moment);
  return { flow: next.flow, effects: [...effects, ...next.effects] };
}

const BROKE_OFF = { kind: "passes", reason: "the connection to WhatsApp broke off" } as const;

/**
 * The socket broke off without an event. The client would log in every 2 s, so it is disconnected, and logs in when it
 * should; a call needs the client as it is, which logs in by itself then.
 */
function dropped(flow: SessionFlow, moment: Moment): SessionDecision {
  const { reason } = BROKE_OFF;
  const reconnects = connectionLost(flow.reconnects, moment.now);
  if (!moment.inCall || isUnstable(reconnects, moment.now) || loginBudgetMs(reconnects, moment.now) > 0)
    return disconnected({ ...flow, reconnects }, BROKE_OFF, moment);
  const next = { ...moved(flow, "drop", reason), reconnects: loggedIn(reconnects, moment.now) };
  const effects: SessionEffect[] = [{ do: "start_timer", timer: "patience", ms: PATIENCE_MS }, ...reportOffline(next)];
  return { flow: next, effects: [...effects, { do: "calls_lost", reason, final: false }] };
}

function closed(flow: SessionFlow, closing: Closing, moment: Moment): SessionDecision {
  const { kind, reason } = closing;
  if (kind === "resumes") return resuming(flow, closing, moment);
  if (kind === "unlinked") return flow.state === "idle" ? stay(flow) : unlinked(flow, reason);
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (!isLinked(flow) || flow.state === "halted") return stay(flow);
  if (kind === "taken") return taken(flow, reason, moment);
  if (kind === "refused") return halted(flow, reason);
  // It is known that the connection is closed.
  if (flow.state === "waiting" && kind === "passes") return stay({ ...flow, opened: false });
  const reconnects = connectionLost(flow.reconnects, moment.now);
  return later({ ...flow, reconnects }, { kind, reason }, moment);
}

/** The client logs in again at once. That is not reported, unless it takes longer than usual, or happens again at once. */
function resuming(before: SessionFlow, { reason }: Closing, moment: Moment): SessionDecision {
  if (before.state === "idle") return stay(before);
  if (before.state === "waiting" || before.state === "halted") return { flow: before, effects: [{ do: "disconnect" }] };
  const reconnects = resumed(before.reconnects, moment);
  if (reconnects === undefined && before.state === "linking")
    return decideLinking(before, { type: "closing", closing: { kind: "passes", reason } }, moment);
  if (reconnects === undefined) {
    const lost = connectionLost(before.reconnects, moment.now);
    return disconnected({ ...before, reconnects: lost }, { kind: "passes", reason }, moment);
  }
  const flow = { ...before, reconnects };
  if (flow.state !== "online") return stay(flow);
  return {
    flow: { ...flow, resuming: true },
    effects: [{ do: "start_timer", timer: "patience", ms: RESUMING_MS }],
  };
}

/** Another client uses the link: a stranger, whom nobody fights, or one of ours, which is closed by the next attempt. */
function taken(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const ours = moment.strays ? takenOver(flow.reconnects, moment.now) : undefined;
  if (ours === undefined) return halted(flow, reason, "replaced");
  const reconnects = connectionLost(ours, moment.now);
  const closing = { kind: "passes", reason: "an earlier client of this server has come back" } as const;
  return later({ ...flow, reconnects }, closing, moment);
}

function retry(flow: SessionFlow, { owned }: Moment): SessionDecision {
  if (flow.state !== "waiting" && flow.state !== "linking") return stay(flow);
  if (!owned) return { flow, effects: [{ do: "start_timer", timer: "retry", ms: OWNERSHIP_MS }] };
  return flow.state === "linking" ? { flow, effects: [{ do: "connect" }] } : connecting(flow);
}

function failed(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const closing = { kind: "passes", reason } as const;
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (flow.state !== "connecting") return stay(flow);
  const reconnects = flow.opened ? flow.reconnects : notLoggedIn(flow.reconnects);
  return later({ ...flow, reconnects }, closing, moment);
}

const NOT_OPENED = { kind: "passes", reason: "WhatsApp did not open the connection in time" } as const;

function patienceOver(flow: SessionFlow, moment: Moment): SessionDecision {
  if (flow.state === "linking") return decideLinking(flow, { type: "codes_over" }, moment);
  if (flow.state === "connecting") return disconnected(flow, NOT_OPENED, moment);
  if (flow.state === "dropped") return disconnected(flow, BROKE_OFF, moment);
  return flow.resuming ? { flow: { ...flow, resuming: false }, effects: [{ do: "ask_state" }] } : stay(flow);
}

/** The credentials are void. */
function unlinked(flow: SessionFlow, reason: string): SessionDecision {
  const { flow: next, effects } = forgotten(flow, reason, { do: "drop_client" });
  const log: SessionEffect = { do: "log", level: "warn", message: `unlinked: ${reason}` };
  return { flow: next, effects: [{ do: "report_unlinked", reason }, ...effects, log] };
}

function close(flow: SessionFlow): SessionDecision {
  const next = { ...moved(flow, "close", "closed"), lasting: false, opened: false, restriction: undefined };
  const calls: SessionEffect = { do: "calls_lost", reason: "the line is closed", final: true };
  return {
    flow: next,
    effects: [...STOP_ALL, calls, { do: "drop_client" }],
  };
}
