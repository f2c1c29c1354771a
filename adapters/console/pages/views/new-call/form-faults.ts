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
export type PlacedFault = AnyFault & { readonly field: FormField | undefined };

/** The field of refusals that concern one field but do not name it. */
const FIELD_OF_CODE: ReadonlyMap<string, FormField> = new Map(
  Object.entries<FormField>({
    instance_not_found: "/instanceId",
    demo_token_restricted: "/instanceId",
    queue_full: "/instanceId",
    destination_not_allowed: "/target/phoneNumber",
    caller_id_not_allowed: "/from/phoneNumber",
  }),
);

/** Checks a form by the rules of the server itself. */
export class FormChecks {
  readonly #schemas: CallSchemas;

  constructor(limits: Limits) {
    this.#schemas = callSchemas(limits);
  }

  /** Faults that the server would find in the form, as far as the page can check, in the order of the body. */
  faults(form: CallForm): PlacedFault[] {
    const { body, faults } = callRequest(form, standIn(form));
    const notJson = faults.map(({ pointer, detail }) => ({ pointer, code: "invalid_json", detail }));
    return [...notJson, ...this.#refused(body), ...notAudio(form)].map(placed);
  }

  #refused(body: unknown): readonly Fault[] {
    try {
      parseCall(this.#schemas, body, { strict: true });
      return [];
    } catch (error) {
      if (error instanceof Refusal) return error.errors;
      throw error;
    }
  }
}

/** The faults of a problem document, at the fields that they name; a problem without faults counts as one. */
export function problemFaults(problem: {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly AnyFault[];
}): PlacedFault[] {
  const { code, detail, errors } = problem;
  return errors.length > 0 ? errors.map(placed) : [{ pointer: "", code, detail, field: FIELD_OF_CODE.get(code) }];
}

/** The faults by field; those without a field are under `undefined`. */
export function byField(faults: readonly PlacedFault[]): ReadonlyMap<FormField | undefined, readonly PlacedFault[]> {
  const fields = new Map<FormField | undefined, PlacedFault[]>();
  for (const fault of faults) fields.set(fault.field, [...(fields.get(fault.field) ?? []), fault]);
  return fields;
}

function placed(fault: AnyFault): PlacedFault {
  const { pointer } = fault;
  // A missing variable is a fault of the agent as a whole.
  if (pointer === "/agent")
    return { ...fault, field: fault.code === "required" ? "/agent/instructions" : "/agent/variables" };
  const field = FORM_FIELDS.find((candidate) => pointer === candidate || pointer.startsWith(`${candidate}/`));
  // A fault of a whole object is shown at its first field.
  return {
    ...fault,
    field: field ?? FORM_FIELDS.find((candidate) => pointer !== "" && candidate.startsWith(`${pointer}/`)),
  };
}

/** Only the size of the file matters, so its text is never built for a check. */
function standIn({ audio }: CallForm): UploadedAudio | undefined {
  return audio && new UploadedAudio(audio.bytes, "");
}

/** The server finds this out when it decodes the file. */
function notAudio({ type, audio }: CallForm): AnyFault[] {
  if (type !== "FIXED_AUDIO" || !audio?.bytes.length || typeof audio.format === "string") return [];
  const detail = `the audio is ${audio.format.unsupported}; WAV and MP3 can be played`;
  return [{ pointer: "/audio/audioBase64", code: "audio_unsupported", detail }];
}
