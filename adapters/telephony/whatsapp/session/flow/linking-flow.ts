import type { LineCondition } from "../../../../../src/ports/telephony.ts";
import type { Closing } from "./closings.ts";
import { waitMs, withFailedAttempt, withLogin } from "./reconnects.ts";
import { applyMove, CONNECT_TIMEOUT_MS, forgetLink, stay } from "./session-health.ts";
import type { Moment, SessionDecision, SessionEffect, SessionFlow, SessionInput } from "./session-transitions.ts";

/** Maximum wait for the first code, ms. */
export const FIRST_CODE_MS = 60_000;
/** Grace period for the next code after the previous one expires, ms; then the client has stopped showing codes. */
export const CODE_MARGIN_MS = 1_000;

/** Inputs while a code waits to be scanned. */
export type LinkingInput =
  | Extract<SessionInput, { readonly type: "qr" | "pairing_code" | "pairing_code_expired" | "passkey" | "paired" }>
  /** No code is valid any longer. */
  | { readonly type: "codes_expired" }
  /** The connection is closed or was never established. */
  | { readonly type: "closing"; readonly closing: Closing }
  | { readonly type: "refused"; readonly condition: LineCondition; readonly reason: string };

/** Starts an attempt to link, from `idle`. */
export function startLinking(flow: SessionFlow, now: number): SessionDecision {
  const clear: SessionEffect = { do: "report_condition", condition: undefined, reason: WAITING };
  return {
    flow: { ...applyMove(flow, "link", WAITING), codesUntil: now + FIRST_CODE_MS, isExplained: false },
    effects: [
      ...(flow.isExplained ? [clear] : []),
      { do: "open_client" },
      { do: "start_timer", timer: "timeout", ms: FIRST_CODE_MS },
    ],
  };
}

/** Decides what an input means while the session is `linking`. */
export function decideLinking(flow: SessionFlow, input: LinkingInput, { now, chance }: Moment): SessionDecision {
  switch (input.type) {
    case "qr": {
      const { qr, ttlMs } = input;
      const next = { ...flow, codes: flow.codes + 1, codesUntil: now + ttlMs, reason: WAITING };
      const show: SessionEffect = { do: "show_code", qr, ttlMs, sequence: next.codes };
      return { flow: next, effects: [{ do: "stop_timer", timer: "retry" }, show, codeTimer(next, now)] };
    }
    case "pairing_code": {
      const next = { ...flow, pairingUntil: now + input.ttlMs, isExplained: true };
      const reason = "waiting for the pairing code to be typed on the phone";
      return {
        flow: next,
        effects: [{ do: "report_condition", condition: "pairing_code", reason }, codeTimer(next, now)],
      };
    }
    case "pairing_code_expired": {
      if (flow.pairingUntil <= now) return stay(flow);
      const next = { ...flow, pairingUntil: now };
      const reason = "the pairing code is no longer valid; request a new one";
      return { flow: next, effects: [{ do: "report_condition", condition: undefined, reason }, codeTimer(next, now)] };
    }
    case "passkey":
      if (input.hasSigner)
        return { flow, effects: [{ do: "log", level: "info", message: "the client signs with a passkey" }] };
      return giveUp(flow, "passkey_required", PASSKEY);
    case "paired":
      return {
        flow: {
          ...applyMove(flow, "connect", "connecting"),
          ...{ isStored: false, isOpened: false, reconnects: withLogin(flow.reconnects, now) },
        },
        effects: [
          { do: "stop_timer", timer: "retry" },
          { do: "store_link", phone: input.phone },
          { do: "start_timer", timer: "timeout", ms: CONNECT_TIMEOUT_MS },
        ],
      };
    case "codes_expired":
      if (flow.codes === 0 && flow.pairingUntil === -Infinity) return giveUp(flow, undefined, "WhatsApp sent no code");
      return giveUp(flow, "qr_expired", "no code was used in time; request a new one");
    case "closing": {
      const { kind, reason } = input.closing;
      if (kind === "outdated") return giveUp(flow, "client_outdated", reason, "error");
      if (kind !== "temporary") return giveUp(flow, undefined, reason, "error");
      const reconnects = withFailedAttempt(flow.reconnects, kind);
      const ms = waitMs(kind, reconnects, now, chance);
      const retry: SessionEffect = { do: "start_timer", timer: "retry", ms };
      return { flow: { ...flow, reason, reconnects }, effects: [{ do: "disconnect" }, retry] };
    }
    case "refused":
      return giveUp(flow, input.condition, input.reason, "error");
  }
}

const WAITING = "waiting for the code to be scanned";
const PASSKEY =
  "the account is protected by a passkey, so that no code can link it; remove the passkey on the phone, then request a code";

/** Keeps waiting while any code is valid. */
function codeTimer({ codesUntil, pairingUntil }: SessionFlow, now: number): SessionEffect {
  const ms = Math.max(0, codesUntil - now, pairingUntil - now) + CODE_MARGIN_MS;
  return { do: "start_timer", timer: "timeout", ms };
}

/** Stops waiting for the code; the next request starts again. */
function giveUp(
  flow: SessionFlow,
  condition: LineCondition | undefined,
  reason: string,
  level?: "error",
): SessionDecision {
  const { flow: next, effects } = forgetLink(flow, reason, { do: "drop_client" });
  const log: SessionEffect[] = level === undefined ? [] : [{ do: "log", level, message: reason }];
  const report: SessionEffect = { do: "report_condition", condition, reason };
  return { flow: { ...next, isExplained: true }, effects: [...effects, report, ...log] };
}
