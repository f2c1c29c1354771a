import { DEFAULT_LIMITS, type Limits } from "../../../../../src/domain/limits.ts";

/** The limits of calls in an OpenAPI document of Ringport; missing limits take their defaults. */
export function limitsIn(document: unknown): Limits {
  const schema = (type: string, ...names: readonly string[]): unknown =>
    names.reduce(propertyOf, inside(document, "components", "schemas", `CreateCall_${type}`));
  const number = (value: unknown, otherwise: number): number =>
    Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : otherwise;
  const instructions = schema("DYNAMIC_AGENT", "agent", "instructions");
  const [, audioBytes] = /at most (\d+) bytes/.exec(textOf(schema("FIXED_AUDIO", "audio", "audioBase64"))) ?? [];
  const [, metadataBytes] = /at most (\d+) bytes/.exec(textOf(schema("FIXED_TTS", "metadata"))) ?? [];
  return {
    ...DEFAULT_LIMITS,
    textLength: number(inside(schema("FIXED_TTS", "tts", "text"), "maxLength"), DEFAULT_LIMITS.textLength),
    audioBytes: number(Number(audioBytes), DEFAULT_LIMITS.audioBytes),
    instructions: number(inside(instructions, "maxItems"), DEFAULT_LIMITS.instructions),
    instructionLength: number(inside(instructions, "items", "maxLength"), DEFAULT_LIMITS.instructionLength),
    referenceLength: number(inside(schema("FIXED_TTS", "reference"), "maxLength"), DEFAULT_LIMITS.referenceLength),
    metadataBytes: number(Number(metadataBytes), DEFAULT_LIMITS.metadataBytes),
  };
}

function propertyOf(schema: unknown, name: string): unknown {
  return inside(schema, "properties", name);
}

function textOf(schema: unknown): string {
  const text = inside(schema, "description");
  return typeof text === "string" ? text : "";
}

function inside(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (object, name) =>
      typeof object === "object" && object !== null && Object.hasOwn(object, name)
        ? (object as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}
