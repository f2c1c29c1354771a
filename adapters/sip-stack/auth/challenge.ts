import { readQuotedString, skipLws } from "../message/grammar.ts";

/** A challenge of a server (RFC 3261 section 20.44, RFC 7616 section 3.3). */
export interface Challenge {
  /** Lower case: `digest`, `basic` … */
  readonly scheme: string;
  /** Names in lower case, values without quotes. */
  readonly params: ReadonlyMap<string, string>;
}

/** The challenges in the value of a WWW-Authenticate or Proxy-Authenticate field; malformed ones are skipped. */
export function parseChallenges(text: string): Challenge[] {
  const challenges: Challenge[] = [];
  let params: Map<string, string> | undefined;
  let at = skipSeparators(text, 0);
  while (at < text.length) {
    const end = wordEnd(text, at);
    const word = text.slice(at, end);
    const next = skipLws(text, end);
    if (word === "") {
      at = skipSeparators(text, at + 1);
    } else if (text[next] !== "=" || text[next + 1] === "=") {
      params = new Map();
      challenges.push({ scheme: word.toLowerCase(), params });
      at = skipSeparators(text, next);
    } else {
      const valueAt = skipLws(text, next + 1);
      const quoted = readQuotedString(text, valueAt);
      const valueEnd = quoted?.end ?? wordEnd(text, valueAt);
      const name = word.toLowerCase();
      if (params?.has(name) === false) params.set(name, quoted?.value ?? text.slice(valueAt, valueEnd));
      at = skipSeparators(text, valueEnd);
    }
  }
  return challenges;
}

/** The index after spaces and commas. */
function skipSeparators(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t,".includes(text.charAt(at))) at++;
  return at;
}

function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !' \t,="'.includes(text.charAt(at))) at++;
  return at;
}
