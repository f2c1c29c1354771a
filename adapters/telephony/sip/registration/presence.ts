import { errorText } from "../../../../src/base/error.ts";
import type { LineHealth } from "../../../../src/ports/telephony.ts";
import type { AgentReply } from "../../../sip-stack/dialog/user-agent-options.ts";
import { TransportError } from "../../../sip-stack/transport/transport.ts";

/**
 * Tracks whether a trunk can place calls, for all of its lines.
 *
 * It probes the server on its own schedule, and reports changes. A line's probe gets the latest result, which is at
 * most {@link PROBE_INTERVAL_MS} old (older if the password was refused): a thousand lines that are probed every few
 * seconds must not cause a thousand requests. Without a result, or after `suspect`, a line's probe waits for the next
 * result.
 */
export interface Presence {
  /** Starts probing. Idempotent. */
  start(): void;
  /** The current health. Never rejects. */
  checkHealth(): Promise<LineHealth>;
  /** The response that keeps the trunk offline; undefined if there is none. */
  readonly refusedReply?: AgentReply | undefined;
  /** Probes the server immediately, because a call failed in the transport. */
  suspect(detail: string): void;
  /** Marks the network as online, because it has responded to a call. */
  markReachable(): void;
  /** Stops probing, and removes a registration. Never rejects; idempotent. */
  close(): Promise<void>;
}

/** Receives changes in a trunk's health. */
export type HealthChanged = (health: LineHealth) => void;

/** Interval between probes of an online trunk, ms. */
export const PROBE_INTERVAL_MS = 30_000;
/** Response timeout for a trunk, ms; within it a lost datagram is retransmitted three times. */
export const SILENCE_MS = 4_500;

/** The wait after this many failures in a row, ms: 2 s, doubled up to 30 s, up to a quarter less at random. */
export function backoffMs(failures: number, chance: number): number {
  return Math.min(30_000, 2_000 * 2 ** Math.min(10, failures - 1)) * (1 - chance / 4);
}

/** The wait after this many refusals in a row, ms: 10 minutes, doubled up to an hour. */
export function refusalWaitMs(refusals: number): number {
  return Math.min(3_600_000, 600_000 * 2 ** Math.min(10, refusals - 1));
}

export const ONLINE: LineHealth = { state: "online" };

/** The health of an offline line. @param lasting true if the fault lasts until it is fixed */
export function offline(reason: string, lasting = false): LineHealth {
  return lasting ? { state: "offline", reason, lasting } : { state: "offline", reason };
}

/** True if two results mean the same to a line. */
export function sameHealth(a: LineHealth | undefined, b: LineHealth): boolean {
  if (a?.state !== "offline" || b.state !== "offline") return a?.state === b.state;
  return a.reason === b.reason && a.lasting === b.lasting;
}

/** Explains a missing response to the owner of the line; some transport faults already name the peer and the fix. */
export function silenceText(server: string, fault: unknown): string {
  const detail = errorText(fault);
  if (detail.includes(server)) return detail;
  if (fault instanceof TransportError && fault.fault === "dns")
    return `${server} cannot be resolved: ${detail}; check the name in \`server\` and this machine's DNS resolver`;
  return `${server} does not respond: ${detail}; check \`server\` and the firewall`;
}

/** The health of a trunk that did not respond. */
export function silentHealth(server: string, fault: unknown): LineHealth {
  return offline(silenceText(server, fault), fault instanceof TransportError && fault.isPermanent);
}
