import { splitList } from "../message/split-list.ts";

/** What a Reason field says (RFC 3326). */
export interface Reason {
  /** `Q.850`, `SIP` …; as it is written. */
  readonly protocol: string;
  readonly cause: number | undefined;
  /** Without its quotes. */
  readonly text: string | undefined;
}

/** The values of a Reason field, in their order. Never throws; linear in the text. */
export function parseReason(field: string): Reason[] {
  return splitList(field).map((value) => {
    const [protocol = "", ...parameters] = splitParameters(value);
    const read = (name: string): string | undefined => {
      const found = parameters.find((parameter) => parameter.toLowerCase().startsWith(`${name}=`));
      return found?.slice(name.length + 1).trim();
    };
    const cause = Number(read("cause") || Number.NaN);
    return {
      protocol,
      cause: Number.isInteger(cause) && cause >= 0 && cause < 1_000 ? cause : undefined,
      text: unquoted(read("text")),
    };
  });
}

/** The Q.850 cause that Reason fields name; undefined where they name none. */
export function q850Of(reasons: readonly Reason[]): number | undefined {
  return reasons.find(({ protocol }) => protocol.toUpperCase() === "Q.850")?.cause;
}

/** Splits at semicolons that are not in quotes, and trims. */
function splitParameters(value: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at <= value.length; at++) {
    const character = value[at];
    if (character === "\\" && quoted) at++;
    else if (character === '"') quoted = !quoted;
    if (at >= value.length || (character === ";" && !quoted)) {
      parts.push(
        value
          .slice(from, at)
          .replace(/\s*=\s*/, "=")
          .trim(),
      );
      from = at + 1;
    }
  }
  return parts;
}

function unquoted(text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith('"')) return text;
  return text.slice(1, text.endsWith('"') && text.length > 1 ? -1 : undefined).replace(/\\(.)/g, "$1");
}
