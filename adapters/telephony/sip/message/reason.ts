import { parseParameterized } from "./params.ts";
import { parseSeconds } from "./seconds.ts";
import { splitList } from "./split-list.ts";
import { isToken } from "./token.ts";

/** Why a request was sent: one element of Reason (RFC 3326). */
export interface Reason {
  /** Upper case: `SIP` or `Q.850`, as a rule. */
  readonly protocol: string;
  /** A SIP status or a cause of Q.850. */
  readonly cause: number | undefined;
  readonly text: string | undefined;
}

/** The reasons in the value of a field; what cannot be read is left out. */
export function parseReasons(text: string | undefined): Reason[] {
  return splitList(text ?? "").flatMap((element) => parseReason(element) ?? []);
}

/** Reads one element of Reason: `Q.850;cause=16;text="Terminated"`. */
export function parseReason(text: string): Reason | undefined {
  const read = parseParameterized(text);
  if (read === undefined || !isToken(read.value)) return undefined;
  return {
    protocol: read.value.toUpperCase(),
    cause: parseSeconds(read.params.get("cause")),
    text: read.params.get("text") || undefined,
  };
}
