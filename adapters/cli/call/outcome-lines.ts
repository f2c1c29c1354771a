import type { FinishedCall } from "../../../src/client/index.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { progressBar, secondsText } from "../terminal/progress-bar.ts";
import { inOneCell } from "../terminal/table.ts";

/** Human-readable rows with the result of a call. */
export function outcomeLines({ status, outcome }: FinishedCall): string[] {
  const { reason, detail, heard_ms, heard_ratio, duration_ms } = outcome;
  return [
    `${paintedStatus(status)}: ${reason}${detail ? ` (${inOneCell(detail)})` : ""}`,
    ...(heard_ratio && heard_ms !== null ? [progressBar(heard_ms, heard_ms / heard_ratio)] : []),
    ...(duration_ms > 0 ? [`the call lasted ${secondsText(duration_ms)}`] : []),
  ];
}
