import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asInput,
  type CallForm,
  callRequest,
  EMPTY_FORM,
} from "../../../adapters/console/app/pages/new-call/call-form.ts";
import { chosenAudio } from "../../../adapters/console/app/pages/new-call/chosen-audio.ts";
import { FormChecks, faultsByField, problemFaults } from "../../../adapters/console/app/pages/new-call/form-faults.ts";
import { CALL_TYPES } from "../../../src/domain/calls/call.ts";
import { callSchemas, parseCall } from "../../../src/domain/calls/call-input.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

const INSTANCE = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const checks = new FormChecks({ ...DEFAULT_LIMITS, textLength: 100, audioBytes: 1_000 });

function form(fields: Partial<CallForm>): CallForm {
  return { ...EMPTY_FORM, instanceId: INSTANCE, phoneNumber: "+1 (202) 555-0100", ...fields };
}

const bodyOf = (fields: Partial<CallForm>): unknown => callRequest(form(fields), undefined).body;

function faultsOf(fields: Partial<CallForm>): [string | undefined, string, string][] {
  return checks.faults(form(fields)).map(({ field, code, detail }) => [field, code, detail]);
}

describe("a form's request", () => {
  it("has a FIXED_TTS call's text and voice", () => {
    expect(bodyOf({ text: " Hello. ", voiceId: "en-US-1", onMachine: "hang_up" })).toEqual({
      instanceId: INSTANCE,
      type: "FIXED_TTS",
      target: { phoneNumber: "+12025550100" },
      tts: { text: "Hello.", voiceId: "en-US-1" },
      onMachine: "hang_up",
    });
  });

  it("has the file of a FIXED_AUDIO call", () => {
    const { body } = callRequest(form({ type: "FIXED_AUDIO" }), "UklGRg==");
    expect(body).toMatchObject({ type: "FIXED_AUDIO", audio: { audioBase64: "UklGRg==" } });
  });

  it("has the instructions of a DYNAMIC_AGENT call line by line, and its options", () => {
    const fields: Partial<CallForm> = {
      type: "DYNAMIC_AGENT",
      instructions: "Say: Hello {{name}}.\n\n  Ask: Press 1.  \n",
      agentVoiceId: "pt-BR-1",
      language: "pt-BR",
      firstMessage: "Bom dia",
      variables: [
        { name: "name", value: "Ana" },
        { name: "", value: "" },
      ],
      maxTurns: "5",
      maxSeconds: "60",
      transferTo: "+1 202 555 0123; +12025550124",
      tools: "book, find",
      resultSchema: '{"type":"object"}',
      onMachine: "leave_message",
    };
    expect(bodyOf(fields)).toMatchObject({
      agent: {
        instructions: ["Say: Hello {{name}}.", "Ask: Press 1."],
        voiceId: "pt-BR-1",
        language: "pt-BR",
        firstMessage: "Bom dia",
        variables: { name: "Ana" },
        maxTurns: 5,
        maxSeconds: 60,
        transferTo: ["+12025550123", "+12025550124"],
        tools: ["book", "find"],
        resultSchema: { type: "object" },
        onMachine: "leave_message",
      },
    });
  });

  it("lets the callee of an agent speak first with a first message of null", () => {
    const fields = { type: "DYNAMIC_AGENT", firstMessage: "Hello", calleeSpeaksFirst: true } as const;
    expect(bodyOf(fields)).toMatchObject({ agent: { firstMessage: null } });
  });

  it("has the fields of every call, including DYNAMIC_STREAM", () => {
    const fields: Partial<CallForm> = {
      type: "DYNAMIC_STREAM",
      text: "left in the form of another type",
      recording: true,
      fromNumber: "+1 202 555 0124",
      fromName: " Acme ",
      withheld: true,
      reference: " order-7 ",
      metadata: '{"a":1}',
    };
    expect(bodyOf(fields)).toEqual({
      instanceId: INSTANCE,
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: "+12025550100" },
      recording: true,
      from: { phoneNumber: "+12025550124", displayName: "Acme", withheld: true },
      reference: "order-7",
      metadata: { a: 1 },
    });
  });
});

describe("a form's faults", () => {
  it("are at the empty fields", () => {
    expect(faultsOf({ instanceId: "", phoneNumber: "" })).toEqual([
      ["/instanceId", "required", "this field is required"],
      ["/target/phoneNumber", "required", "this field is required"],
      ["/tts/text", "too_short", "the text must not be empty"],
      ["/tts/voiceId", "required", "this field is required"],
    ]);
  });

  it("name a wrong number as the server does", () => {
    expect(faultsOf({ phoneNumber: "030 1234", text: "Hi", voiceId: "en-US-1" })).toEqual([
      [
        "/target/phoneNumber",
        "phone_number_invalid",
        "must be an E.164 number: + and 7 to 15 digits, such as +12025550100",
      ],
    ]);
  });

  it("count the characters of overlong texts", () => {
    const [[field, code, detail] = []] = faultsOf({ text: "x".repeat(101), voiceId: "en-US-1" });
    expect([field, code]).toEqual(["/tts/text", "too_long"]);
    expect(detail).toContain("101 characters");
  });

  it("reject a file that is missing, too large, or not audio", () => {
    const audio = (bytes: Uint8Array<ArrayBuffer>) =>
      ({ type: "FIXED_AUDIO", audio: chosenAudio("a.mp3", bytes) }) as const;
    const codes = (fields: Partial<CallForm>) => faultsOf(fields).map(([field, code]) => [field, code]);
    expect(codes({ type: "FIXED_AUDIO" })).toEqual([["/audio/audioBase64", "required"]]);
    expect(faultsOf(audio(new Uint8Array(0)))).toEqual([
      ["/audio/audioBase64", "audio_unsupported", "the audio file is empty"],
    ]);
    const wave = new Uint8Array(1_001);
    wave.set(new TextEncoder().encode("RIFF....WAVE"));
    expect(faultsOf(audio(wave))).toEqual([
      ["/audio/audioBase64", "audio_unsupported", "the file has 1001 bytes, at most 1000 are allowed"],
    ]);
    expect(faultsOf(audio(new TextEncoder().encode("OggS and more")))).toEqual([
      ["/audio/audioBase64", "audio_unsupported", "the audio is Ogg (Vorbis or Opus); WAV and MP3 can be played"],
    ]);
  });

  it("place a missing variable at the variables, and a bad instruction at the instructions", () => {
    const formWithoutVariable = {
      type: "DYNAMIC_AGENT",
      instructions: "Say: {{who}}",
      variables: [{ name: "a", value: "b" }],
    } as const;
    expect(faultsOf(formWithoutVariable)).toEqual([
      ["/agent/variables", "value_invalid", "has no variable for {{who}}"],
    ]);
    expect(faultsOf({ ...formWithoutVariable, instructions: "Say: {{who" })).toEqual([
      ["/agent/instructions", "placeholder_invalid", '"{{who" is not closed: write {{who}}'],
    ]);
    const longRequest = { type: "DYNAMIC_AGENT", instructions: `Say: x\n${"y".repeat(4_001)}` } as const;
    expect(faultsOf(longRequest).map(([field]) => field)).toEqual(["/agent/instructions"]);
  });

  it("place unparsable JSON and invalid numbers at their fields", () => {
    const fields: Partial<CallForm> = {
      type: "DYNAMIC_AGENT",
      instructions: "Say: Hi.",
      metadata: "{",
      resultSchema: "nope",
      maxTurns: "many",
    };
    expect(faultsOf(fields).map(([field, code]) => [field, code])).toEqual([
      ["/agent/resultSchema", "invalid_json"],
      ["/metadata", "invalid_json"],
      ["/agent/maxTurns", "type_invalid"],
    ]);
  });

  it("are absent for a valid form of each type", () => {
    const wave = new Uint8Array(64);
    wave.set(new TextEncoder().encode("RIFF....WAVE"));
    const filledForm = {
      text: "Hi",
      voiceId: "en-US-1",
      instructions: "Say: Hi.",
      audio: chosenAudio("a.wav", wave),
    };
    for (const type of CALL_TYPES) expect(faultsOf({ ...filledForm, type })).toEqual([]);
  });
});

describe("a problem document's faults", () => {
  it("are at the fields that it names", () => {
    const errors = [
      { pointer: "/agent/instructions/3", code: "too_long", detail: "too long" },
      { pointer: "/from", code: "type_invalid", detail: "must be a phone number" },
      { pointer: "/nobody", code: "unknown_field", detail: "there is no such field" },
    ] as const;
    const faults = faultsByField(problemFaults({ code: "invalid_request", detail: "three faults", errors }));
    expect([...faults.keys()]).toEqual(["/agent/instructions", "/from/phoneNumber", undefined]);
  });

  it("are at the field that the code concerns, without pointers", () => {
    const refusedFields = (code: string) => problemFaults({ code, detail: "no", errors: [] }).map(({ field }) => field);
    expect(refusedFields("destination_not_allowed")).toEqual(["/target/phoneNumber"]);
    expect(refusedFields("instance_not_found")).toEqual(["/instanceId"]);
    for (const code of ["server_busy", "constructor", "__proto__"]) expect(refusedFields(code)).toEqual([undefined]);
  });
});

const anyForm: fc.Arbitrary<CallForm> = fc.record({
  type: fc.constantFrom(...CALL_TYPES),
  instanceId: fc.constantFrom("", INSTANCE),
  phoneNumber: fc.oneof(fc.string(), fc.constant("+12025550100")),
  text: fc.string({ unit: CODE_POINT }),
  voiceId: fc.oneof(fc.constantFrom("", "en-US-1"), fc.string()),
  audio: fc.option(
    fc.uint8Array().map((bytes) => chosenAudio("a", new Uint8Array(bytes))),
    { nil: undefined },
  ),
  instructions: fc.string(),
  agentVoiceId: fc.string(),
  language: fc.string(),
  firstMessage: fc.string(),
  calleeSpeaksFirst: fc.boolean(),
  variables: fc.array(fc.record({ name: fc.oneof(fc.string(), fc.constant("__proto__")), value: fc.string() })),
  maxTurns: fc.oneof(fc.string(), fc.integer().map(String)),
  maxSeconds: fc.oneof(fc.string(), fc.integer().map(String)),
  transferTo: fc.string(),
  tools: fc.string(),
  resultSchema: fc.oneof(fc.string(), fc.json()),
  onMachine: fc.constantFrom("", "continue", "hang_up", "leave_message"),
  recording: fc.boolean(),
  fromNumber: fc.string(),
  fromName: fc.string(),
  withheld: fc.boolean(),
  reference: fc.string(),
  metadata: fc.oneof(fc.string(), fc.json()),
});

fuzz(
  "a form without faults is a request that the server accepts, and each fault has a message",
  fc.property(anyForm, (form) => {
    const faults = new FormChecks(DEFAULT_LIMITS).faults(form);
    for (const { detail } of faults) expect(detail).not.toBe("");
    if (faults.length > 0) return;
    const { body } = callRequest(form, "UklGRg==");
    parseCall(callSchemas(DEFAULT_LIMITS), JSON.parse(JSON.stringify(asInput(body))), { strict: true });
  }),
);
