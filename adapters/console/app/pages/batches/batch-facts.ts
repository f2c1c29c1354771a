import type { BatchDetails } from "../../../../../src/client/index.ts";
import type { OnMachine } from "../../../../../src/domain/answering/answering-machine.ts";
import { formatNumber, formatSpan } from "../../dictionary/format.ts";
import { newBatchTexts } from "../new-batch/new-batch-texts.ts";
import { reasonText, batchTexts as t } from "./batch-texts.ts";

/** Human-readable facts about a batch's message. */
export interface MessageFacts {
  /** Spoken text, or an agent's instructions. */
  readonly text?: string | undefined;
  readonly voiceId?: string | undefined;
  readonly language?: string | undefined;
  /** An agent's first words; null if the agent waits for the callee. */
  readonly firstMessage?: string | null | undefined;
  /** Behaviour after a machine has answered. */
  readonly onMachine?: OnMachine | undefined;
}

/** The fields of a message that depend on its type, as the server has checked them. */
interface CheckedFields {
  readonly tts?: { readonly text: string; readonly voiceId: string };
  readonly agent?: Omit<MessageFacts, "text"> & { readonly instructions: readonly string[] };
  readonly onMachine?: OnMachine;
}

/** The facts about a message; it has the same fields as in a request. */
export function messageFacts(message: Readonly<Record<string, unknown>>): MessageFacts {
  const { tts, agent, onMachine } = message as CheckedFields;
  if (agent) {
    const { instructions, voiceId, language, firstMessage } = agent;
    return { text: instructions.join("\n"), voiceId, language, firstMessage, onMachine: agent.onMachine };
  }
  return { ...tts, onMachine };
}

/** Hours with their days and time zone: `09:00–18:00 · Mon, Tue · UTC`. */
export function hoursText(hours: NonNullable<BatchDetails["schedule"]["hours"]>, zone: string): string {
  const { dayNames } = newBatchTexts.value.schedule;
  const { from, to, days } = hours;
  const names = days?.map((day) => dayNames[day as keyof typeof dayNames]).join(", ");
  const place = zone === "callee" ? t.value.summary.calleeZone : zone;
  return [`${from}–${to}`, names, place].filter((part) => part !== undefined).join(" · ");
}

/** Retries: `Busy: 2 more calls, after 15 minutes`. */
export function retryText({ on, times, backoff }: NonNullable<BatchDetails["retry"]>): string {
  const { summary } = t.value;
  const { first_ms, factor, max_ms } = backoff;
  const after =
    factor === 1 || times === 1
      ? summary.after(formatSpan(first_ms))
      : summary.growing(formatSpan(first_ms), formatNumber(factor), formatSpan(max_ms));
  return `${on.map(reasonText).join(", ")}: ${summary.times(times)}, ${after}`;
}
