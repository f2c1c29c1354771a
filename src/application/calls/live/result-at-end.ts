import type { Call } from "../../../domain/calls/call.ts";
import type { Fact } from "../../../domain/events.ts";
import { type Findings, ownResult } from "../../call-audio/agents/agent-result.ts";
import type { CallMedia } from "../../call-audio/call-media.ts";

/** Stored until the agent has stated its result after the call. */
const RESULT_PENDING = "not known yet: the agent has been asked";

/** Result of a call at its end. */
export interface ResultAtEnd extends Findings {
  /** For the timeline. */
  readonly facts: readonly Fact[];
  /** The result that the agent has yet to state. */
  readonly later?: Promise<Findings> | undefined;
}

/** The result of a call at its end; one by a schema may arrive later. */
export function resultAtEnd(
  { startedAt }: Pick<Call, "startedAt">,
  media: Pick<CallMedia, "findings" | "result"> | undefined,
): ResultAtEnd {
  const findings = startedAt === null ? undefined : media?.findings;
  if (findings === undefined) return { ...ownResult(() => media?.result), facts: [] };
  if ("later" in findings) return { resultError: RESULT_PENDING, facts: [], later: findings.later };
  const { known } = findings;
  return { ...known, facts: [{ event: "result_ready", data: { error: known.resultError ?? null } }] };
}
