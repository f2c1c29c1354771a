import * as v from "valibot";
import { issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";
import { MAX_START_DELAY_MS, START_TRIGGERS, type StartOn } from "./message-start.ts";

const DELAY_RULE = `must be a whole number from 0 to ${MAX_START_DELAY_MS} (ms)`;

/** The schemas of the fields that control when a fixed message starts. */
export function messageStartEntries(): {
  readonly startOn: Schema<StartOn | undefined>;
  readonly startDelayMs: Schema<number | undefined>;
} {
  const startOn = v.picklist(START_TRIGGERS, issueText("value_invalid", `must be one of ${START_TRIGGERS.join(", ")}`));
  const startDelayMs = v.pipe(
    v.number(issueText("value_invalid", DELAY_RULE)),
    v.check(
      (ms) => Number.isInteger(ms) && ms >= 0 && ms <= MAX_START_DELAY_MS,
      issueText("value_invalid", DELAY_RULE),
    ),
  );
  return {
    startOn: v.optional(
      withJsonSchema(startOn, {
        type: "string",
        enum: START_TRIGGERS,
        description:
          "answer: the message begins at the answer; first_word: once the callee has spoken a first word, or has been silent for five seconds. Default: answer.",
      }),
    ),
    startDelayMs: v.optional(
      withJsonSchema(startDelayMs, {
        type: "integer",
        minimum: 0,
        maximum: MAX_START_DELAY_MS,
        description: "A pause before the message, ms. Default: 0.",
      }),
    ),
  };
}
