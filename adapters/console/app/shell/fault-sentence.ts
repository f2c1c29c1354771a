import { ownMember } from "../../../../src/base/own-member.ts";
import { RingportError } from "../../../../src/client/index.ts";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/faults.ts";
import { formatRelative } from "../dictionary/format.ts";
import pt from "../dictionary/pt/faults.ts";
import { ConsoleError } from "./console-api.ts";

const t = dictionary({ en, pt });

/** A fault and its fix in the page's language; if there is no text for the code, the server's message. */
export function faultSentence(error: unknown): string {
  if (!(error instanceof ConsoleError || error instanceof RingportError)) return t.value.unexpected;
  const text = ownMember(t.value.codes, error.code) ?? sentence(error.message);
  const { status, retryAfter } = error;
  if (status !== 429 || !retryAfter) return text;
  return `${text} ${t.value.again(formatRelative(new Date(Date.now() + retryAfter * 1_000).toISOString()))}`;
}

/** The code of a refusal; undefined for any other error. */
export function faultCode(error: unknown): string | undefined {
  return error instanceof ConsoleError || error instanceof RingportError ? error.code : undefined;
}

/** Turns a server message, which starts in lower case and has no full stop, into a sentence. */
function sentence(text: string): string {
  const [first = "", ...rest] = text;
  return `${first.toUpperCase()}${rest.join("")}${/[.!?]$/.test(text) ? "" : "."}`;
}
