import { trimLws } from "./lws.ts";

/** The elements of a comma-separated list, trimmed; commas in quotes and in `<…>` part nothing. Linear in the text. */
export function splitList(text: string): string[] {
  const elements: string[] = [];
  let from = 0;
  let quoted = false;
  let bracketed = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
      if (at < text.length) continue;
    }
    if (character === '"') quoted = true;
    else if (character === "<") bracketed = true;
    else if (character === ">") bracketed = false;
    else if (at >= text.length || (character === "," && !bracketed)) {
      const element = trimLws(text.slice(from, at));
      if (element !== "") elements.push(element);
      from = at + 1;
    }
  }
  return elements;
}
