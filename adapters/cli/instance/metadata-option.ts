import type { Metadata } from "../../../src/domain/instance.ts";
import type { Command, ParsedLine } from "../command.ts";
import { UsageError } from "../usage-error.ts";

/** `--metadata`: what an application keeps with an instance. */
export const METADATA_OPTION: Command["options"][number] = {
  name: "metadata",
  placeholder: "JSON",
  help: 'A JSON object to store with it, such as \'{"branch":"Lisbon"}\'.',
};

/**
 * The object that `--metadata` names; undefined without the option.
 * @throws {UsageError} it is no JSON object
 */
export function metadataIn({ values }: ParsedLine): Metadata | undefined {
  const text = values.get("metadata") as string | undefined;
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Metadata;
  } catch {
    // The same fault as another JSON value.
  }
  throw new UsageError(
    `--metadata is ${JSON.stringify(text.slice(0, 60))}: it must be a JSON object: {"branch":"Lisbon"}`,
  );
}
