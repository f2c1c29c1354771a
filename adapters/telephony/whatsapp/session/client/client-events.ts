import { MAX_RESTRICTION_MS } from "../flow/reconnects.ts";
import type { SessionInput } from "../flow/session-transitions.ts";
import { phoneOf } from "../phone-of.ts";

/** The client events that a session handles. */
export const CLIENT_EVENTS = [
  "auth_qr",
  "auth_pairing_required",
  "auth_passkey_required",
  "auth_paired",
  "connection",
  "debug_connection_success",
  "debug_transport_node_in",
  "stream_failure",
] as const;
export type ClientEventName = (typeof CLIENT_EVENTS)[number];

/** Meaning of a client event; its reader requests an opened connection's state. */
export type ClientReport =
  | Exclude<SessionInput, { readonly type: "opened" | "accepted" | "state" | "timer" }>
  | { readonly type: "opened" }
  | { readonly type: "accepted" };

/** Validity of a code without a usable duration, ms. */
const CODE_MS = 20_000;
const MAX_CODE_MS = 10 * 60_000;

/** Reads a client event; returns undefined if a session ignores it. The client is not trusted to keep its types. */
export function readClientEvent(name: ClientEventName, argument: unknown): ClientReport | undefined {
  const event = fieldsOf(argument);
  switch (name) {
    case "auth_qr": {
      const { qr } = event;
      if (typeof qr !== "string" || qr === "") return undefined;
      return { type: "qr", qr, ttlMs: durationIn(event.ttlMs, MAX_CODE_MS) ?? CODE_MS };
    }
    case "auth_pairing_required":
      return { type: "pairing_code_expired" };
    case "auth_passkey_required":
      return { type: "passkey", hasSigner: event.hasSigner === true };
    case "auth_paired":
      return { type: "paired", phone: phoneOf(fieldsOf(event.credentials).meJid) };
    case "connection": {
      const { status, reason, code, isLogout } = event;
      if (status === "open") return { type: "opened" };
      if (status !== "close") return undefined;
      const text = typeof reason === "string" ? reason : "";
      return { type: "closed", reason: text, code: integerIn(code), isLogout: isLogout === true };
    }
    case "debug_connection_success":
      return { type: "accepted" };
    case "debug_transport_node_in":
      return streamErrorIn(fieldsOf(event.node));
    case "stream_failure": {
      const expires = fieldsOf(fieldsOf(event.rawNode).attrs).expire;
      const seconds = typeof expires === "string" && /^\d{1,9}$/.test(expires) ? Number(expires) : undefined;
      const expiresInMs = durationIn(seconds === undefined ? undefined : seconds * 1_000, MAX_RESTRICTION_MS);
      return { type: "failure", code: integerIn(event.failureReason) ?? integerIn(event.failureCode), expiresInMs };
    }
  }
}

/** Codes and conflicts of the stream errors that the client reports as a closed connection. */
const REPORTED_CODES: ReadonlySet<unknown> = new Set(["515", "516"]);
const REPORTED_CONFLICTS: ReadonlySet<unknown> = new Set(["replaced", "device_removed"]);

/** A stream error that the client does not report. */
function streamErrorIn({ tag, attrs, content }: Readonly<Record<string, unknown>>): ClientReport | undefined {
  if (tag !== "stream:error") return undefined;
  const { code } = fieldsOf(attrs);
  const conflicts = Array.isArray(content) ? content.map((child) => fieldsOf(fieldsOf(child).attrs).type) : [];
  if (REPORTED_CODES.has(code) || conflicts.some((type) => REPORTED_CONFLICTS.has(type))) return undefined;
  return { type: "stream_error", code: typeof code === "string" && /^\d{1,4}$/.test(code) ? Number(code) : undefined };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function integerIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

/** A positive duration, capped at `maxMs`; undefined for other values. */
function durationIn(value: unknown, maxMs: number): number | undefined {
  return typeof value === "number" && value > 0 ? Math.min(value, maxMs) : undefined;
}
