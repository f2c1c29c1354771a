import type { CallType } from "../../../../../src/domain/call.ts";
import type { FailedReason } from "../../../../../src/domain/outcome.ts";
import { plural } from "../dictionary.ts";

export default {
  title: "Overview",
  lead: "What happens on your numbers right now, and how the last two weeks went.",
  live: {
    title: "Live calls",
    none: "No call at the moment. A call that a program or you place appears here by itself.",
    number: "Number",
    status: "Status",
    type: "What the callee hears",
    created: "Created",
  },
  types: {
    FIXED_TTS: "A text",
    FIXED_AUDIO: "An audio file",
    DYNAMIC_STREAM: "A live stream",
    DYNAMIC_AGENT: "An agent",
  } satisfies Record<CallType, string>,
  days: {
    title: "Calls per day",
    none: "No calls in the last 14 days.",
    date: "Day",
    completed: "Completed",
    failed: "Failed",
    total: (calls: number) => plural(calls, { one: "# call", other: "# calls" }),
    day: (day: string, completed: number, failed: number) => `${day}: ${completed} completed, ${failed} failed`,
  },
  failures: {
    title: "Why calls failed",
    none: "No failed calls in the last 14 days.",
  },
  reasons: {
    terminated: "Hung up from here",
    busy: "Busy",
    declined: "Declined",
    no_answer: "No answer",
    unreachable: "Phone unreachable",
    number_invalid: "Number does not exist",
    rejected_by_network: "Refused by the network",
    instance_not_linked: "Number was not linked",
    instance_offline: "Number was offline",
    instance_deleted: "Number was deleted",
    instance_lost: "Line lost during the call",
    media_failed: "No audio",
    speech_failed: "Text could not be spoken",
    agent_failed: "The agent failed",
    agent_unavailable: "No agent available",
    stream_lost: "Stream lost",
    stream_unavailable: "Streams are not available",
    interrupted: "Server stopped during the call",
    internal_error: "Unexpected error",
  } satisfies Record<FailedReason, string>,
};
