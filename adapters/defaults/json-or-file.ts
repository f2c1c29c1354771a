import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../../src/base/error.ts";

/** A setting that holds JSON, or the path of a file with it. */
export interface JsonSetting {
  /** Subject of error messages, plural: "the SIP trunks (RINGPORT_SIP_TRUNKS)". */
  readonly name: string;
  /** A shortened example: `[{"name":…}]`. */
  readonly shortExample: string;
  /** A complete example. */
  readonly example: string;
}

/**
 * The value of a setting that holds JSON, or the path of a file with it.
 * @throws {ConfigurationError} the file cannot be read, or the text is not JSON; the message does not quote the text,
 * since it may contain secrets
 */
export async function jsonOrFile(jsonOrPath: string, setting: JsonSetting): Promise<unknown> {
  const text = jsonOrPath.trim();
  if (/^[[{]/.test(text)) return parseSetting(text, setting.name, setting);
  return parseSetting(await contentOf(text, setting), `the file ${text} with ${setting.name}`, setting);
}

async function contentOf(path: string, { name, shortExample }: JsonSetting): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ConfigurationError(
      `${name}: the file ${path} cannot be read (${code}); it also accepts JSON: ${shortExample}`,
      { cause },
    );
  }
}

/** The parser's message may quote the text; only the position is reported. */
function parseSetting(text: string, subject: string, { example }: JsonSetting): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    const [, position] = /position (\d+)/.exec(String(fault)) ?? [];
    const precedingLines = position === undefined ? undefined : text.slice(0, Number(position)).split("\n");
    const location = precedingLines
      ? ` at line ${precedingLines.length}, column ${(precedingLines.at(-1)?.length ?? 0) + 1}`
      : "";
    throw new ConfigurationError(`${subject} are not JSON${location}; they must be a list such as ${example}`);
  }
}
