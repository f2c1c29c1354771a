import type { Command, ParsedLine } from "./command.ts";

/** A command as typed. */
export interface TypedCommand {
  readonly command: Command;
  readonly line: ParsedLine;
}

/** A request fault, as reported by the server. */
export interface RequestFault {
  readonly pointer: string;
  readonly parameter?: string | undefined;
  readonly detail: string;
}

/**
 * The option or operand that fills each field of a request. A field is a JSON Pointer, without the prefix of a batch's
 * message, or the name of a query parameter. A field under one of these is filled by the same option. If several words
 * fill a field, the first one typed is used.
 */
export const WORDS_OF_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "": "FILE", // the body of an import
    phone_column: "phone-column",
    reference_column: "reference-column",
    variable_columns: "variable-columns",
    batch_id: "batch",
    instance_id: "instance",
    limit: "limit",
    status: "status",
    "/target/phoneNumber": "+NUMBER",
    "/instanceId": "instance",
    "/instanceIds": "instance",
    "/tts/text": "text",
    "/tts/voiceId": "voice",
    "/audio": "audio",
    "/agent": "agent-instructions",
    "/agent/voiceId": "voice",
    "/agent/onMachine": "on-machine",
    "/onMachine": "on-machine",
    "/recording": "record",
    "/expiresAfterMs": "expires-after",
    "/from": "from",
    "/from/displayName": "from-name",
    "/from/withheld": "withheld",
    "/callerId": "from",
    "/callerId/displayName": "from-name",
    "/callerId/withheld": "withheld",
    "/name": "name",
    "/metadata": "metadata",
    "/provider": "provider",
    "/source": "source",
    "/schedule": "until at",
    "/schedule/startAt": "at",
    "/schedule/endAt": "until",
    "/schedule/hours": "hours days",
    "/schedule/hours/days": "days",
    "/schedule/zone": "zone",
    "/retry": "retry",
    "/retry/afterMs": "retry-after",
    "/maxConcurrent": "max-concurrent",
    "/gapMs": "gap",
  }),
);

/** Words in a detail that stand for an option; quoted text in between stays. */
const WORDS_OF_DETAILS: ReadonlyMap<string, string> = new Map([
  ['{"skipInvalid": true}', "--skip-invalid"],
  ["phone_column", "--phone-column"],
  ["variable_columns", "--variable-columns"],
  ["startAt", "--at"],
  ["endAt", "--until"],
]);
const DETAIL_PARTS = new RegExp(
  `\\{"skipInvalid": true\\}|"[^"]*"|\\b(?:${[...WORDS_OF_DETAILS.keys()].slice(1).join("|")})\\b`,
  "g",
);

/** Longest typed value that is quoted, characters. */
const MAX_QUOTED = 60;

/** A fault described by the typed option or operand, with its value: `--gap is "90d": must be …`. */
export function optionFaultText(fault: RequestFault, typedCommand: TypedCommand | undefined): string {
  const { pointer, parameter } = fault;
  const detail = typedCommand ? detailText(fault.detail) : fault.detail;
  const word = typedCommand && typedWord(parameter ?? pointer, typedCommand);
  if (word === undefined) return pointer === "" ? detail : `${pointer}: ${detail}`;
  const { label, value } = word;
  if (value === undefined || detail.includes(value)) return `${label}: ${detail}`;
  const quotedValue = value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}…` : value;
  return `${label} is "${quotedValue}": ${detail}`;
}

/** A detail from the server, with options instead of field names. */
export function detailText(detail: string): string {
  return detail.replace(DETAIL_PARTS, (part) => WORDS_OF_DETAILS.get(part) ?? part);
}

/** The options that fill a field, as typed: `--text`; undefined if there are none. */
export function optionOf(field: string): string | undefined {
  const [word] = wordsOf(field);
  return word === undefined ? undefined : `--${word}`;
}

function typedWord(
  field: string,
  { command, line }: TypedCommand,
): { readonly label: string; readonly value: string | undefined } | undefined {
  const words = wordsOf(field).flatMap((name) => {
    if (command.options.some((option) => option.name === name)) {
      const value = line.values.get(name);
      return [{ label: `--${name}`, value: typeof value === "string" ? value : undefined }];
    }
    const index = (command.operands ?? []).findIndex((operand) => operand.name.toLowerCase() === name.toLowerCase());
    return index < 0 ? [] : [{ label: command.operands?.[index]?.name ?? name, value: line.operands[index] }];
  });
  return words.find(({ value }) => value !== undefined) ?? words[0];
}

/** The names of the options or operands for a field, or for the nearest field above it that has any. */
function wordsOf(field: string): string[] {
  if (field.startsWith("--")) return [field.slice(2)];
  for (let name = field.replace(/^\/message(?=\/)/, ""); ; ) {
    const words = WORDS_OF_FIELDS.get(name);
    if (words !== undefined) return words.split(" ");
    const end = name.lastIndexOf("/");
    if (end <= 0) return [];
    name = name.slice(0, end);
  }
}
