import { CALL_TYPES } from "../../domain/calls/call.ts";
import type { ProblemCode, ProblemKind } from "./problem-kind.ts";

/** Problems with status 400: the body, a parameter or a header is invalid. */
export const INPUT_PROBLEMS = {
  invalid_request: {
    status: 400,
    title: "The request is invalid",
    meaning: "The body or the query is invalid in one or more places. All of them are listed under errors.",
    fix: "Read errors: each entry names a field or a parameter and its rule.",
    example: "/target: this field is required (and 1 more, see errors)",
  },
  invalid_json: {
    status: 400,
    title: "The body is not a JSON object",
    meaning:
      "The body is missing, is not JSON, is not UTF-8, or is JSON but not an object; or it is nested deeper or has more keys " +
      "and values than any request needs.",
    fix: "Send one JSON object. If a shell builds it, check the quotes.",
    example: "the request has no body; send a JSON object",
  },
  required: {
    status: 400,
    title: "A required field is missing",
    meaning: "An entry in errors: a required field is missing.",
    fix: "Send the field that the pointer names. The detail names a field of the body that may be a misspelling of it.",
    example: 'this field is required; you sent "phone_number" (did you mean phoneNumber?)',
  },
  type_invalid: {
    status: 400,
    title: "A field has the wrong type",
    meaning: "An entry in errors: a field has the wrong JSON type.",
    fix: "Send the type that the detail names.",
    example: "must be a string, not 7",
  },
  value_invalid: {
    status: 400,
    title: "A value is not allowed",
    meaning: "An entry in errors: a value has the right type, but is not one of the allowed values.",
    fix: "Send one of the values that the detail names.",
    example: `must be one of ${CALL_TYPES.join(", ")}`,
  },
  too_short: {
    status: 400,
    title: "A value is too short",
    meaning: "An entry in errors: a text or a list is empty.",
    fix: "Send at least one character, or one item.",
    example: "the name must not be empty",
  },
  too_long: {
    status: 400,
    title: "A value is too long",
    meaning: "An entry in errors: a text, a list or the metadata is larger than this server allows.",
    fix: "Send less. The operator of the server can raise the limit.",
    example: "the text has 5000 characters, at most 4096 are allowed",
  },
  unknown_field: {
    status: 400,
    title: "The field is unknown",
    meaning: "An entry in errors: the request asked for strict handling, and this field is unknown.",
    fix: "Check the spelling of the field, or omit Prefer: handling=strict.",
    example: "there is no such field",
  },
  phone_number_invalid: {
    status: 400,
    title: "The phone number is not in E.164 form",
    meaning:
      "The number to call, the caller's, or one of `transferTo` is malformed. Ringport never guesses a country code.",
    fix: "Write + and 7 to 15 digits, country code first, without spaces: +12025550100.",
    example: "/target/phoneNumber: must be an E.164 number: + and 7 to 15 digits, such as +12025550100",
  },
  voice_invalid: {
    status: 400,
    title: "The voice identifier is malformed",
    meaning: "It does not have the form of `en-US-1`, so no server can have it.",
    fix: "Write a language-region tag and a number, such as en-US-1. GET /v1/voices lists the available voices.",
    example: "/tts/voiceId: must be a language-region tag and a number, such as en-US-1 or pt-BR-1",
  },
  voice_unavailable: {
    status: 400,
    title: "The voice is not available here",
    meaning: "The voice id is valid, but not installed here. The server never uses another voice instead.",
    fix: "Choose a voice from GET /v1/voices, or install the engine that the detail names.",
    example: "/tts/voiceId: voice en-GB-7 is not available; to fix it, choose a voice for en-GB: en-GB-1",
  },
  text_unspeakable: {
    status: 400,
    title: "The voice cannot speak the text",
    meaning:
      "A voice would say nothing: the text has no letter and no digit, or all of it is in a script that the voice does not know. If only part of the text is unspeakable, the call is accepted, and its timeline has the event text_skipped.",
    fix: "Send words, and choose a voice for their script; the detail names some.",
    example: "/tts/text: voice en-US-1 cannot speak Cyrillic; to fix it, choose a voice that can: ru-RU-1, uk-UA-1",
  },
  agent_unavailable: {
    status: 400,
    title: "No agent can conduct this call here",
    meaning:
      "No agent on this server can conduct the call, or its network does not return the callee's audio; with Prefer: handling=strict it is refused instead of accepted.",
    fix: "Write the instructions as a script (docs/agents.md), or configure an agent: RINGPORT_AGENT_URL and RINGPORT_AGENT_MODEL. Over a network without the callee's audio, send a message instead.",
    example:
      '/agent: no AI agent is configured on this server, and instruction 1 ("Greet the callee.") is not part of a script',
  },
  audio_unsupported: {
    status: 400,
    title: "The audio file cannot be played",
    meaning: "The file is not Base64, is not MP3 or WAV, is empty, silent, damaged, too large or too long.",
    fix: "Send an MP3 or WAV file of at most 10 MiB and 10 minutes, as Base64 without line breaks. `ffmpeg -i input -ar 16000 -ac 1 output.wav` converts almost every other format.",
    example: "/audio/audioBase64: is not Base64 (RFC 4648, padded, without line breaks)",
  },
  variable_missing: {
    status: 400,
    title: "A variable of the message has no value",
    meaning: "The message contains {{name}}, and the target has no variable of that name.",
    fix: "Add the variable to the target, or the column to the file.",
    example: "the message needs the variable nome, and this row has none",
  },
  placeholder_invalid: {
    status: 400,
    title: "A placeholder in the message is malformed",
    meaning:
      "A text of a batch's message, or of an agent with variables, has {{ without the name of a variable and }} after it. It would be read out literally.",
    fix: "Write each placeholder as {{name}}: 1 to 64 letters without accents, digits and _, starting with a letter. A text with variables cannot have {{ for anything else.",
    example: '/message/tts/text: "{{nome" is not closed: write {{nome}}',
  },
  duplicate: {
    status: 400,
    title: "Another target has the same number",
    meaning: "The number, in any format, occurs more than once in the batch. It is called once.",
    fix: "No action is needed. Remove the row if the file should have no duplicates.",
    example: "row 12 has the same number; it is called once",
  },
  provider_unknown: {
    status: 400,
    title: "The telephony provider is unknown",
    meaning: "The provider is unknown to this server, or this user may not use it.",
    fix: "Omit provider, or choose one that the detail names. For the operator: a trunk's users option lists who may use it.",
    example: '/provider: there is no provider "fax" on this server; it has: simulator',
  },
  idempotency_key_invalid: {
    status: 400,
    title: "The idempotency key is malformed",
    meaning: "The header `Idempotency-Key` is empty, too long, or has characters other than visible ASCII.",
    fix: "Send 1 to 255 visible ASCII characters, such as a UUID.",
    example: "the Idempotency-Key must be 1 to 255 visible ASCII characters",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemKind>>;
