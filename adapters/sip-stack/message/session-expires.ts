import { parseUint32 } from "./grammar.ts";
import { parseParameterized } from "./params.ts";

/** The value of Session-Expires, or of Min-SE, which has no refresher (RFC 4028 sections 4 and 5). */
export interface SessionExpires {
  readonly seconds: number;
  readonly refresher: "uac" | "uas" | undefined;
}

/** Reads Session-Expires or Min-SE: `1800;refresher=uac`. */
export function parseSessionExpires(text: string | undefined): SessionExpires | undefined {
  const read = parseParameterized(text ?? "");
  const seconds = parseUint32(read?.value);
  if (seconds === undefined) return undefined;
  const refresher = read?.params.get("refresher")?.toLowerCase();
  return { seconds, refresher: refresher === "uac" || refresher === "uas" ? refresher : undefined };
}

/** The value as text. */
export function writeSessionExpires({ seconds, refresher }: SessionExpires): string {
  return refresher === undefined ? `${seconds}` : `${seconds};refresher=${refresher}`;
}
