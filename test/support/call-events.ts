import type { Message } from "../../src/domain/calls/call.ts";
import type { Event } from "../../src/domain/events.ts";

const ONE_TIME_EVENTS = ["queued", "ringing", "answered"];
const FINAL = ["completed", "failed"];

/** A final call, as stored or as read; `startedAt` in any form. */
interface FinalCall {
  readonly status: string;
  readonly startedAt: unknown;
}

/** Faults in the events of a final call: gaps, repetitions, a wrong start or end. */
export function eventFaults(
  { status, startedAt }: FinalCall,
  events: readonly { readonly type: string; readonly sequence: number | null }[],
): string[] {
  const types = events.map(({ type }) => type);
  const sequences = events.map(({ sequence }) => sequence);
  const faults: string[] = [];
  if (sequences.some((sequence, index) => sequence !== index + 1)) faults.push(`has the numbers ${sequences}`);
  const finals = types.filter((type) => FINAL.includes(type)).join();
  if (finals !== status.toLowerCase()) faults.push(`has the final events "${finals}"`);
  if (types[0] !== "queued") faults.push("does not begin with queued");
  for (const name of ONE_TIME_EVENTS)
    if (types.filter((type) => type === name).length > 1) faults.push(`has ${name} more than once`);
  if (types.includes("answered") !== (startedAt !== null)) faults.push(`has started_at ${startedAt}`);
  return faults;
}

/** A final call that played an audio file. */
interface FileCall {
  readonly message: Message;
  readonly outcome: { readonly reason: string; readonly heardRatio: number | null } | null;
}

/**
 * Faults in a call that played a file of this size: each byte must be part of a header or tag, played, or reported as
 * ignored.
 */
export function fileFaults({ message, outcome }: FileCall, events: readonly Event[], size: number): string[] {
  const { header, played: playedBytes } = (message.type === "FIXED_AUDIO" && message.bytes) || { header: 0, played: 0 };
  const reportedBytes = events.reduce((sum, { type, data }) => sum + (type === "audio_ignored" ? data.bytes : 0), 0);
  const faults: string[] = [];
  if (header + playedBytes + reportedBytes !== size)
    faults.push(`accounts for ${header} + ${playedBytes} + ${reportedBytes} of ${size} bytes`);
  const ratio = Math.round((playedBytes / (playedBytes + reportedBytes)) * 10_000) / 10_000;
  const heardRatio = outcome?.reason === "message_played" ? outcome.heardRatio : null;
  if (heardRatio !== null && heardRatio !== ratio)
    faults.push(`has a heard ratio of ${heardRatio}, but ${ratio} of its audio is played`);
  return faults;
}
