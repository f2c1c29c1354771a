import type { OnMachine } from "../../../../../src/domain/answering/answering-machine.ts";
import type { CallType } from "../../../../../src/domain/calls/call.ts";
import type { CreateCallInput } from "../../../../../src/domain/calls/call-input.ts";
import { phoneNumberOf } from "../calls/typed-number.ts";
import type { ChosenAudio } from "./chosen-audio.ts";

/** A variable for an agent, as typed. */
export interface VariableRow {
  readonly name: string;
  readonly value: string;
}

/** The form for a new call: all fields as entered, including those of other call types. */
export interface CallForm {
  readonly type: CallType;
  readonly instanceId: string;
  /** The number as typed; see {@link phoneNumberOf}. */
  readonly phoneNumber: string;
  readonly text: string;
  readonly voiceId: string;
  readonly audio: ChosenAudio | undefined;
  /** One instruction per line. */
  readonly instructions: string;
  readonly agentVoiceId: string;
  readonly language: string;
  readonly firstMessage: string;
  /** True if the agent stays silent until the callee has spoken. */
  readonly calleeSpeaksFirst: boolean;
  readonly variables: readonly VariableRow[];
  readonly maxTurns: string;
  readonly maxSeconds: string;
  /** Phone numbers, separated by commas, semicolons or line breaks. */
  readonly transferTo: string;
  /** Tool names, separated like the numbers. */
  readonly tools: string;
  /** JSON. */
  readonly resultSchema: string;
  /** Empty: the server's default. */
  readonly onMachine: OnMachine | "";
  readonly recording: boolean;
  readonly fromNumber: string;
  readonly fromName: string;
  readonly withheld: boolean;
  readonly reference: string;
  /** JSON. */
  readonly metadata: string;
}

/** The form's fields by name, each with its place in the request body. */
export const FORM_FIELDS = [
  "/instanceId",
  "/type",
  "/target/phoneNumber",
  "/tts/text",
  "/tts/voiceId",
  "/audio/audioBase64",
  "/agent/instructions",
  "/agent/voiceId",
  "/agent/language",
  "/agent/firstMessage",
  "/agent/variables",
  "/agent/maxTurns",
  "/agent/maxSeconds",
  "/agent/transferTo",
  "/agent/tools",
  "/agent/resultSchema",
  "/agent/onMachine",
  "/onMachine",
  "/recording",
  "/from/phoneNumber",
  "/from/displayName",
  "/from/withheld",
  "/reference",
  "/metadata",
] as const;
/** One of {@link FORM_FIELDS}. */
export type FormField = (typeof FORM_FIELDS)[number];

/** The initial form. */
export const EMPTY_FORM: CallForm = {
  type: "FIXED_TTS",
  instanceId: "",
  phoneNumber: "",
  text: "",
  voiceId: "",
  audio: undefined,
  instructions: "",
  agentVoiceId: "",
  language: "",
  firstMessage: "",
  calleeSpeaksFirst: false,
  variables: [],
  maxTurns: "",
  maxSeconds: "",
  transferTo: "",
  tools: "",
  resultSchema: "",
  onMachine: "",
  recording: false,
  fromNumber: "",
  fromName: "",
  withheld: false,
  reference: "",
  metadata: "",
};

/** A body of `POST /v1/calls` that may still have faults. */
export type CallBody = Readonly<Record<string, unknown>>;

/** A field that must hold JSON but does not. */
export interface JsonFault {
  readonly pointer: string;
  /** The parser's message. */
  readonly detail: string;
}

/** A form's request, and the faults of fields that cannot be sent. */
export interface FormRequest {
  readonly body: CallBody;
  readonly faults: readonly JsonFault[];
}

/**
 * The request body for a form. Empty fields are left out.
 * @param audio value for the audio file in the body; undefined if there is no file
 */
export function callRequest(form: CallForm, audio: unknown): FormRequest {
  const faults: JsonFault[] = [];
  const json = (text: string, pointer: string): unknown => {
    if (text.trim() === "") return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      faults.push({ pointer, detail: (error as Error).message });
      return undefined;
    }
  };
  const phoneNumber = phoneNumberOf(form.phoneNumber);
  const body = definedFields({
    instanceId: form.instanceId,
    type: form.type,
    target: definedFields({ phoneNumber }),
    ...messageOf(form, audio, json),
    recording: form.recording || undefined,
    from: callerOf(form),
    reference: form.reference.trim(),
    metadata: json(form.metadata, "/metadata"),
  });
  return { body, faults };
}

/** Casts the body of a valid form to the client's input type. */
export function asInput(body: CallBody): CreateCallInput {
  return body as unknown as CreateCallInput;
}

function messageOf(form: CallForm, audio: unknown, json: (text: string, pointer: string) => unknown): CallBody {
  const onMachine = form.onMachine === "" ? undefined : form.onMachine;
  switch (form.type) {
    case "FIXED_TTS":
      return { tts: { text: form.text.trim(), ...definedFields({ voiceId: form.voiceId }) }, onMachine };
    case "FIXED_AUDIO":
      return { audio: definedFields({ audioBase64: audio }), onMachine };
    case "DYNAMIC_STREAM":
      return {};
    case "DYNAMIC_AGENT":
      return {
        agent: definedFields({
          instructions: lines(form.instructions),
          voiceId: form.agentVoiceId,
          language: form.language.trim(),
          firstMessage: form.calleeSpeaksFirst ? null : form.firstMessage.trim(),
          variables: variablesOf(form),
          maxTurns: numberIn(form.maxTurns),
          maxSeconds: numberIn(form.maxSeconds),
          transferTo: nonEmptyList(listItems(form.transferTo).map(phoneNumberOf)),
          tools: nonEmptyList(listItems(form.tools)),
          resultSchema: json(form.resultSchema, "/agent/resultSchema"),
          onMachine,
        }),
      };
  }
}

function callerOf({ fromNumber, fromName, withheld }: CallForm): CallBody | undefined {
  const caller = definedFields({
    phoneNumber: phoneNumberOf(fromNumber),
    displayName: fromName.trim(),
    withheld: withheld || undefined,
  });
  return Object.keys(caller).length === 0 ? undefined : caller;
}

/** The variables; rows with neither a name nor a value are ignored. */
function variablesOf({ variables }: CallForm): CallBody | undefined {
  const rows = variables.filter(({ name, value }) => name.trim() !== "" || value !== "");
  return rows.length === 0 ? undefined : Object.fromEntries(rows.map(({ name, value }) => [name.trim(), value]));
}

/** Parses a number; returns other text unchanged, so that the server's message quotes it. */
function numberIn(text: string): number | string | undefined {
  const trimmedText = text.trim();
  if (trimmedText === "") return undefined;
  return /^-?\d+(?:\.\d+)?$/.test(trimmedText) ? Number(trimmedText) : trimmedText;
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function listItems(text: string): string[] {
  return text
    .split(/[,;\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function nonEmptyList<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The fields that have a value. */
function definedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));
}
