import * as v from "valibot";
import { issueText, type Schema, wholeMs, withJsonSchema } from "../input/input-checks.ts";
import { MAX_START_DELAY_MS, START_TRIGGERS, type StartOn } from "./message-start.ts";

/** The schemas of the fields that control when a fixed message starts. */
export function messageStartEntries(): {
  readonly startOn: Schema<StartOn | undefined>;
  readonly startDelayMs: Schema<number | undefined>;
} {
  const startOn = v.picklist(START_TRIGGERS, issueText("value_invalid", `must be one of ${START_TRIGGERS.join(", ")}`));
  return {
    startOn: v.optional(
      withJsonSchema(startOn, {
        type: "string",
        enum: START_TRIGGERS,
        description:
          "answer: the message begins at the answer; first_word: once the callee has spoken a first word, or has been silent for five seconds. Default: answer.",
      }),
    ),
    startDelayMs: v.optional(wholeMs(0, MAX_START_DELAY_MS, "A pause before the message, ms. Default: 0.")),
  };
}
