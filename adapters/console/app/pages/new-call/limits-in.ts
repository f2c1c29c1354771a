import { DEFAULT_LIMITS, type Limits } from "../../../../../src/domain/limits.ts";

/** The limits for calls in Ringport's OpenAPI document; the defaults apply to missing ones. */
export function limitsIn(document: unknown): Limits {
  const schema = (type: string, ...names: readonly string[]): unknown =>
    names.reduce(propertyOf, memberOf(document, "components", "schemas", `CreateCall_${type}`));
  const number = (value: unknown, fallback: number): number =>
    Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : fallback;
  const instructions = schema("DYNAMIC_AGENT", "agent", "instructions");
  const [, audioBytes] = /at most (\d+) bytes/.exec(textOf(schema("FIXED_AUDIO", "audio", "audioBase64"))) ?? [];
  const [, metadataBytes] = /at most (\d+) bytes/.exec(textOf(schema("FIXED_TTS", "metadata"))) ?? [];
  return {
    ...DEFAULT_LIMITS,
    textLength: number(memberOf(schema("FIXED_TTS", "tts", "text"), "maxLength"), DEFAULT_LIMITS.textLength),
    audioBytes: number(Number(audioBytes), DEFAULT_LIMITS.audioBytes),
    instructions: number(memberOf(instructions, "maxItems"), DEFAULT_LIMITS.instructions),
    instructionLength: number(memberOf(instructions, "items", "maxLength"), DEFAULT_LIMITS.instructionLength),
    referenceLength: number(memberOf(schema("FIXED_TTS", "reference"), "maxLength"), DEFAULT_LIMITS.referenceLength),
    metadataBytes: number(Number(metadataBytes), DEFAULT_LIMITS.metadataBytes),
  };
}

function propertyOf(schema: unknown, name: string): unknown {
  return memberOf(schema, "properties", name);
}

function textOf(schema: unknown): string {
  const text = memberOf(schema, "description");
  return typeof text === "string" ? text : "";
}

function memberOf(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (object, name) =>
      typeof object === "object" && object !== null && Object.hasOwn(object, name)
        ? (object as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}
