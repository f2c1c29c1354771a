import { basename, extname } from "node:path";
import { didYouMean } from "../../../src/base/nearest.ts";
import { MACHINE_POLICIES } from "../../../src/domain/answering/answering-machine.ts";
import {
  type CreateBatchInput,
  MAX_WAIT_MS,
  type RetryInput,
  type ScheduleInput,
} from "../../../src/domain/batches/batch-input.ts";
import { RETRY_REASONS, type RetryReason } from "../../../src/domain/batches/retry.ts";
import { AUDIO_ID_OPTION, MESSAGE_OPTIONS, messageOf } from "../call/call-type-options.ts";
import type { OptionSpec, ParsedLine } from "../command.ts";
import { wholeNumber } from "../settings/parsers.ts";
import { UsageError } from "../usage-error.ts";
import { durationMs, timeOf } from "./batch-times.ts";

/** Options of `ringport batch create` that describe the batch. */
export const BATCH_OPTIONS: readonly OptionSpec[] = [
  ...MESSAGE_OPTIONS,
  AUDIO_ID_OPTION,
  {
    name: "agent-instructions",
    placeholder: "TEXT",
    help: "An agent holds the conversation, with these instructions.",
  },
  {
    name: "instance",
    placeholder: "ID[,ID]",
    help: "The calling instances, by id or name. Default: the only one.",
    completion: "instance",
  },
  { name: "name", placeholder: "NAME", help: "Name of the batch. Default: the name of the file." },
  {
    name: "at",
    placeholder: "TIME",
    help: 'No calls before this time: "tomorrow 10:00", "today 18:30", "10:00", "+2h" or ISO 8601, in the zone of this machine.',
  },
  {
    name: "until",
    placeholder: "TIME",
    help: "No calls from this time on. A time of day means the first one after --at.",
  },
  { name: "hours", placeholder: "FROM-TO", help: "Calls only at these hours of the day: 09:00-18:00." },
  { name: "days", placeholder: "DAYS", help: "Calls only on these days, 1 Monday to 7 Sunday: 1-5 or 1,3,5." },
  {
    name: "zone",
    placeholder: "ZONE",
    help: "Zone of --hours and --days: callee, or a name such as America/Sao_Paulo. Default: callee.",
  },
  {
    name: "retry",
    placeholder: "REASONS[:TIMES]",
    help: `Calls again after these outcomes, once or TIMES times: busy,no_answer:2. Allowed: ${RETRY_REASONS.join(", ")}.`,
  },
  { name: "retry-after", placeholder: "DURATION", help: "Time until the next call: 90s, 15m, 2h or 1d. Default: 15m." },
  {
    name: "max-concurrent",
    placeholder: "NUMBER",
    help: "Calls at the same time. Default: as many as the instances carry.",
  },
  {
    name: "gap",
    placeholder: "DURATION",
    help: "Minimum wait after a call to the same person outside of the batch: 0, 90s, 15m, 2h or 1d. Default: 15m.",
  },
  { name: "no-breaker", help: "Continues even if half of the last 20 calls fail for the same technical reason." },
  {
    name: "on-machine",
    placeholder: "POLICY",
    values: MACHINE_POLICIES,
    help: `If a machine answers: ${MACHINE_POLICIES.join(", ")}. Default: continue.`,
  },
];

const CONCURRENCY_PARSER = wholeNumber(1, 10_000);
const RETRY_TIMES_PARSER = wholeNumber(1, 20);
const CLOCK_PATTERN = /^(?:[01]?\d|2[0-3]):[0-5]\d$|^24:00$/;

/**
 * The batch described by the options, without its instances.
 * @throws {UsageError} an option is malformed, or contradicts another one
 */
export async function batchOf(
  line: ParsedLine,
  file: string,
  now: number,
): Promise<Omit<CreateBatchInput, "instanceIds">> {
  const text = (name: string): string | undefined => line.values.get(name) as string | undefined;
  const message = await batchMessage(line);
  const schedule = scheduleOf(text, now);
  const retry = retryOf(text("retry"), text("retry-after"));
  const onMachine = text("on-machine") as CreateBatchInput["onMachine"];
  const gap = text("gap");
  const concurrency = text("max-concurrent");
  const maxConcurrent = concurrency === undefined ? undefined : CONCURRENCY_PARSER.parse(concurrency);
  if (concurrency !== undefined && maxConcurrent === undefined)
    throw new UsageError(`--max-concurrent is "${concurrency}": it must be ${CONCURRENCY_PARSER.expected}`);
  return {
    name: text("name") ?? basename(file, extname(file)),
    message,
    ...(schedule && { schedule }),
    ...(retry && { retry }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(gap !== undefined && { gapMs: gap === "0" ? 0 : waitMs("--gap", gap) }),
    ...(line.values.get("no-breaker") === true && { breaker: false as const }),
    ...(onMachine !== undefined && { onMachine }),
  };
}

/** Options that are a message, instead of instructions. */
const MESSAGES = ["text", "audio", "audio-id"];

async function batchMessage(line: ParsedLine): Promise<CreateBatchInput["message"]> {
  const instructions = line.values.get("agent-instructions") as string | undefined;
  if (instructions === undefined) {
    if (!MESSAGES.some((name) => line.values.has(name)))
      throw new UsageError(
        'no message: give --text "Hello {{name}}, …", --audio FILE, --audio-id ID or --agent-instructions TEXT',
      );
    return (await messageOf(line)) as CreateBatchInput["message"];
  }
  const other = MESSAGES.find((name) => line.values.has(name));
  if (other) throw new UsageError(`--agent-instructions is the message: leave out --${other}`);
  const voiceId = line.values.get("voice") as string | undefined;
  return {
    type: "DYNAMIC_AGENT",
    agent: { instructions: [instructions], ...(voiceId !== undefined && { voiceId }) },
  };
}

type Text = (name: string) => string | undefined;

function scheduleOf(text: Text, now: number): ScheduleInput | undefined {
  const [at, until, zone] = [text("at"), text("until"), text("zone")];
  const hours = hoursOf(text("hours"), text("days"));
  if (zone !== undefined && hours === undefined)
    throw new UsageError(`--zone is "${zone}", and no hours are given: add --hours or --days, or leave it out`);
  const startsAt = at === undefined ? undefined : timeOf("--at", at, now);
  const endsAt = until === undefined ? undefined : timeOf("--until", until, now, startsAt ?? now);
  if (startsAt !== undefined && endsAt !== undefined && endsAt <= startsAt)
    throw new UsageError(`--until is "${until}", which is not later than --at "${at}": choose a later time`);
  if (startsAt === undefined && endsAt === undefined && hours === undefined) return undefined;
  return {
    ...(startsAt !== undefined && { startAt: new Date(startsAt).toISOString() }),
    ...(endsAt !== undefined && { endAt: new Date(endsAt).toISOString() }),
    ...(hours && { hours }),
    ...(zone !== undefined && { zone }),
  };
}

function hoursOf(hours: string | undefined, days: string | undefined): ScheduleInput["hours"] {
  if (hours === undefined && days === undefined) return undefined;
  const [from = "", to = "", ...others] = (hours ?? "00:00-24:00").split("-").map((clock) => clock.trim());
  const isRange = others.length === 0 && CLOCK_PATTERN.test(from) && CLOCK_PATTERN.test(to);
  const [start, end] = [from.padStart(5, "0"), to.padStart(5, "0")];
  if (!isRange || start >= end)
    throw new UsageError(`--hours is "${hours}": it must be two times of a day, the first one earlier: 09:00-18:00`);
  return { from: start, to: end, ...(days !== undefined && { days: daysOf(days) }) };
}

function daysOf(text: string): number[] {
  const days = text.split(",").flatMap((part) => {
    const [, first, last = first] = /^\s*([1-7])(?:-([1-7]))?\s*$/.exec(part) ?? [];
    const length = first === undefined ? 0 : Number(last) - Number(first) + 1;
    if (length < 1)
      throw new UsageError(`--days is "${text}": it must be days from 1 (Monday) to 7 (Sunday), such as 1-5 or 1,3,5`);
    return Array.from({ length }, (_, i) => Number(first) + i);
  });
  return [...new Set(days)].sort();
}

function retryOf(text: string | undefined, after: string | undefined): RetryInput | undefined {
  if (text === undefined) {
    if (after === undefined) return undefined;
    throw new UsageError("--retry-after needs --retry, such as --retry busy,no_answer:2");
  }
  const [reasons = "", count, ...others] = text.split(":");
  const times = count === undefined ? undefined : RETRY_TIMES_PARSER.parse(count.trim());
  if (others.length > 0 || (count !== undefined && times === undefined))
    throw new UsageError(`--retry is "${text}": after the colon there must be ${RETRY_TIMES_PARSER.expected}`);
  const on = reasons.split(",").map((word): RetryReason => {
    const reason = RETRY_REASONS.find((name) => name === word.trim().toLowerCase().replaceAll("-", "_"));
    if (reason !== undefined) return reason;
    const suggestion = didYouMean(word.trim(), RETRY_REASONS);
    throw new UsageError(
      `--retry names "${word.trim()}"${suggestion}: it must be reasons separated by commas: ${RETRY_REASONS.join(", ")}`,
    );
  });
  return {
    on: [...new Set(on)],
    ...(times !== undefined && { times }),
    ...(after !== undefined && { afterMs: waitMs("--retry-after", after) }),
  };
}

/** Parses a waiting time; returns ms. @throws {UsageError} */
function waitMs(option: string, text: string): number {
  const ms = durationMs(option, text);
  if (ms > MAX_WAIT_MS) throw new UsageError(`${option} is "${text}": it must be at most ${MAX_WAIT_MS / 86_400_000}d`);
  return ms;
}
