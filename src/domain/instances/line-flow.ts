import { nextState, type Transitions } from "../../base/state-machine.ts";

/**
 * The state of one instance's line, decided by a pure function: a state and an input determine the next state and the
 * effects. `LineMonitor` carries the effects out and holds no rules.
 *
 * Only a probe makes a line `online`: the state is never derived from a remembered event.
 */
export interface LineFlow {
  readonly state: LineState;
  /** Reason why the line is not online; null while it is. */
  readonly reason: string | null;
  /** Additional information for the owner of the number; null if there is none. */
  readonly condition: LineCondition | null;
  /** The condition of a line that is online, from the last probe; null if there is none. */
  readonly notice: LineNotice | null;
  /** Reason why the line cannot place calls until a person fixes the fault; undefined if the fault may pass. */
  readonly lastingFault: string | undefined;
  /** Time at which a probe last found the line online; ms since 1970-01-01 UTC. */
  readonly lastSeenAt: number | null;
  /** Number of reports so far that the line is offline, by which a write detects a report in between. */
  readonly offlineReports: number;
  /** True during the grace period of an offline line. */
  readonly isInGrace: boolean;
  /**
   * `unlinking`: its user is unlinking the number, so its reports have no effect until that is stored. `closing`: the
   * line is no longer probed. `closed`: the line's reports have no effect.
   */
  readonly stage: "open" | "unlinking" | "closing" | "closed";
}

/** States of a line's connection. */
export const LINE_STATES = ["unlinked", "linking", "connecting", "online", "reconnecting", "offline"] as const;
export type LineState = (typeof LINE_STATES)[number];

/** Conditions of a line, besides its state, that the owner of its number should know. */
export const LINE_CONDITIONS = [
  /** A pairing code is valid, and waits to be typed on the phone. */
  "pairing_code",
  /** The codes have expired; the next request for one starts again. */
  "qr_expired",
  /** The account is protected by a passkey, so that no code can link it. */
  "passkey_required",
  /** Another client has taken over the link. */
  "replaced",
  /** The network blocks the number's calls for a while. */
  "restricted",
  /** The network refuses this version of the client. */
  "client_outdated",
] as const;
/** One of {@link LINE_CONDITIONS}. */
export type LineCondition = (typeof LINE_CONDITIONS)[number];

/** Notice to the owner of a number that can place calls, for example if the network refuses some of them. */
export interface LineNotice {
  readonly condition: LineCondition;
  /** A sentence. */
  readonly reason: string;
  /** Time at which it ends, ms since 1970-01-01 UTC; null if that is unknown. */
  readonly until: number | null;
}

/** Inputs of a line's connection. */
export type LineMove = "link" | "connect" | "confirm" | "lose" | "give_up" | "unlink";

/** Every legal move of a line. */
export const LINE_TRANSITIONS: Transitions<LineState, LineMove> = {
  unlinked: { link: "linking", connect: "connecting", unlink: "unlinked" },
  linking: { connect: "connecting", confirm: "online", unlink: "unlinked" },
  connecting: { connect: "connecting", confirm: "online", give_up: "offline", unlink: "unlinked" },
  online: { lose: "reconnecting", give_up: "offline", unlink: "unlinked" },
  reconnecting: { connect: "connecting", confirm: "online", give_up: "offline", unlink: "unlinked" },
  offline: { connect: "connecting", confirm: "online", give_up: "offline", unlink: "unlinked" },
};

export type LineInput =
  /** The line is open and waits for its code to be scanned. */
  | { readonly type: "linking_started" }
  /** A number was linked, and that is stored. `offlineReports`: as counted before the write. */
  | { readonly type: "link_stored"; readonly offlineReports: number }
  /** Credentials are stored, although no number may count as linked: the line connects with them. */
  | { readonly type: "resumed" }
  | { readonly type: "open_failed"; readonly reason: string }
  /** A probe has a result. */
  | { readonly type: "found_online"; readonly at: number; readonly notice?: LineNotice | undefined }
  | { readonly type: "found_offline"; readonly reason: string; readonly isLasting: boolean }
  /** The instance is stored as `ACTIVE`. `offlineReports`: as counted before the write. */
  | { readonly type: "active_stored"; readonly offlineReports: number }
  /** The network reported that the line is offline. `isLasting`: the fault needs a person to fix it. */
  | { readonly type: "offline"; readonly reason: string; readonly isLasting: boolean }
  /** The phone's owner has removed the device. */
  | { readonly type: "unlinked"; readonly reason: string }
  /** The network reported a condition, or that it has ended. `reason`: only counts while no number is linked. */
  | { readonly type: "condition"; readonly condition: LineCondition | null; readonly reason: string | undefined }
  /** The user unlinks the number: the network is asked next. */
  | { readonly type: "unlinking"; readonly reason: string }
  /** The instance is stored without number and credentials, as its user requested. */
  | { readonly type: "unlinking_stored"; readonly reason: string }
  | { readonly type: "grace_over" }
  | { readonly type: "closing" }
  | { readonly type: "closed" };

type FoundOnline = Extract<LineInput, { readonly type: "found_online" }>;

export type LineEffect =
  /** Notify the dispatcher: the line can dial, cannot, or has a permanent fault. */
  | { readonly do: "notify_online" }
  | { readonly do: "notify_offline"; readonly reason: string }
  | { readonly do: "notify_broken" }
  /** Store the instance as linked and `ACTIVE`, unless a report against the line comes first. */
  | { readonly do: "store_active"; readonly offlineReports: number }
  /** Store the instance as no longer `ACTIVE`. */
  | { readonly do: "store_inactive"; readonly reason: string }
  /** Store the instance without number and credentials. */
  | { readonly do: "store_unlinked"; readonly reason: string }
  | { readonly do: "start_grace"; readonly ms: number }
  | { readonly do: "stop_grace" }
  /** Reschedule the next probe. */
  | { readonly do: "schedule_probe" }
  | { readonly do: "cancel_probe" }
  /** Drop the code: no request waits for another one. */
  | { readonly do: "clear_code" };

/** Dependencies of the rules besides the state. */
export interface LineRules {
  /** Grace period of an offline line before its instance is no longer `ACTIVE`, ms. A permanent fault has none. */
  readonly graceMs: number;
  /** True if the operator has configured the number: the line needs no code and is never unlinked. */
  readonly linksAutomatically: boolean;
}

export interface LineDecision {
  readonly flow: LineFlow;
  readonly effects: readonly LineEffect[];
}

/** The initial state of a line. @param isLinked true if it has a number, or needs no code to link one */
export function newLine(isLinked: boolean): LineFlow {
  return {
    state: isLinked ? "connecting" : "unlinked",
    reason: isLinked ? CONNECTING : NOT_LINKED,
    condition: null,
    notice: null,
    lastingFault: undefined,
    lastSeenAt: null,
    offlineReports: 0,
    isInGrace: false,
    stage: "open",
  };
}

/** True if probes are scheduled: a line without a number has no state to query. */
export function isProbed({ stage, state }: LineFlow): boolean {
  return stage === "open" && state !== "unlinked" && state !== "linking";
}

/** Decides the next state of the line and the effects of an input. */
export function decideLine(flow: LineFlow, input: LineInput, rules: LineRules): LineDecision {
  switch (input.type) {
    case "linking_started":
      if (flow.stage === "unlinking") return stay(flow);
      return { flow: afterMove(flow, "link", WAITING_FOR_SCAN), effects: [] };
    case "link_stored":
      return onLinkStored(flow, input.offlineReports);
    case "resumed":
      if (flow.stage === "unlinking" || flow.state !== "unlinked") return stay(flow);
      return { flow: afterMove(flow, "connect", CONNECTING), effects: [] };
    case "open_failed":
      if (flow.state === "unlinked") return { flow: { ...flow, reason: input.reason }, effects: [] };
      return { flow: afterMove(flow, "give_up", input.reason), effects: [] };
    case "found_online":
      return isAnswerable(flow) ? onFoundOnline(flow, input) : stay(flow);
    case "found_offline":
      return isAnswerable(flow) ? onOffline(flow, input, rules) : stay(flow);
    case "active_stored":
      return onActiveStored(flow, input.offlineReports);
    case "offline":
      return onOffline(flow, input, rules);
    case "unlinked":
      return onUnlinked(flow, input.reason, rules);
    case "condition":
      return { flow: withCondition(flow, input.condition, input.reason), effects: [] };
    case "unlinking":
      return onUnlinking(flow, input.reason);
    case "unlinking_stored":
      return flow.stage === "unlinking" ? stay({ ...withoutNumber(flow, input.reason), stage: "open" }) : stay(flow);
    case "grace_over":
      return onGraceOver({ ...flow, isInGrace: false });
    case "closing":
      if (flow.stage === "closing" || flow.stage === "closed") return stay(flow);
      return { flow: { ...flow, stage: "closing", isInGrace: false }, effects: STOP_TIMERS };
    case "closed":
      return { flow: { ...flow, stage: "closed" }, effects: [] };
  }
}

/** True if the result of a probe is valid: the probe may have started before the line was unlinked or closed. */
function isAnswerable({ stage, state }: LineFlow): boolean {
  return stage === "open" && state !== "unlinked";
}

function onLinkStored(flow: LineFlow, offlineReports: number): LineDecision {
  const effects: LineEffect[] = [{ do: "clear_code" }, { do: "schedule_probe" }];
  if (offlineReports !== flow.offlineReports) return { flow, effects };
  return { flow: afterMove({ ...flow, condition: null, lastingFault: undefined }, "connect", CONNECTING), effects };
}

function onFoundOnline(flow: LineFlow, { at, notice: reportedNotice }: FoundOnline): LineDecision {
  const notice = reportedNotice ?? null;
  const onlineFields = { isInGrace: false, lastingFault: undefined, lastSeenAt: at };
  const onlineFlow: LineFlow = { ...flow, ...onlineFields, condition: notice?.condition ?? null, notice };
  if (flow.state === "online") return { flow: onlineFlow, effects: [{ do: "stop_grace" }] };
  const store: LineEffect = { do: "store_active", offlineReports: flow.offlineReports };
  return { flow: onlineFlow, effects: [{ do: "stop_grace" }, store] };
}

function onActiveStored(flow: LineFlow, offlineReports: number): LineDecision {
  // The line may have gone offline, or been unlinked, while this was being stored.
  if (offlineReports !== flow.offlineReports) return stay(flow);
  const next = afterMove(flow, "confirm", null);
  return next.state === "online" ? { flow: next, effects: [{ do: "notify_online" }] } : stay(flow);
}

function onOffline(
  previous: LineFlow,
  { reason, isLasting }: { readonly reason: string; readonly isLasting: boolean },
  rules: LineRules,
): LineDecision {
  const flow: LineFlow = { ...previous, offlineReports: previous.offlineReports + 1 };
  if (!isProbed(flow)) return stay(flow);
  const effects: LineEffect[] = [];
  const next: LineFlow = {
    ...afterMove(flow, isLasting ? "give_up" : "lose", reason),
    reason,
    notice: null,
    lastingFault: isLasting ? reason : undefined,
  };
  if (flow.state === "online") effects.push({ do: "notify_offline", reason });
  if (isLasting && flow.lastingFault === undefined) effects.push({ do: "notify_broken" });
  // The grace period is for temporary faults.
  if (isLasting && flow.state !== "offline")
    return {
      flow: { ...next, isInGrace: false },
      effects: [...effects, { do: "stop_grace" }, { do: "store_inactive", reason }],
    };
  // If the line was already offline, its grace period has ended.
  if (next.state === "offline" || next.isInGrace) return { flow: next, effects };
  return { flow: { ...next, isInGrace: true }, effects: [...effects, { do: "start_grace", ms: rules.graceMs }] };
}

function onUnlinked(flow: LineFlow, reason: string, rules: LineRules): LineDecision {
  if (flow.stage === "closed" || flow.stage === "unlinking") return stay(flow);
  // A configured number is never linked by a code.
  if (rules.linksAutomatically) return onOffline(flow, { reason, isLasting: false }, rules);
  return {
    flow: withoutNumber(flow, reason),
    effects: [...STOP_TIMERS, { do: "notify_offline", reason }, { do: "store_unlinked", reason }],
  };
}

/** Stored only after the network has been asked, because unlinking the device needs the credentials. */
function onUnlinking(flow: LineFlow, reason: string): LineDecision {
  if (flow.stage !== "open") return stay(flow);
  const unlinkingFlow: LineFlow = { ...withoutNumber(flow, reason), stage: "unlinking" };
  return { flow: unlinkingFlow, effects: [...STOP_TIMERS, { do: "notify_offline", reason }] };
}

function withoutNumber(flow: LineFlow, reason: string): LineFlow {
  return {
    ...afterMove(flow, "unlink", reason),
    offlineReports: flow.offlineReports + 1,
    condition: null,
    notice: null,
    lastingFault: undefined,
    isInGrace: false,
  };
}

/** While no number is linked, the reason names what linking waits for. */
function withCondition(previous: LineFlow, condition: LineCondition | null, reason: string | undefined): LineFlow {
  if (previous.stage === "closed" || previous.stage === "unlinking") return previous;
  const flow: LineFlow = { ...previous, condition };
  if (flow.state === "linking") return { ...flow, reason: reason ?? (condition ? flow.reason : WAITING_FOR_SCAN) };
  if (flow.state === "unlinked" && reason !== undefined) return { ...flow, reason };
  if (flow.state === "unlinked" && previous.condition && !condition) return { ...flow, reason: NOT_LINKED };
  return flow;
}

function onGraceOver(flow: LineFlow): LineDecision {
  if (flow.state !== "reconnecting" && flow.state !== "connecting") return stay(flow);
  const reason = flow.reason ?? "offline";
  return { flow: afterMove(flow, "give_up", reason), effects: [{ do: "store_inactive", reason }] };
}

const CONNECTING = "connecting";
const NOT_LINKED = "no phone number is linked";
const WAITING_FOR_SCAN = "waiting for the code to be scanned";
const STOP_TIMERS: readonly LineEffect[] = [{ do: "cancel_probe" }, { do: "stop_grace" }];

/** The flow after a move; unchanged if the table has no such move from this state. */
function afterMove(flow: LineFlow, move: LineMove, reason: string | null): LineFlow {
  const state = nextState(LINE_TRANSITIONS, flow.state, move);
  return state === undefined ? flow : { ...flow, state, reason };
}

function stay(flow: LineFlow): LineDecision {
  return { flow, effects: [] };
}
