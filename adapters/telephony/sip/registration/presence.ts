import type { LineHealth } from "../../../../src/ports/telephony.ts";
import { TransportError } from "../transport/transport.ts";

/**
 * Knows whether a trunk can place calls, for all its lines together.
 *
 * It looks by itself, in its own time, and tells when the answer changes. A line's probe is answered with what the last
 * look found, which is {@link LOOK_MS} old at most (a refused password is no better half a minute later, and is older): a
 * thousand lines that are probed every few seconds must not turn into a thousand requests. While nothing is known yet, or a look is due or under way after a doubt, the answer
 * waits for that look.
 */
export interface Presence {
  /** Begins to look. Twice is once. */
  start(): void;
  /** What is true now. Never rejects. */
  ask(): Promise<LineHealth>;
  /** A call failed in the transport: the answer may be old, so it looks at once. */
  suspect(detail: string): void;
  /** The network has answered a call: it is there. */
  proven(): void;
  /** Says goodbye where that is usual, and looks no more. Never rejects; twice is fine. */
  close(): Promise<void>;
}

/** Who is told when the answer changes. */
export type HealthChanged = (health: LineHealth) => void;

/** Between two looks at a trunk that is there, ms. */
export const LOOK_MS = 30_000;
/** A trunk that says nothing for so long is not there, ms; by then a lost datagram has been repeated three times. */
export const SILENCE_MS = 4_500;

/** The wait before the next try after so many failures in a row (1, 2 …), ms: 2 s, doubled up to 30 s, up to a quarter less. */
export function backoffMs(failures: number, chance: number): number {
  return Math.min(30_000, 2_000 * 2 ** Math.min(10, failures - 1)) * (1 - chance / 4);
}

/** The wait after so many refusals of our password in a row, ms: 10 minutes, doubled up to an hour. */
export function refusedMs(refusals: number): number {
  return Math.min(3_600_000, 600_000 * 2 ** Math.min(10, refusals - 1));
}

export const ONLINE: LineHealth = { state: "online" };

/** @param lasting the fault will not pass until somebody mends it */
export function offline(reason: string, lasting = false): LineHealth {
  return lasting ? { state: "offline", reason, lasting } : { state: "offline", reason };
}

/** Whether two answers are the same for a line. */
export function sameHealth(one: LineHealth | undefined, other: LineHealth): boolean {
  if (one?.state !== "offline" || other.state !== "offline") return one?.state === other.state;
  return one.reason === other.reason && one.lasting === other.lasting;
}

/** Why nothing came back, for the owner of the line; a fault of the transport names the peer and the fix itself. */
export function silenceText(server: string, fault: unknown): string {
  const detail = fault instanceof Error ? fault.message : String(fault);
  if (detail.includes(server)) return detail;
  if (fault instanceof TransportError && fault.fault === "dns")
    return `${server} cannot be resolved: ${detail}; check the name in \`server\` and this machine's DNS resolver`;
  return `${server} does not answer: ${detail}; check \`server\` and the firewall`;
}

/** The health of a trunk from which nothing came back. */
export function silent(server: string, fault: unknown): LineHealth {
  return offline(silenceText(server, fault), fault instanceof TransportError && fault.lasting);
}
