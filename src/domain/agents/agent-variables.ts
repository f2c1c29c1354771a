import { ownMember } from "../../base/own-member.ts";

/** Values by name. */
export type Variables = Readonly<Record<string, string | number | boolean>>;

const PLACEHOLDER = /\{\{\s*([A-Za-z]\w{0,63})\s*\}\}/g;

/** The names of the variables in a text. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);
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
