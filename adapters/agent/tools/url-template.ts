import { ToolFailed } from "../../../src/ports/agent-tool.ts";

/** A URL whose path and query have placeholders such as `{id}`; its host is fixed. */
export interface UrlTemplate {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Placeholder names. */
  readonly names: readonly string[];
  /**
   * Path and query with the encoded arguments filled in, and the unused arguments.
   * @throws {ToolFailed} an argument is missing, has the wrong type, or would change the path
   */
  fill(input: Readonly<Record<string, unknown>>): {
    readonly path: string;
    readonly unusedArguments: Readonly<Record<string, unknown>>;
  };
}

/** Origin, path, query: visible ASCII, no user, no fragment; braces only in path and query. */
const PARTS = /^(https?:\/\/[^/?#\\{}@\s]+)(\/[!"$-.0->@-[\]-~/]*)?(\?[!"$-[\]-~]*)?$/i;
const PLACEHOLDER = /\{([\w-]{1,64})\}/g;
const DOTS = /^\.{1,2}$/;

/** Parses a template; returns undefined if the text is not a template. */
export function urlTemplate(text: string): UrlTemplate | undefined {
  const [, origin = "", path = "/", query = ""] = PARTS.exec(text) ?? [];
  if (!URL.canParse(origin) || /[{}]/.test((path + query).replace(PLACEHOLDER, ""))) return undefined;
  if (segmentsOf(path).some((segment) => DOTS.test(segment))) return undefined;
  const names = [...new Set(Array.from((path + query).matchAll(PLACEHOLDER), ([, name = ""]) => name))];
  return {
    origin,
    names,
    fill(input) {
      const decodedPath = path.replace(PLACEHOLDER, (_, name: string) => pathPart(name, input));
      // Arguments must not lead up the path, alone or combined, even on a server that decodes slashes.
      if (segmentsOf(decodedPath).some((segment) => DOTS.test(segment)))
        throw new ToolFailed("no part of the path may be . or ..");
      const filledPath = path.replace(PLACEHOLDER, (_, name: string) => encodeURIComponent(pathPart(name, input)));
      const search = query.replace(PLACEHOLDER, (_, name: string) => encodeURIComponent(argument(name, input)));
      const unusedArguments = Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
      return { path: filledPath + search, unusedArguments };
    },
  };
}

const segmentsOf = (path: string): string[] => path.split(/[/\\]/);

function pathPart(name: string, input: Readonly<Record<string, unknown>>): string {
  const text = argument(name, input);
  if (text === "") throw new ToolFailed(`${name} must not be empty`);
  return text;
}

function argument(name: string, input: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(input, name)) throw new ToolFailed(`${name} is missing`);
  const value = input[name];
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    throw new ToolFailed(`${name} must be a string, a number or a boolean`);
  // Lone surrogates cannot be encoded.
  return String(value).replace(/\p{Surrogate}/gu, "\uFFFD");
}
