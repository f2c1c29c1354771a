import { decideSession } from "../../../../../adapters/telephony/whatsapp/session/flow/session-flow.ts";
import { NEW_SESSION } from "../../../../../adapters/telephony/whatsapp/session/flow/session-health.ts";
import type {
  Moment,
  SessionDecision,
  SessionEffect,
  SessionFlow,
  SessionInput,
} from "../../../../../adapters/telephony/whatsapp/session/flow/session-transitions.ts";

export const ONLINE_STATE = { isOpen: true, connected: true, registered: true };
export const DOWN = { isOpen: false, connected: false, registered: true };

/** A moment at which this server has its lease, with a `chance` of 0.5. */
export function momentAt(now: number, overrides: Partial<Moment> = {}): Moment {
  return {
    now,
    wallTime: Date.UTC(2026, 0, 1) + now,
    chance: 0.5,
    isOwner: true,
    inCall: false,
    hasStrays: false,
    ...overrides,
  };
}

export const closeInput = (reason: string, isLogout = false, code?: number): SessionInput => ({
  type: "closed",
  reason,
  isLogout,
  code,
});

/** Feeds inputs to a session, one second apart, and records its decisions. */
export function decideAll(flow: SessionFlow, ...inputs: SessionInput[]): SessionDecision {
  let decision: SessionDecision = { flow, effects: [] };
  inputs.forEach((input, index) => {
    decision = decideSession(decision.flow, input, momentAt((index + 1) * 1_000));
  });
  return decision;
}

const flowAfter = (...inputs: SessionInput[]): SessionFlow => decideAll(NEW_SESSION, ...inputs).flow;

/** One session in each state, reached by its ordinary path. */
export const FLOWS = {
  idle: NEW_SESSION,
  linking: flowAfter({ type: "link" }, { type: "qr", qr: "one", ttlMs: 60_000 }),
  connecting: flowAfter({ type: "resume" }, { type: "login" }),
  online: flowAfter({ type: "resume" }, { type: "opened", ...ONLINE_STATE }),
  dropped: decideSession(
    flowAfter({ type: "resume" }, { type: "opened", ...ONLINE_STATE }),
    { type: "state", ...DOWN },
    momentAt(3_000, { inCall: true }),
  ).flow,
  waiting: flowAfter(
    { type: "resume" },
    { type: "opened", ...ONLINE_STATE },
    closeInput("failure_service_unavailable", false, 503),
  ),
  halted: flowAfter({ type: "resume" }, { type: "opened", ...ONLINE_STATE }, closeInput("stream_error_replaced")),
  closed: flowAfter({ type: "close" }),
} as const satisfies Record<SessionFlow["state"], SessionFlow>;

/** The effects of this kind. */
export function effectsOf<Kind extends SessionEffect["do"]>(
  { effects }: SessionDecision,
  kind: Kind,
): Extract<SessionEffect, { readonly do: Kind }>[] {
  return effects.filter((effect): effect is Extract<SessionEffect, { readonly do: Kind }> => effect.do === kind);
}

/** The names of the effects, in order, apart from timers. */
export function effectNames({ effects }: SessionDecision): string[] {
  return effects.map((effect) => effect.do).filter((name) => !name.endsWith("_timer"));
}
