import { UploadedAudio } from "../../../../../src/domain/calls/audio-input.ts";
import { type CallSchemas, callSchemas, parseCall } from "../../../../../src/domain/calls/call-input.ts";
import type { Limits } from "../../../../../src/domain/limits.ts";
import { type Fault, Refusal } from "../../../../../src/domain/refusal.ts";
import { type CallForm, callRequest, FORM_FIELDS, type FormField } from "./call-form.ts";

/** Fault of a request. */
interface AnyFault {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** A fault with its field; faults without one belong to the form itself. */
export type FieldFault = AnyFault & { readonly field: FormField | undefined };

/** The field that each refusal concerns, for refusals that do not name it. */
const FIELD_OF_CODE: ReadonlyMap<string, FormField> = new Map(
  Object.entries<FormField>({
    instance_not_found: "/instanceId",
    demo_token_restricted: "/instanceId",
    queue_full: "/instanceId",
    destination_not_allowed: "/target/phoneNumber",
    caller_id_not_allowed: "/from/phoneNumber",
  }),
);

/** Checks a form according to the server's rules. */
export class FormChecks {
  readonly #schemas: CallSchemas;

  constructor(limits: Limits) {
    this.#schemas = callSchemas(limits);
  }

  /** Faults that the page can find before the server does, in body order. */
  faults(form: CallForm): FieldFault[] {
    const { body, faults } = callRequest(form, audioPlaceholder(form));
    const jsonFaults = faults.map(({ pointer, detail }) => ({ pointer, code: "invalid_json", detail }));
    return [...jsonFaults, ...this.#schemaFaults(body), ...audioFaults(form)].map(withField);
  }

  #schemaFaults(body: unknown): readonly Fault[] {
    try {
      parseCall(this.#schemas, body, { strict: true });
      return [];
    } catch (error) {
      if (error instanceof Refusal) return error.errors;
      throw error;
    }
  }
}

/** The faults in a problem document, each with its field; a problem without faults counts as one fault. */
export function problemFaults(problem: {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly AnyFault[];
}): FieldFault[] {
  const { code, detail, errors } = problem;
  return errors.length > 0 ? errors.map(withField) : [{ pointer: "", code, detail, field: FIELD_OF_CODE.get(code) }];
}

/** The faults by field; those without a field are under `undefined`. */
export function faultsByField(
  faults: readonly FieldFault[],
): ReadonlyMap<FormField | undefined, readonly FieldFault[]> {
  const fields = new Map<FormField | undefined, FieldFault[]>();
  for (const fault of faults) fields.set(fault.field, [...(fields.get(fault.field) ?? []), fault]);
  return fields;
}

function withField(fault: AnyFault): FieldFault {
  const { pointer } = fault;
  // The server reports a missing variable for the agent as a whole.
  if (pointer === "/agent")
    return { ...fault, field: fault.code === "required" ? "/agent/instructions" : "/agent/variables" };
  const field = FORM_FIELDS.find((candidate) => pointer === candidate || pointer.startsWith(`${candidate}/`));
  // A fault of a whole object is shown at the object's first field.
  return {
    ...fault,
    field: field ?? FORM_FIELDS.find((candidate) => pointer !== "" && candidate.startsWith(`${pointer}/`)),
  };
}

/** Placeholder for the file: checks need only its size, not its Base64 text. */
function audioPlaceholder({ audio }: CallForm): UploadedAudio | undefined {
  return audio && new UploadedAudio(audio.bytes, "");
}

/** Faults of the audio file that the server finds when it decodes it. */
function audioFaults({ type, audio }: CallForm): AnyFault[] {
  if (type !== "FIXED_AUDIO" || !audio?.bytes.length || typeof audio.format === "string") return [];
  const detail = `the audio is ${audio.format.unsupported}; WAV and MP3 can be played`;
  return [{ pointer: "/audio/audioBase64", code: "audio_unsupported", detail }];
}
