import { callingHoursBlock, nextCallingTime } from "../dialling-rules/calling-hours.ts";
import type { CallingHours, NumberProtection } from "../dialling-rules/number-protection.ts";
import { zonesOfNumber } from "../numbers/number-zones.ts";
import type { BatchSchedule } from "./batch.ts";

/** The rules for the hours of a batch's calls. */
export interface TargetHours {
  readonly schedule: BatchSchedule;
  /** The calling hours of the server, in the callee's zones. */
  readonly callingHours: CallingHours | undefined;
}

/** The rules for a batch. @param protection in force for its first instance */
export function targetHours(schedule: BatchSchedule, { callingHours }: NumberProtection): TargetHours {
  return { schedule, callingHours: callingHours || undefined };
}

/** The zones of a number whose local hours apply, joined by commas. */
export function zonesKey(phone: string): string {
  return zonesOfNumber(phone).join();
}

/**
 * The earliest time, `at` or later, at which a target may be called, ms since 1970-01-01 UTC; undefined if there is
 * none before the end of the batch.
 * @param zones as {@link zonesKey} returns them
 */
export function nextTargetTime({ schedule, callingHours }: TargetHours, zones: string, at: number): number | undefined {
  const calleeZones = zones === "" ? [] : zones.split(",");
  const batchZones = (schedule.zone ?? "callee") === "callee" ? calleeZones : [schedule.zone ?? ""];
  let time = Math.max(at, schedule.startAt ?? 0);
  // Each rule may postpone the time; within a week, the hours of both begin only a few times.
  for (let steps = 0; steps < 32; steps++) {
    const start = time;
    const inBatchHours: number | undefined = schedule.hours ? nextCallingTime(schedule.hours, batchZones, time) : time;
    if (inBatchHours === undefined) return undefined;
    time = inBatchHours;
    const inCallingHours: number | undefined = callingHours ? nextCallingTime(callingHours, calleeZones, time) : time;
    if (inCallingHours === undefined) return undefined;
    time = inCallingHours;
    if (schedule.endAt !== undefined && time >= schedule.endAt) return undefined;
    if (time === start) return time;
  }
  return undefined;
}

/** The reason why no time suits a target, as a sentence; undefined if one does. */
export function hoursFault(hours: TargetHours, phone: string, now: number): string | undefined {
  if (nextTargetTime(hours, zonesKey(phone), now) !== undefined) return undefined;
  const { schedule, callingHours } = hours;
  const rule = (schedule.zone ?? "callee") === "callee" ? (schedule.hours ?? callingHours) : callingHours;
  const reason = rule && callingHoursBlock(rule, phone, zonesOfNumber(phone), schedule.startAt ?? now)?.detail;
  return reason ?? "the hours of the batch do not begin before its end";
}
