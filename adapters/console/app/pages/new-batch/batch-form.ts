import { fillPlaceholders, placeholdersOf } from "../../../../../src/domain/agents/agent-variables.ts";
import type { BatchMessage } from "../../../../../src/domain/batches/batch.ts";
import type { CreateBatchInput } from "../../../../../src/domain/batches/batch-input.ts";
import type { RetryReason } from "../../../../../src/domain/batches/retry.ts";
import { isPastStart } from "../../../../../src/domain/batches/schedule-times.ts";
import { type CallForm, callRequest } from "../new-call/call-form.ts";

/** The form for a new batch, without its message and its list. */
export interface BatchForm {
  readonly name: string;
  readonly instanceIds: readonly string[];
  /** Value of a `datetime-local` field, in the browser's time zone. */
  readonly startAt: string;
  readonly endAt: string;
  /** True if calls are limited to certain hours. */
  readonly hasHours: boolean;
  readonly from: string;
  readonly to: string;
  /** 1 Monday to 7 Sunday. */
  readonly days: readonly number[];
  /** `callee`, or an IANA name. */
  readonly zone: string;
  readonly retryOn: readonly RetryReason[];
  readonly retryTimes: string;
  readonly retryMinutes: string;
  readonly maxConcurrent: string;
  /** Minimum wait after a call to the same person outside the batch, minutes. */
  readonly gapMinutes: string;
  /** True if the batch pauses when too many calls fail for the same reason. */
  readonly pausesOnFaults: boolean;
}

export const EMPTY_BATCH: BatchForm = {
  name: "",
  instanceIds: [],
  startAt: "",
  endAt: "",
  hasHours: false,
  from: "09:00",
  to: "18:00",
  days: [1, 2, 3, 4, 5],
  zone: "callee",
  retryOn: [],
  retryTimes: "2",
  retryMinutes: "30",
  maxConcurrent: "",
  gapMinutes: "",
  pausesOnFaults: true,
};

/** The message in a form. @param audio the audio file in Base64; undefined if there is none */
export function batchMessageOf(form: CallForm, audio?: string): BatchMessage {
  const { instanceId: _, target: __, reference: ___, metadata: ____, ...message } = callRequest(form, audio).body;
  return message as BatchMessage;
}

/** The request that creates the draft. */
export function batchRequest(form: BatchForm, message: BatchMessage): CreateBatchInput {
  const { name, instanceIds, startAt, endAt, hasHours, from, to, days, zone } = form;
  const { retryOn, retryTimes, retryMinutes, maxConcurrent, gapMinutes, pausesOnFaults } = form;
  const schedule = {
    ...(startAt !== "" && { startAt: isoTime(startAt) }),
    ...(endAt !== "" && { endAt: isoTime(endAt) }),
    ...(hasHours && { hours: { from, to, ...(days.length < 7 && { days }) }, zone: zone.trim() || "callee" }),
  };
  const input: CreateBatchInput = {
    name: name.trim(),
    instanceIds,
    message: message as unknown as CreateBatchInput["message"],
  };
  if (Object.keys(schedule).length > 0) input.schedule = schedule;
  if (retryOn.length > 0)
    input.retry = { on: retryOn, times: Number(retryTimes), afterMs: Math.round(Number(retryMinutes) * 60_000) };
  if (maxConcurrent.trim() !== "") input.maxConcurrent = Number(maxConcurrent);
  if (gapMinutes.trim() !== "") input.gapMs = Math.round(Number(gapMinutes) * 60_000);
  if (!pausesOnFaults) input.breaker = false;
  return input;
}

/** The form as a call to one person, so that a batch's message is checked like a call's. */
export function asCallForm(form: CallForm): CallForm {
  return {
    ...form,
    instanceId: "inst_batch",
    phoneNumber: "+12025550100",
    text: withValues(form.text),
    instructions: withValues(form.instructions),
    firstMessage: withValues(form.firstMessage),
  };
}

/** The text with a value for each placeholder. */
function withValues(text: string): string {
  return fillPlaceholders(text, Object.fromEntries(placeholdersOf(text).map((name) => [name, "x"])));
}

/** True if the form has a start time that has passed. @param now ms since 1970-01-01 UTC */
export function startHasPassed({ startAt }: Pick<BatchForm, "startAt">, now: number): boolean {
  return isPastStart(new Date(startAt).getTime(), now);
}

/** The UTC time for a local time in the browser. */
function isoTime(localTime: string): string {
  const time = new Date(localTime);
  return Number.isNaN(time.getTime()) ? localTime : time.toISOString();
}
