import type { DialProgress } from "../../../../src/ports/telephony.ts";
import { isReached } from "../../../sip-stack/dialog/alerting.ts";

/**
 * Progress of an INVITE that was not answered. @param furthest the provisional response that shows the most, if any
 */
export function dialProgress(furthest: number | undefined): DialProgress {
  if (isReached(furthest)) return { reached: true, detail: null };
  const detail =
    furthest === undefined
      ? "the trunk did not respond to the INVITE"
      : "the trunk accepted the call (100 Trying), but reported no ringing";
  return { reached: false, detail };
}
