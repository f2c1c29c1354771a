import { type Fault, invalidInput } from "../refusal.ts";
import type { BatchSchedule } from "./batch.ts";

/** Maximum time by which the start of a new batch may be in the past, ms: clocks differ, and a request takes time. */
export const START_TOLERANCE_MS = 60_000;

/** True if a new batch cannot have this start time. Times are ms since 1970-01-01 UTC. */
export function isPastStart(startAt: number, now: number): boolean {
  return startAt < now - START_TOLERANCE_MS;
}

/** @throws {Refusal} `invalid_request`: a time of a new batch is in the past */
export function assertTimesAhead({ startAt, endAt }: BatchSchedule, now: number): void {
  const faults: Fault[] = [];
  if (startAt !== undefined && isPastStart(startAt, now))
    faults.push(
      timeFault("startAt", startAt, now, "choose a later time, or leave it out to call as soon as the batch starts"),
    );
  if (endAt !== undefined && endAt <= now) faults.push(timeFault("endAt", endAt, now, "choose a later time"));
  const [first, ...others] = faults;
  if (first) throw invalidInput([first, ...others]);
}

function timeFault(field: "startAt" | "endAt", time: number, now: number, fix: string): Fault {
  const detail = `${isoText(time)} is in the past (it is ${isoText(now)}): ${fix}`;
  return { pointer: `/schedule/${field}`, code: "value_invalid", detail };
}

function isoText(time: number): string {
  return new Date(time).toISOString();
}
