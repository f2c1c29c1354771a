import type { VoipEvent } from "./call-port.ts";

/** A report from the voip plugin about a call. */
export type VoipReport = ReportedCall &
  (
    | { readonly type: "state"; readonly state: string }
    | { readonly type: "ended"; readonly reason: string | undefined }
    | { readonly type: "inbound_audio"; readonly pcm: Float32Array }
  );

interface ReportedCall {
  readonly callId: string;
  readonly peerJid: string | undefined;
}

/**
 * Reads an event and its call's current state; returns undefined if it is irrelevant. The client's types are not
 * trusted.
 */
export function readVoipEvent(event: VoipEvent): VoipReport | undefined {
  try {
    if (event.type === "error") return undefined;
    const { callId, peerJid, stateData } = event.call as unknown as Readonly<Record<string, unknown>>;
    if (typeof callId !== "string") return undefined;
    const call: ReportedCall = { callId, peerJid: textOf(peerJid) };
    if (event.type === "inbound_audio")
      return event.pcm instanceof Float32Array ? { ...call, type: "inbound_audio", pcm: event.pcm } : undefined;
    const { state, endReason } = (stateData ?? {}) as Readonly<Record<string, unknown>>;
    if (event.type === "ended" || state === "ended") return { ...call, type: "ended", reason: textOf(endReason) };
    return typeof state === "string" ? { ...call, type: "state", state } : undefined;
  } catch {
    return undefined; // a getter that throws
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
