import { ownMember } from "../../base/own-member.ts";

/** Values by name. */
export type Variables = Readonly<Record<string, string | number | boolean>>;

const PLACEHOLDER = /\{\{\s*([A-Za-z]\w{0,63})\s*\}\}/g;

/** The names of the variables in a text. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);
}

/** Maximum length of the name in a quoted piece, characters. */
const MAX_QUOTED_NAME = 80;
const CLOSED_PIECE = new RegExp(`^\\{\\{([^{}\\r\\n]{0,${MAX_QUOTED_NAME}})(\\}\\}?)`);
const OPEN_PIECE = new RegExp(`^\\{\\{\\s*([\\p{L}\\p{N}_]{0,${MAX_QUOTED_NAME}})`, "u");

/** The fault of the first `{{` that does not begin a placeholder; undefined if there is none. */
export function placeholderFault(text: string): string | undefined {
  const rest = text.replace(PLACEHOLDER, (placeholder) => " ".repeat(placeholder.length));
  const start = rest.indexOf("{{");
  if (start < 0) return undefined;
  const piece = text.slice(start, start + 2 * MAX_QUOTED_NAME);
  const [closedPiece = "", content = "", end] = CLOSED_PIECE.exec(piece) ?? [];
  if (end === "}}" && content.trim() === "") return `"${closedPiece}" has no name: write {{name}}`;
  if (end === "}}")
    return `"${closedPiece}" has no name of a variable (1 to 64 letters, digits and _, starting with a letter): write {{${variableName(content) || "name"}}}`;
  const isName = end === "}" && variableName(content) === content.trim();
  const [openPiece = "{{", name = ""] = OPEN_PIECE.exec(piece) ?? [];
  return `"${isName ? closedPiece : openPiece.trimEnd()}" is not closed: write {{${variableName(name) || "name"}}}`;
}

/** Turns text, such as a column name, into a variable name; empty if the text has no letter. */
export function variableName(text: string): string {
  const plainText = text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .trim()
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^[_\d]+|_+$/g, "");
  return plainText.slice(0, 64);
}

/**
 * The text with the values instead of `{{name}}`. A value stays on one line, and a placeholder in it is not
 * filled in.
 * @param quote applied to each value. Default: none
 */
export function fillPlaceholders(
  text: string,
  variables: Variables | undefined,
  quote = (value: string) => value,
): string {
  if (variables === undefined) return text;
  return text.replace(PLACEHOLDER, (placeholder: string, name: string) => {
    const value = ownMember(variables, name);
    return value === undefined
      ? placeholder
      : quote(
          String(value)
            .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
            .trim(),
        );
  });
}
