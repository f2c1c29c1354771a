import * as v from "valibot";
import { hasWords } from "../../base/has-words.ts";
import { characters, isObject, issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";

/** Policy for call-screening assistants: continue, hang up, or state name and reason and wait for a person. */
export type OnScreening = "continue" | "hang_up" | ScreeningIntroduction;

/** The introduction for a call-screening assistant. */
export interface ScreeningIntroduction {
  /** Name and reason of the caller, such as "This is Acme, about your order". */
  say: string;
  /** The voice of the introduction. Default: that of the message. */
  voiceId?: string | undefined;
}

/** Maximum length of an introduction, characters: assistants listen for a few seconds. */
const MAX_INTRODUCTION = 300;
const POLICIES = ["continue", "hang_up"] as const;
const RULE = 'must be "continue", "hang_up", or an object with the text to "say"';

/** The schema of the field `onScreening`. @param needsVoice true if the message has no voice */
export function onScreeningSchema(voiceId: Schema<string>, needsVoice: boolean): Schema<OnScreening> {
  const introduction = v.object({
    say: v.pipe(
      v.string(),
      characters(1, MAX_INTRODUCTION, "the introduction"),
      v.check(
        (text) => text === "" || hasWords(text),
        issueText("text_unspeakable", "the introduction has no letter and no digit, so there is nothing to speak"),
      ),
    ),
    voiceId: needsVoice ? voiceId : v.optional(voiceId),
  });
  const policy = v.picklist(POLICIES, issueText("value_invalid", RULE));
  const schema = v.pipe(
    v.any(),
    v.rawTransform<unknown, OnScreening>(({ dataset: { value }, addIssue, NEVER }) => {
      const result = v.safeParse(isObject(value) ? introduction : policy, value);
      if (result.success) return result.output;
      for (const { message, input, expected, received, path } of result.issues as v.BaseIssue<unknown>[])
        addIssue({ message, input, ...(expected !== null && { expected }), received, ...(path && { path }) });
      return NEVER;
    }),
  ) as unknown as Schema<OnScreening>;
  // Strict requests use these to find unknown fields.
  return withJsonSchema(Object.assign(schema, { entries: introduction.entries }), {
    description:
      "What the call does if a call-screening assistant answers, which is recognised by its words: continues, hangs up, or states who is " +
      "calling and why, waits for a person, and then plays the message. With anything but `continue` the call is transcribed. Default: `continue`.",
    oneOf: [
      { type: "string", enum: [...POLICIES] },
      {
        type: "object",
        properties: {
          say: {
            type: "string",
            minLength: 1,
            maxLength: MAX_INTRODUCTION,
            examples: ["This is Acme, about your order."],
          },
          voiceId: {
            type: "string",
            description: needsVoice
              ? "The voice of the introduction."
              : "The voice of the introduction. Default: that of the message.",
          },
        },
        required: needsVoice ? ["say", "voiceId"] : ["say"],
      },
    ],
  });
}

/** The schema of an agent's field `onScreening`; agents introduce themselves. */
export function agentOnScreeningSchema(): Schema<"continue" | "hang_up"> {
  return v.picklist(POLICIES, issueText("value_invalid", `must be one of ${POLICIES.join(", ")}`));
}

/** The introduction of a policy; undefined if there is none. */
export function introductionOf(policy: OnScreening): ScreeningIntroduction | undefined {
  return typeof policy === "object" ? policy : undefined;
}

/** The screening policy of a body, with its JSON pointer; undefined if it needs no transcripts. */
export function screeningIn(
  body: unknown,
): { readonly pointer: string; readonly voiceId: string | undefined } | undefined {
  if (!isObject(body)) return undefined;
  const isAgent = body.type === "DYNAMIC_AGENT";
  const policy = isAgent ? isObject(body.agent) && body.agent.onScreening : body.onScreening;
  if (policy === false || policy === undefined || policy === "continue" || body.type === "DYNAMIC_STREAM")
    return undefined;
  const voiceId = isObject(policy) && typeof policy.voiceId === "string" ? policy.voiceId : undefined;
  return { pointer: isAgent ? "/agent/onScreening" : "/onScreening", voiceId };
}
