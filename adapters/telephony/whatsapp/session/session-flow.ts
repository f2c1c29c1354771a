import type { LineCondition } from "../../../../src/ports/telephony.ts";
import { type Closing, closingOf } from "./closings.ts";
import { decideLinking, linkingStarted } from "./linking-flow.ts";
import { disowned, doubtful, OWNERSHIP_MS } from "./ownership-flow.ts";
import {
  attemptFailed,
  backoffMs,
  connectionLost,
  connectionUp,
  isUnstable,
  NO_RECONNECTS,
  outdatedMs,
  type Reconnects,
  takenOver,
} from "./reconnects.ts";
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
} from "./session-state.ts";
import type { LiveState, Moment, SessionDecision, SessionEffect, SessionFlow, SessionInput } from "./session-types.ts";

/** A restriction without a known end is checked after this time, ms. */
export const RESTRICTION_MS = 3_600_000;
/** Between two looks at a call that the check after a restriction would cut off, ms. */
export const CHECK_AGAIN_MS = 5_000;
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
      return connecting({ ...flow, stored: true }, { do: "open_client", linked: true });
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
      return input.code === 402 ? restricted(flow, input.expiresInMs, moment) : stay(flow); // any other one closes
    case "failed":
      return failed(flow, input.reason, moment);
    case "calls_over":
      return flow.endingCalls ? ownership(flow, moment) : stay(flow);
    case "timer":
      if (input.timer === "restriction") return restrictionOver(flow, moment);
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
  // Somebody asks for another attempt: the cause may be removed.
  if (flow.state === "halted" || (flow.state === "waiting" && flow.lasting)) return connecting(flow, { do: "connect" });
  return stay(flow);
}

/** The reason and a lasting fault stand until a connection disproves them. */
function connecting(flow: SessionFlow, how: SessionEffect): SessionDecision {
  return {
    flow: { ...moved(flow, "connect", flow.lasting ? flow.reason : "connecting"), opened: false },
    effects: [{ do: "stop_timer", timer: "retry" }, how, { do: "start_timer", timer: "patience", ms: PATIENCE_MS }],
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
  const next: SessionFlow = { ...moved(flow, "open", null), lasting: false, reconnects };
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

/** The socket broke off without an event. The client connects again by itself; one that does so too often has to wait. */
function dropped(flow: SessionFlow, moment: Moment): SessionDecision {
  const reason = "the connection to WhatsApp broke off";
  const reconnects = connectionLost(flow.reconnects, moment.now);
  if (isUnstable(reconnects, moment.now)) return disconnected({ ...flow, reconnects }, reason, moment);
  const next = { ...moved(flow, "drop", reason), reconnects };
  const effects: SessionEffect[] = [{ do: "start_timer", timer: "patience", ms: PATIENCE_MS }, ...reportOffline(next)];
  return { flow: next, effects: [...effects, { do: "calls_lost", reason, final: false }] };
}

function closed(flow: SessionFlow, closing: Closing, moment: Moment): SessionDecision {
  const { kind, reason } = closing;
  if (kind === "resumes") return resuming(flow);
  if (kind === "unlinked") return flow.state === "idle" ? stay(flow) : unlinked(flow, reason);
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  if (!isLinked(flow) || flow.state === "halted") return stay(flow);
  if (kind === "taken") return taken(flow, reason, moment);
  if (kind === "refused") return halted(flow, reason);
  // It is known that the connection is closed.
  if (flow.state === "waiting" && kind === "passes") return stay({ ...flow, opened: false });
  const reconnects = connectionLost(flow.reconnects, moment.now);
  return later({ ...flow, reconnects }, reason, moment, kind === "outdated");
}

/** Nothing to report, unless it takes longer than usual. */
function resuming(flow: SessionFlow): SessionDecision {
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
  return later({ ...flow, reconnects }, "an earlier client of this server has come back", moment);
}

function halted(flow: SessionFlow, reason: string, condition?: LineCondition): SessionDecision {
  const next: SessionFlow = { ...moved(flow, "halt", reason), lasting: true, opened: false, reconnects: NO_RECONNECTS };
  const effects: SessionEffect[] = [...STOP_WAITING, { do: "disconnect" }, ...reportOffline(next)];
  if (condition !== undefined) effects.push({ do: "report_condition", condition, reason });
  effects.push({ do: "calls_lost", reason, final: true }, { do: "log", level: "error", message: reason });
  return { flow: next, effects };
}

/** The session waits until the next attempt. @param lasting WhatsApp refuses the client's version */
function later(before: SessionFlow, reason: string, { now, chance }: Moment, lasting = false): SessionDecision {
  const unstable = isUnstable(before.reconnects, now);
  const reconnects: Reconnects = { ...attemptFailed(before.reconnects), logged: unstable };
  const next: SessionFlow = { ...moved(before, "lose", reason), lasting, opened: false, reconnects };
  const effects: SessionEffect[] = [{ do: "stop_timer", timer: "patience" }, ...reportOffline(next)];
  // What is wrong now is something else, unless the next attempt finds the same again.
  if (before.lasting && !lasting) effects.push({ do: "report_condition", condition: undefined, reason });
  if (lasting) {
    effects.push({ do: "report_condition", condition: "client_outdated", reason });
    effects.push({ do: "log", level: "error", message: reason });
  }
  effects.push({ do: "calls_lost", reason, final: false });
  if (unstable && !before.reconnects.logged)
    effects.push({ do: "log", level: "warn", message: "the connection to WhatsApp breaks off again and again" });
  const ms = lasting ? outdatedMs(reconnects, chance) : backoffMs(reconnects, now, chance);
  return { flow: next, effects: [...effects, { do: "start_timer", timer: "retry", ms }] };
}

/** The client does not get on by itself: the connection is closed, and opened again later. */
function disconnected(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const { flow: next, effects } = later(flow, reason, moment);
  return { flow: next, effects: [{ do: "disconnect" }, ...effects] };
}

function retry(flow: SessionFlow, { owned }: Moment): SessionDecision {
  if (flow.state !== "waiting" && flow.state !== "linking") return stay(flow);
  if (!owned) return { flow, effects: [{ do: "start_timer", timer: "retry", ms: OWNERSHIP_MS }] };
  return flow.state === "linking" ? { flow, effects: [{ do: "connect" }] } : connecting(flow, { do: "connect" });
}

function failed(flow: SessionFlow, reason: string, moment: Moment): SessionDecision {
  const closing: Closing = { kind: "passes", reason };
  if (flow.state === "linking") return decideLinking(flow, { type: "closing", closing }, moment);
  return flow.state === "connecting" ? later(flow, reason, moment) : stay(flow);
}

function patienceOver(flow: SessionFlow, moment: Moment): SessionDecision {
  if (flow.state === "linking") return decideLinking(flow, { type: "codes_over" }, moment);
  if (flow.state === "connecting") return disconnected(flow, "WhatsApp did not open the connection in time", moment);
  if (flow.state === "dropped") return disconnected(flow, "the connection to WhatsApp broke off", moment);
  return flow.resuming ? { flow: { ...flow, resuming: false }, effects: [{ do: "ask_state" }] } : stay(flow);
}

function restricted(flow: SessionFlow, expiresInMs: number | undefined, moment: Moment): SessionDecision {
  const until = expiresInMs === undefined ? "for a while" : `until ${utc(moment.wall + expiresInMs)}`;
  const reason = `WhatsApp has restricted the number ${until} (402)`;
  if (flow.state === "linking")
    return decideLinking(flow, { type: "refused", condition: "restricted", reason }, moment);
  if (!isLinked(flow)) return stay(flow);
  const next = { ...flow, restriction: reason };
  const effects: SessionEffect[] = [
    ...reportOffline(next),
    { do: "report_condition", condition: "restricted", reason },
  ];
  effects.push({ do: "start_timer", timer: "restriction", ms: expiresInMs ?? RESTRICTION_MS });
  if (flow.restriction === undefined) effects.push({ do: "log", level: "error", message: reason });
  return { flow: next, effects };
}

/** A time for people: `2026-11-27 04:05 UTC`. */
function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** WhatsApp repeats a restriction that still stands when the client connects: so it connects again, but not during a call. */
function restrictionOver(before: SessionFlow, { inCall }: Moment): SessionDecision {
  if (inCall) return { flow: before, effects: [{ do: "start_timer", timer: "restriction", ms: CHECK_AGAIN_MS }] };
  const flow = { ...before, restriction: undefined };
  if (flow.state !== "online") return stay(flow);
  const { flow: next, effects } = connecting(flow, { do: "connect" });
  return { flow: next, effects: [{ do: "disconnect" }, ...effects] };
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
