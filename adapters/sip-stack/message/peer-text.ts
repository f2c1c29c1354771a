import type { SipResponse } from "./message.ts";

const MAX_LENGTH = 200;

/** A text of a peer, made fit for a sentence: on one line, and truncated. @param length at most. Default: 200 */
export function oneLine(text: string, length: number = MAX_LENGTH): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const line = text.slice(0, 2 * length).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/** `SIP 486 Busy Here`. */
export function statusText({ status, reason }: SipResponse): string {
  return oneLine(`SIP ${status} ${reason}`.trim());
}
