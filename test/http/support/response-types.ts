import * as v from "valibot";
import { STREAM_EVENTS } from "../../../src/application/call-audio/streams/stream-client.ts";
import { BATCH_STATUSES, TARGET_STATUSES } from "../../../src/domain/batches/batch.ts";
import { RETRY_REASONS } from "../../../src/domain/batches/retry.ts";
import { WAIT_REASONS } from "../../../src/domain/batches/target-wait.ts";
import { CALL_STATUSES, CALL_TYPES } from "../../../src/domain/calls/call.ts";
import { COMPLETED_REASONS, FAILED_REASONS, HEARD_EVIDENCE } from "../../../src/domain/calls/outcome.ts";
import { SPEAKERS } from "../../../src/domain/calls/transcript.ts";
import { EVENT_TYPES } from "../../../src/domain/events.ts";
import { DELIVERY_STATUSES } from "../../../src/domain/webhooks/webhook.ts";
import type { QueryParameter } from "../../../src/http/requests/query-parameter.ts";
import { SCHEMAS } from "../../../src/http/views/all-shapes.ts";
import { CALL_FILTERS } from "../../../src/http/views/call-view.ts";
import { EVENTS } from "../../../src/http/views/event-shapes.ts";
import { audioMediaShape, liveMediaShape, speechMediaShape } from "../../../src/http/views/media-view.ts";
import { DESCRIPTIONS } from "../../../src/http/views/shape.ts";

/** The part of a schema that the generator reads. */
interface Schema extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly item?: Schema;
  readonly literal?: unknown;
  readonly options?: readonly string[] | readonly Schema[];
  readonly value?: Schema;
  readonly wrapped?: Schema;
}

/** Enumerations with a named type. */
const WORDS = [
  { words: STREAM_EVENTS, type: "StreamEventName", from: "../application/call-audio/streams/stream-client.ts" },
  { words: BATCH_STATUSES, type: "BatchStatus", from: "../domain/batches/batch.ts" },
  { words: TARGET_STATUSES, type: "TargetStatus", from: "../domain/batches/batch.ts" },
  { words: RETRY_REASONS, type: "RetryReason", from: "../domain/batches/retry.ts" },
  { words: WAIT_REASONS, type: "WaitReason", from: "../domain/batches/target-wait.ts" },
  { words: CALL_STATUSES, type: "CallStatus", from: "../domain/calls/call.ts" },
  { words: CALL_TYPES, type: "CallType", from: "../domain/calls/call.ts" },
  { words: COMPLETED_REASONS, type: "CompletedReason", from: "../domain/calls/outcome.ts" },
  { words: FAILED_REASONS, type: "FailedReason", from: "../domain/calls/outcome.ts" },
  { words: HEARD_EVIDENCE, type: "HeardEvidence", from: "../domain/calls/outcome.ts" },
  { words: SPEAKERS, type: "Speaker", from: "../domain/calls/transcript.ts" },
  { words: EVENT_TYPES, type: "EventType", from: "../domain/events.ts" },
  { words: DELIVERY_STATUSES, type: "DeliveryStatus", from: "../domain/webhooks/webhook.ts" },
] as const;

/** Types that the text refers to. */
const IMPORTED = [...WORDS, { type: "EventData", from: "../domain/events.ts" }] as const;

const NAMED = {
  ...SCHEMAS,
  AudioMedia: audioMediaShape,
  SpeechMedia: speechMediaShape,
  LiveMedia: liveMediaShape,
} as unknown as Readonly<Record<string, Schema>>;
const NAMES: ReadonlyMap<unknown, string> = new Map(Object.entries(NAMED).map(([name, schema]) => [schema, name]));

/** The text of `src/http/response-types.ts`: a TypeScript type for each schema. */
export function responseTypesText(): string {
  const shapes = Object.entries(NAMED).filter(([, schema]) => schema.type === "strict_object");
  const responses = Object.entries(SCHEMAS).map(([name, schema]) => `  ${name}: ${typeOf(schema as Schema)};`);
  const body = [
    ...shapes.map(([name, schema]) => interfaceOf(name, schema)),
    eventType(),
    callFilters(),
    `/** Every named response. */\nexport interface NamedResponses {\n${responses.join("\n")}\n}`,
    "/** The value of a named response. */\nexport type View<Name extends keyof NamedResponses> = NamedResponses[Name];",
  ].join("\n\n");
  const usedImports = IMPORTED.filter(({ type }) => new RegExp(`\\b${type}\\b`).test(body));
  const imports = [...new Set(usedImports.map(({ from }) => from))].map((path) => {
    const types = usedImports
      .filter(({ from }) => from === path)
      .map(({ type }) => type)
      .sort();
    return `import type { ${types.join(", ")} } from "${path}";`;
  });
  const comment =
    "// Generated from all-shapes.ts by `UPDATE_DOCS=1 npx vitest run --project unit test/http/response-types.test.ts`.";
  return `${imports.join("\n")}\n\n${comment}\n\n${body}\n`;
}

/** Filters of a list of calls, as a client writes them. */
function callFilters(): string {
  const fields = Object.values<QueryParameter<unknown>>(CALL_FILTERS).map(({ name, description, schema, words }) => {
    const wordUnion = wordTypes(words ?? (schema.enum as readonly string[] | undefined) ?? []);
    const type =
      wordUnion.length === 0
        ? "string"
        : words
          ? unionOf([...wordUnion, `readonly ${wordUnion}[]`])
          : unionOf(wordUnion);
    const form = schema.format === "date-time" ? " RFC 3339." : "";
    return `  /** ${description.replace(", separated by commas", "")}${form} */\n  readonly ${name}?: ${type} | undefined;`;
  });
  return `/** A filter of calls, by the names of the query parameters. */\nexport interface CallFilters {\n${fields.join("\n")}\n}`;
}

/** One generic type for the events of all types, which differ only in their data. */
function eventType(): string {
  const fields = { type: "Type", data: "EventData[Type]" };
  return `/** An entry of a timeline, of one type. */
${interfaceBody("EventOf<Type extends EventType>", EVENTS.queued as Schema, fields)}

/** An entry of a timeline; its \`type\` determines its \`data\`. */
export type Event = { [Type in EventType]: EventOf<Type> }[EventType];`;
}

function interfaceOf(name: string, schema: Schema): string {
  return `/** ${DESCRIPTIONS.get(schema)} */\n${interfaceBody(name, schema)}`;
}

/** @param fieldTypes types of fields that the schema does not determine */
function interfaceBody(name: string, schema: Schema, fieldTypes: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries(schema.entries ?? {}).map(([field, value]) => {
    const description = descriptionOf(value);
    const isOptional = value.type === "optional";
    const type = isOptional ? `?: ${typeOf(value.wrapped!)} | undefined` : `: ${fieldTypes[field] ?? typeOf(value)}`;
    return `${description === undefined ? "" : `  /** ${description} */\n`}  ${field}${type};`;
  });
  return `export interface ${name} {\n${fields.join("\n")}\n}`;
}

const descriptionOf = (schema: Schema): string | undefined =>
  v.getDescription(schema) ?? (schema.wrapped && descriptionOf(schema.wrapped));

function typeOf(schema: Schema): string {
  const { type, options = [] } = schema;
  const name = NAMES.get(schema);
  if (name !== undefined && type === "strict_object") return name;
  if (type === "variant") return "Event"; // the only variant
  if (type === "strict_object") return inline(schema);
  if (type === "literal") return JSON.stringify(schema.literal);
  if (type === "picklist") return unionOf(wordTypes(options as readonly string[]));
  if (type === "union") return unionOf((options as readonly Schema[]).map(typeOf));
  if (type === "nullable") return unionOf([typeOf(schema.wrapped!), "null"]);
  if (type === "array") {
    const item = typeOf(schema.item!);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (type === "record") return `{ [key: string]: ${typeOf(schema.value!)} }`;
  if (["string", "number", "boolean", "null", "unknown"].includes(type)) return type;
  throw new Error(`the generator does not know the schema type "${type}"; add it to typeOf`);
}

function inline({ entries = {} }: Schema): string {
  return `{ ${Object.entries(entries)
    .map(([field, value]) => `${field}: ${typeOf(value)}`)
    .join("; ")} }`;
}

const unionOf = (types: readonly string[]): string => types.join(" | ");

/** The types of a list of words, by name if it consists of known lists. */
function wordTypes(words: readonly string[]): string[] {
  if (words.length === 0) return [];
  const namedList = WORDS.find((list) => list.words.every((word, index) => words[index] === word));
  if (namedList) return [namedList.type, ...wordTypes(words.slice(namedList.words.length))];
  return [JSON.stringify(words[0]), ...wordTypes(words.slice(1))];
}
