import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CALL_TYPES } from "../../../src/domain/calls/call.ts";
import { inputSchemas, parseCreateCall, parseCreateInstance } from "../../../src/domain/input/inputs.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../src/domain/limits.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const SCHEMAS = inputSchemas(DEFAULT_LIMITS);
const STRICT_SCHEMAS = inputSchemas(DEFAULT_LIMITS, { strict: true });

function refusalOf(parse: () => unknown): Refusal {
  try {
    parse();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("the input was not refused");
}

/** The faults as "pointer code", sorted. */
const faultsOf = (parse: () => unknown) =>
  refusalOf(parse)
    .errors.map(({ pointer, code }) => `${pointer} ${code}`)
    .sort();

const callFaults = (body: unknown, schemas = SCHEMAS) => faultsOf(() => parseCreateCall(schemas, body));
const instanceFaults = (body: unknown, schemas = SCHEMAS) => faultsOf(() => parseCreateInstance(schemas, body));

const SPEECH = {
  instanceId: "inst_01h455vb4pex5vsknk084sn02q",
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "Your table is ready", voiceId: "en-US-1" },
};
const speech = (tts: object) => ({ ...SPEECH, tts: { ...SPEECH.tts, ...tts } });
const audio = (audioBase64: unknown) => ({ ...SPEECH, type: "FIXED_AUDIO", audio: { audioBase64 } });
const agent = (instructions: unknown) => ({ ...SPEECH, type: "DYNAMIC_AGENT", agent: { instructions } });

describe("a call", () => {
  test.each(CALL_TYPES)("%s keeps only the fields of its type, even in strict mode", (type) => {
    const fields = {
      FIXED_TTS: { tts: SPEECH.tts },
      FIXED_AUDIO: { audio: { audioBase64: btoa("RIFF") } },
      DYNAMIC_STREAM: {},
      DYNAMIC_AGENT: { agent: { instructions: ["Be kind"] } },
    };
    const allFields = Object.assign({}, ...Object.values(fields));
    const common = { instanceId: SPEECH.instanceId, target: SPEECH.target, recording: true, type };
    for (const schemas of [SCHEMAS, STRICT_SCHEMAS])
      expect(parseCreateCall(schemas, { ...common, ...allFields })).toStrictEqual({ ...common, ...fields[type] });
    expect(callFaults({ ...common, ...allFields, voice: 1 }, STRICT_SCHEMAS)).toEqual(["/voice unknown_field"]);
  });

  test("a fault names the probable field", () => {
    const details = (body: unknown, schemas = SCHEMAS) =>
      refusalOf(() => parseCreateCall(schemas, body)).errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
    expect(details({ ...SPEECH, target: { phone_number: "+12025550100" } })).toEqual([
      '/target/phoneNumber this field is required; you sent "phone_number" (did you mean phoneNumber?)',
    ]);
    const { instanceId, ...withoutInstance } = SPEECH;
    expect(details({ ...withoutInstance, instance_id: instanceId })).toEqual([
      '/instanceId this field is required; you sent "instance_id" (did you mean instanceId?)',
    ]);
    expect(details(withoutInstance)).toEqual(["/instanceId this field is required"]);
    expect(details(speech({ voice: "en-US-1" }), STRICT_SCHEMAS)).toEqual([
      "/tts/voice there is no such field (did you mean voiceId?)",
    ]);
  });

  test("an instance id has a maximum length, far above that of any real id", () => {
    expect(parseCreateCall(SCHEMAS, { ...SPEECH, instanceId: "x".repeat(100) }).instanceId).toHaveLength(100);
    expect(callFaults({ ...SPEECH, instanceId: "x".repeat(101) })).toEqual(["/instanceId too_long"]);
  });

  test.each(["FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_STREAM", "DYNAMIC_AGENT"])(
    "of type %s needs its own fields",
    (type) => {
      const fullInput = { ...SPEECH, type, audio: { audioBase64: "QUJD" }, agent: { instructions: ["Say hello"] } };
      expect(parseCreateCall(SCHEMAS, fullInput)).toMatchObject({ type, target: SPEECH.target });
      const { instanceId, target } = SPEECH;
      const pointer = { FIXED_TTS: "/tts", FIXED_AUDIO: "/audio", DYNAMIC_AGENT: "/agent" }[type];
      if (pointer === undefined) expect(parseCreateCall(SCHEMAS, { instanceId, type, target })).toMatchObject({ type });
      else expect(callFaults({ instanceId, type, target })).toEqual([`${pointer} required`]);
    },
  );

  test("ignores other types' fields, even wrong ones", () => {
    expect(parseCreateCall(SCHEMAS, { ...SPEECH, audio: 5, agent: { instructions: null } })).toMatchObject(SPEECH);
    expect(parseCreateCall(STRICT_SCHEMAS, { ...SPEECH, audio: 5 })).toMatchObject(SPEECH);
  });

  test("without any field is refused with every fault", () => {
    expect(callFaults({})).toEqual(["/instanceId required", "/target required", "/type required"]);
    expect(callFaults({ type: "FIXED_TTS", target: {}, tts: {} })).toEqual([
      "/instanceId required",
      "/target/phoneNumber required",
      "/tts/text required",
      "/tts/voiceId required",
    ]);
  });

  test("with many faults is refused with each of them", () => {
    expect(
      callFaults({ instanceId: 5, type: "FIXED_TTS", target: { phoneNumber: "12" }, tts: { text: "", voiceId: "en" } }),
    ).toEqual([
      "/instanceId type_invalid",
      "/target/phoneNumber phone_number_invalid",
      "/tts/text too_short",
      "/tts/voiceId voice_invalid",
    ]);
  });

  test.each([
    ["a name", "SMS"],
    ["lower case", "fixed_tts"],
    ["a number", 1],
    ["null", null],
    ["a list", ["FIXED_TTS"]],
    ["a key of every object", "constructor"],
  ])("of an unknown type is refused: %s", (_, type) => {
    expect(callFaults({ ...SPEECH, type })).toEqual(["/type value_invalid"]);
  });

  test("is refused with the fault's own code if all faults agree", () => {
    const codeOf = (body: unknown) => refusalOf(() => parseCreateCall(SCHEMAS, body)).code;
    expect(codeOf({ ...SPEECH, target: { phoneNumber: "12" } })).toBe("phone_number_invalid");
    expect(codeOf(speech({ voiceId: "x" }))).toBe("voice_invalid");
    expect(codeOf(audio("?"))).toBe("audio_unsupported");
    expect(codeOf({ ...speech({ voiceId: "x" }), target: { phoneNumber: "12" } })).toBe("invalid_request");
    expect(codeOf({})).toBe("invalid_request");
    expect(codeOf([])).toBe("invalid_json");
  });
});

describe("a phone number", () => {
  test.each(["+1234567", "+123456789012345", "+12025550100", "+4915112345678"])(
    "%s is valid, and is not rewritten",
    (phoneNumber) => {
      expect(parseCreateCall(SCHEMAS, { ...SPEECH, target: { phoneNumber } }).target.phoneNumber).toBe(phoneNumber);
    },
  );

  test.each([
    "12025550100",
    "+0123456789",
    "+123456",
    "+1234567890123456",
    "+1 202 555 0100",
    "+1-202-555-0100",
    " +12025550100",
    "+12025550100\n",
    "+١٢٣٤٥٦٧٨",
    "+1202555010a",
    "0012025550100",
    "",
    "+",
    "sip:+12025550100@example.com",
  ])("%j is not valid", (phoneNumber) => {
    expect(callFaults({ ...SPEECH, target: { phoneNumber } })).toEqual(["/target/phoneNumber phone_number_invalid"]);
  });
});

describe("the start of a message", () => {
  test.each([
    [{ startOn: "first_word", startDelayMs: 0 }],
    [{ startOn: "answer", startDelayMs: 10_000 }],
    [{ target: { phoneNumber: "+12025550100", extension: ",,12" } }],
  ])("is kept as it was sent (%#)", (fields) => {
    expect(parseCreateCall(SCHEMAS, { ...SPEECH, ...fields })).toMatchObject(fields);
  });

  test.each([
    [{ startOn: "beep" }, "/startOn value_invalid"],
    [{ startDelayMs: -1 }, "/startDelayMs value_invalid"],
    [{ startDelayMs: 10_001 }, "/startDelayMs value_invalid"],
    [{ startDelayMs: 1.5 }, "/startDelayMs value_invalid"],
    [{ startDelayMs: "500" }, "/startDelayMs value_invalid"],
    [{ target: { phoneNumber: "+12025550100", extension: "12 3" } }, "/target/extension value_invalid"],
    [{ target: { phoneNumber: "+12025550100", extension: 12 } }, "/target/extension type_invalid"],
  ])("is refused with a pointer (%#)", (fields, fault) => {
    expect(callFaults({ ...SPEECH, ...fields })).toEqual([fault]);
  });

  test("is a field of messages only", () => {
    const { tts: _, ...stream } = { ...SPEECH, type: "DYNAMIC_STREAM", startOn: "beep", startDelayMs: -1 };
    const input = parseCreateCall(SCHEMAS, stream);
    expect(input).not.toHaveProperty("startOn");
    expect(input).not.toHaveProperty("startDelayMs");
  });
});

describe("a text", () => {
  test.each(["a", "0", "é", "你好", "😀 hello", "\u0000a", "x".repeat(4_096), "😀".repeat(4_095).concat("a")])(
    "may be anything that can be spoken (%#)",
    (text) => {
      expect(parseCreateCall(SCHEMAS, speech({ text }))).toMatchObject({ tts: { text } });
    },
  );

  test.each([
    ["an empty text", "", "too_short"],
    ["spaces", "   ", "text_unspeakable"],
    ["punctuation", "?! … —", "text_unspeakable"],
    ["emoji alone", "😀😀", "text_unspeakable"],
    ["NUL alone", "\u0000", "text_unspeakable"],
    ["SSML", "<speak>Hello.</speak>", "value_invalid"],
    ["a tag of SSML", 'Wait <break time="1s"/> here.', "value_invalid"],
    ["one character too many", "x".repeat(4_097), "too_long"],
    ["one emoji too many", "😀".repeat(4_096).concat("a"), "too_long"],
    ["a million characters", "x".repeat(1_000_000), "too_long"],
  ])("is refused: %s", (_, text, code) => {
    expect(callFaults(speech({ text }))).toEqual([`/tts/text ${code}`]);
  });
});

describe("a voice id", () => {
  test.each(["en-US-1", "pt-BR-12", "fil-PH-1", "es-419-1", "zz-ZZ-99"])("%s is well-formed", (voiceId) => {
    expect(parseCreateCall(SCHEMAS, speech({ voiceId }))).toMatchObject({ tts: { voiceId } });
  });

  test.each([
    "en",
    "en-US",
    "en-us-1",
    "EN-US-1",
    "en-US-0",
    "en-US-01",
    "en-US-100",
    "e-US-1",
    "engl-US-1",
    "en-US-1 ",
    "en_US_1",
    "",
  ])("%j is malformed", (voiceId) => {
    expect(callFaults(speech({ voiceId }))).toEqual(["/tts/voiceId voice_invalid"]);
  });
});

describe("an audio file", () => {
  test.each(["QUJD", "QUI=", "QQ==", "data:audio/wav;base64,QUJD"])("%j is Base64", (text) => {
    expect(parseCreateCall(SCHEMAS, audio(text))).toMatchObject({ audio: { audioBase64: text } });
  });

  test.each([
    "",
    "data:audio/wav;base64,",
    "QUJ",
    "QU JD",
    "QUJD\n",
    "QU-_",
    "Q===",
    "=QUJ",
    "hello!",
    "data:audio/wav,QUJD",
  ])("%j is refused", (text) => {
    expect(callFaults(audio(text))).toEqual(["/audio/audioBase64 audio_unsupported"]);
  });

  test("may have exactly as many bytes as the limit, counted after decoding", () => {
    const schemas = inputSchemas({ ...DEFAULT_LIMITS, audioBytes: 5 });
    expect(() => parseCreateCall(schemas, audio(btoa("12345")))).not.toThrow();
    expect(refusalOf(() => parseCreateCall(schemas, audio(btoa("123456")))).errors[0]).toMatchObject({
      code: "audio_unsupported",
      detail: expect.stringContaining("6 bytes, at most 5"),
    });
  });
});

describe("an agent's instructions", () => {
  test.each([
    ["none", [], "/agent/instructions too_short"],
    ["too many", Array(101).fill("x"), "/agent/instructions too_long"],
    ["no list", "Say hello", "/agent/instructions type_invalid"],
    ["an empty one", ["x", ""], "/agent/instructions/1 too_short"],
    ["a long one", ["x".repeat(4_001)], "/agent/instructions/0 too_long"],
    ["a number", [1], "/agent/instructions/0 type_invalid"],
  ])("are refused: %s", (_, instructions, fault) => {
    expect(callFaults(agent(instructions))).toEqual([fault]);
  });

  test("may be a hundred, each of 4,000 characters", () => {
    const instructions = Array(100).fill("😀".repeat(4_000));
    expect(parseCreateCall(SCHEMAS, agent(instructions))).toMatchObject({ agent: { instructions } });
  });
});

describe("an instance", () => {
  test("needs a name, which is trimmed", () => {
    expect(parseCreateInstance(SCHEMAS, { name: "  Reception \n" })).toEqual({ name: "Reception" });
  });

  test.each([
    ["missing", {}, "/name required"],
    ["null", { name: null }, "/name type_invalid"],
    ["a number", { name: 7 }, "/name type_invalid"],
    ["empty", { name: "" }, "/name too_short"],
    ["spaces", { name: " \t\u00a0" }, "/name too_short"],
    ["too long", { name: "x".repeat(121) }, "/name too_long"],
    ["with the character U+0000", { name: "a\u0000b" }, "/name value_invalid"],
    ["with half of a surrogate pair", { name: "a\ud83d" }, "/name value_invalid"],
  ])("whose name is %s is refused", (_, body, fault) => {
    expect(instanceFaults(body)).toEqual([fault]);
  });

  test("counts an emoji in its name as one character", () => {
    expect(parseCreateInstance(SCHEMAS, { name: "😀".repeat(120) }).name).toHaveLength(240);
    expect(instanceFaults({ name: "😀".repeat(121) })).toEqual(["/name too_long"]);
  });

  test.each([
    ["a list", []],
    ["a text", "x"],
    ["null", null],
    ["a number", 5],
  ])("whose metadata is %s is refused", (_, metadata) => {
    expect(instanceFaults({ name: "x", metadata })).toEqual(["/metadata type_invalid"]);
  });

  test("keeps all its metadata, whatever the keys", () => {
    const json =
      '{"constructor":{"prototype":1},"__proto__":{"polluted":true},"toString":null,"":[],"a/b~c":"😀\\u0000"}';
    const { metadata } = parseCreateInstance(SCHEMAS, { name: "x", metadata: JSON.parse(json) });
    expect(JSON.stringify(metadata)).toBe(JSON.stringify(JSON.parse(json)));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("accepts metadata up to eight levels deep and 16 KiB as JSON", () => {
    const nestedMetadata = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
    expect(() => parseCreateInstance(SCHEMAS, { name: "x", metadata: nestedMetadata(8) })).not.toThrow();
    expect(instanceFaults({ name: "x", metadata: nestedMetadata(9) })).toEqual(["/metadata too_long"]);
    expect(instanceFaults({ name: "x", metadata: nestedMetadata(100) })).toEqual(["/metadata too_long"]);
    expect(instanceFaults({ name: "x", metadata: nestedMetadata(5_000) })).toEqual(["/metadata too_long"]);
    expect(instanceFaults({ name: "x", metadata: { a: [[[[[[[[1]]]]]]]] } })).toEqual(["/metadata too_long"]);
    const filledBody = (bytes: number) => ({ a: "x".repeat(bytes - 8) });
    expect(() => parseCreateInstance(SCHEMAS, { name: "x", metadata: filledBody(16_384) })).not.toThrow();
    expect(instanceFaults({ name: "x", metadata: filledBody(16_385) })).toEqual(["/metadata too_long"]);
    expect(instanceFaults({ name: "x", metadata: { a: "é".repeat(8_190) } })).toEqual(["/metadata too_long"]);
  });

  test("may name its provider", () => {
    expect(parseCreateInstance(SCHEMAS, { name: "x", provider: "sip/main" }).provider).toBe("sip/main");
    expect(instanceFaults({ name: "x", provider: 5 })).toEqual(["/provider type_invalid"]);
    expect(instanceFaults({ name: "x", provider: "x".repeat(65) })).toEqual(["/provider too_long"]);
  });
});

describe("a body", () => {
  test.each([
    ["null", null],
    ["a list", [SPEECH]],
    ["a text", "{}"],
    ["a number", 1],
    ["true", true],
    ["undefined", undefined],
  ])("that is %s is invalid", (_, body) => {
    for (const parse of [parseCreateCall, parseCreateInstance])
      expect(refusalOf(() => parse(SCHEMAS, body))).toMatchObject({
        code: "invalid_json",
        errors: [{ pointer: "", code: "invalid_json" }],
      });
  });

  test("may have unknown fields", () => {
    expect(parseCreateCall(SCHEMAS, { ...SPEECH, extra: 1, tts: { ...SPEECH.tts, speed: 2 } })).toEqual(SPEECH);
    expect(parseCreateInstance(SCHEMAS, { name: "x", extra: 1 })).toEqual({ name: "x" });
  });

  test("in strict handling lists every unknown field with the other faults", () => {
    const body = {
      ...SPEECH,
      extra: 1,
      constructor: 2,
      target: { phoneNumber: "12", ext: "7" },
      tts: { ...SPEECH.tts, "a/b": 1 },
    };
    expect(callFaults(body, STRICT_SCHEMAS)).toEqual([
      "/constructor unknown_field",
      "/extra unknown_field",
      "/target/ext unknown_field",
      "/target/phoneNumber phone_number_invalid",
      "/tts/a~1b unknown_field",
    ]);
    expect(instanceFaults({ name: "", x: 1, y: 2 }, STRICT_SCHEMAS)).toEqual([
      "/name too_short",
      "/x unknown_field",
      "/y unknown_field",
    ]);
    expect(parseCreateCall(STRICT_SCHEMAS, SPEECH)).toEqual(SPEECH);
    expect(parseCreateInstance(STRICT_SCHEMAS, { name: "x", metadata: { any: "thing" } })).toEqual({
      name: "x",
      metadata: { any: "thing" },
    });
  });
});

describe("a body with a million faults", () => {
  test("in one list gets a single fault for the list", () => {
    const start = processorMs();
    expect(callFaults(agent(Array(1_000_000).fill(1)))).toEqual(["/agent/instructions too_long"]);
    expect(processorMs() - start).toBeLessThan(500);
  });

  test("in unknown fields gets the first hundred", () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]));
    expect(refusalOf(() => parseCreateInstance(STRICT_SCHEMAS, { ...fields, name: "x" })).errors).toHaveLength(100);
  });
});

describe("the reference and the metadata of a call", () => {
  const call = { instanceId: "inst_1", type: "DYNAMIC_STREAM", target: { phoneNumber: "+12025550100" } };

  test("are kept unchanged", () => {
    const fields = { reference: " order 7 ", metadata: { constructor: { deep: [1] } } };
    expect(parseCreateCall(SCHEMAS, { ...call, ...fields })).toEqual({ ...call, ...fields });
    expect(parseCreateCall(STRICT_SCHEMAS, { ...call, reference: "ü".repeat(120) }).reference).toHaveLength(120);
  });

  test.each([
    [{ reference: "" }, "/reference too_short"],
    [{ reference: "x".repeat(121) }, "/reference too_long"],
    [{ reference: "a\0" }, "/reference value_invalid"],
    [{ reference: "\ud800" }, "/reference value_invalid"],
    [{ reference: 7 }, "/reference type_invalid"],
    [{ metadata: [] }, "/metadata type_invalid"],
    [{ metadata: { a: "x".repeat(16_384) } }, "/metadata too_long"],
  ])("are refused if they break a rule (case %#)", (fields, fault) => {
    expect(callFaults({ ...call, ...fields })).toEqual([fault]);
  });
});

test("every limit is an option", () => {
  const smallLimits: Limits = {
    bodyBytes: 100,
    allBodiesBytes: 100,
    userBodiesBytes: 100,
    nameLength: 2,
    referenceLength: 2,
    metadataBytes: 10,
    metadataDepth: 1,
    textLength: 3,
    audioBytes: 3,
    audioMs: 1_000,
    instructions: 1,
    instructionLength: 2,
    instancesPerUser: 1,
    webhooksPerUser: 1,
    consentsPerUser: 1,
    audioFilesPerUser: 1,
    batchesPerUser: 1,
    targetsPerBatch: 1,
    storedBytesPerUser: 1,
    storedBytesPerDemoInstance: 1,
  };
  const schemas = inputSchemas(smallLimits);
  expect(instanceFaults({ name: "abc", metadata: { a: {} } }, schemas)).toEqual([
    "/metadata too_long",
    "/name too_long",
  ]);
  expect(instanceFaults({ name: "ab", metadata: { a: "12345" } }, schemas)).toEqual(["/metadata too_long"]);
  expect(callFaults(speech({ text: "1234" }), schemas)).toEqual(["/tts/text too_long"]);
  expect(callFaults(audio("QUJDRA=="), schemas)).toEqual(["/audio/audioBase64 audio_unsupported"]);
  expect(callFaults(agent(["a", "b"]), schemas)).toEqual(["/agent/instructions too_long"]);
  expect(callFaults(agent(["abc"]), schemas)).toEqual(["/agent/instructions/0 too_long"]);
});

/** Almost valid bodies, so that the deeper rules are reached. */
const nearlyValidInput: fc.Arbitrary<unknown> = fc.record(
  {
    name: fc.oneof(fc.string({ unit: CODE_POINT }), fc.jsonValue()),
    metadata: fc.jsonValue({ maxDepth: 12 }),
    provider: fc.oneof(fc.string(), fc.jsonValue()),
    instanceId: fc.oneof(fc.string(), fc.jsonValue()),
    type: fc.oneof(fc.constantFrom<unknown>(...CALL_TYPES), fc.jsonValue()),
    target: fc.oneof(fc.record({ phoneNumber: fc.oneof(fc.constant("+12025550100"), fc.jsonValue()) }), fc.jsonValue()),
    tts: fc.oneof(
      fc.record({ text: fc.oneof(fc.string({ unit: CODE_POINT }), fc.jsonValue()), voiceId: fc.jsonValue() }),
      fc.jsonValue(),
    ),
    audio: fc.oneof(fc.record({ audioBase64: fc.oneof(fc.base64String(), fc.jsonValue()) }), fc.jsonValue()),
    agent: fc.oneof(fc.record({ instructions: fc.oneof(fc.array(fc.string()), fc.jsonValue()) }), fc.jsonValue()),
  },
  { requiredKeys: [] },
);

fuzz(
  "any JSON is accepted, or refused with faults that point into the body",
  fc.property(fc.oneof(nearlyValidInput, fc.jsonValue()), (body) => {
    for (const schemas of [SCHEMAS, STRICT_SCHEMAS])
      for (const parse of [parseCreateCall, parseCreateInstance]) {
        try {
          parse(schemas, body);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
          const { errors } = error as Refusal;
          expect(errors.length).toBeGreaterThan(0);
          for (const { pointer, code, detail } of errors) {
            expect(pointer).toMatch(/^(\/([^/~]|~0|~1)*)*$/u);
            expect(code).toMatch(/^[a-z_]+$/);
            expect(detail.length).toBeGreaterThan(0);
            if (code !== "required") expect(at(body, pointer)).not.toBe(undefined);
          }
        }
      }
  }),
);

/** The value at a JSON Pointer (RFC 6901). */
function at(body: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}

describe("an agent's other fields", () => {
  const body = (fields: object) => ({
    ...SPEECH,
    type: "DYNAMIC_AGENT",
    agent: { instructions: ["Say: Hi."], ...fields },
  });

  test.each([
    ["language", { language: "english" }, "/agent/language value_invalid"],
    ["language as a number", { language: 5 }, "/agent/language type_invalid"],
    ["firstMessage without words", { firstMessage: "…" }, "/agent/firstMessage text_unspeakable"],
    ["firstMessage of 4,097 characters", { firstMessage: "x".repeat(4_097) }, "/agent/firstMessage too_long"],
    ["maxTurns of 0", { maxTurns: 0 }, "/agent/maxTurns value_invalid"],
    ["maxTurns of 1.5", { maxTurns: 1.5 }, "/agent/maxTurns value_invalid"],
    ["maxSeconds of 9", { maxSeconds: 9 }, "/agent/maxSeconds value_invalid"],
    ["tools as a string", { tools: "book" }, "/agent/tools type_invalid"],
    ["tools other than names", { tools: [1] }, "/agent/tools type_invalid"],
    ["65 tools", { tools: Array(65).fill("a") }, "/agent/tools too_long"],
    ["resultSchema as a list", { resultSchema: [] }, "/agent/resultSchema type_invalid"],
    ["resultSchema for a string", { resultSchema: { type: "string" } }, "/agent/resultSchema value_invalid"],
    [
      "resultSchema with a reference",
      { resultSchema: { type: "object", properties: { a: { $ref: "#" } } } },
      "/agent/resultSchema value_invalid",
    ],
    [
      "resultSchema of 9 KB",
      { resultSchema: { type: "object", description: "x".repeat(9_000) } },
      "/agent/resultSchema too_long",
    ],
    ["variables as a list", { variables: [] }, "/agent/variables type_invalid"],
    ["a variable with a hyphen", { variables: { "a-b": "x" } }, "/agent/variables value_invalid"],
    ["a variable that is an object", { variables: { a: {} } }, "/agent/variables value_invalid"],
    ["a variable that is null", { variables: { a: null } }, "/agent/variables value_invalid"],
    ["a long variable", { variables: { a: "x".repeat(1_001) } }, "/agent/variables too_long"],
    [
      "51 variables",
      { variables: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`v${i}`, i])) },
      "/agent/variables too_long",
    ],
    ["a placeholder without a value", { instructions: ["Say: {{ b }}"], variables: { a: 1 } }, "/agent value_invalid"],
    ["an inherited name", { instructions: ["Say: {{constructor}}"], variables: { a: 1 } }, "/agent value_invalid"],
    [
      "a text that its variables make too long",
      { instructions: ["Say: {{a}}{{a}}{{a}}{{a}}{{a}}"], variables: { a: "x".repeat(1_000) } },
      "/agent too_long",
    ],
  ])("are refused: %s", (_, fields, fault) => {
    expect(callFaults(body(fields))).toEqual([fault]);
  });

  test("are kept unchanged", () => {
    const fields = {
      instructions: ["Say: Hello {{name}}, {{ count }} parcels."],
      language: "pt-BR",
      firstMessage: null,
      variables: { name: "Ana", count: 2, express: true, constructor: "x" },
      maxTurns: 10,
      maxSeconds: 60,
      tools: ["book"],
      resultSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { day: { type: ["string", "null"], description: "YYYY-MM-DD" }, people: { type: "integer" } },
        required: ["day"],
      },
    };
    expect(parseCreateCall(SCHEMAS, body(fields))).toMatchObject({ agent: fields });
    expect(parseCreateCall(SCHEMAS, body({ instructions: ["Say {{x}}"] }))).toMatchObject({
      agent: { instructions: ["Say {{x}}"] },
    });
  });

  test("that are unknown are refused if strict", () => {
    expect(callFaults(body({ tempo: 1 }), STRICT_SCHEMAS)).toEqual(["/agent/tempo unknown_field"]);
    expect(parseCreateCall(SCHEMAS, body({ tempo: 1 }))).toStrictEqual({ ...parseCreateCall(SCHEMAS, body({})) });
  });
});
