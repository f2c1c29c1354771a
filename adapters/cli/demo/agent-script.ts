import type { CallEvent, CallWith } from "../../../src/client/index.ts";
import { inOneCell, table } from "../terminal/table.ts";

/** A script for the `scripted` agent. The callee at {@link AGENT_NUMBER} answers each of its questions with a key. */
export const AGENT_SCRIPT: readonly string[] = [
  "Say: Hello, this is an automated call from the Riverside clinic.",
  "Ask appointment: Your appointment is tomorrow at ten. Press 1 to keep it, or 2 to cancel it.",
  "If 1: say: Good, we expect you at ten.",
  "If 2: say: Your appointment is cancelled.; hang up",
  "Ask people for 1 digit: How many people will come?",
  "Ask reminder: For a reminder tomorrow morning press 1, otherwise 2.",
  "If 1: say: You will get a reminder.",
  "If 2: continue",
  "Ask rating: How do you rate this call, from 1 to 5?",
  "Say: Thank you. Goodbye.",
];

/** Simulated number whose callee answers with keys. */
export const AGENT_NUMBER = "+12025550112";
/** Simulated number whose callee answers with words. */
export const LOCAL_NUMBER = "+12025550120";

/**
 * Formats the conversation of a finished call: words and pressed keys in chronological order, the result and the
 * latencies.
 * @param call with its transcript, its result and its metrics
 * @param events its timeline
 */
export function conversationLines(
  call: CallWith<"transcript" | "result" | "metrics">,
  events: readonly CallEvent[],
): string[] {
  const utterances = (call.transcript ?? []).map(({ speaker, text, timestamp }) => ({
    at: Date.parse(timestamp),
    row: [speaker === "caller" ? "agent" : "callee", inOneCell(text)],
  }));
  const keyPresses = events.flatMap((event) =>
    event.type === "dtmf" ? [{ at: Date.parse(event.timestamp), row: ["callee", `presses ${event.data.digit}`] }] : [],
  );
  const answerNoun = keyPresses.length > 0 ? "key" : "answer";
  const rows = [...utterances, ...keyPresses].sort((a, b) => a.at - b.at).map(({ row }) => row);
  const gaps = (call.metrics?.turns ?? []).flatMap(({ turn_gap_ms: ms }) => (ms === null ? [] : [ms]));
  return [
    ...table(rows),
    `  result: ${JSON.stringify(call.result)}`,
    `  from each ${answerNoun} to the agent's first word: ${gaps.join(", ")} ms`,
  ];
}
