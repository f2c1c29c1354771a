import type { CallEvent } from "../../../../../src/client/index.ts";
import type { Texts } from "../../dictionary/dictionary.ts";
import type en from "../../dictionary/en/call.ts";
import { formatNumber } from "../../dictionary/format.ts";

type CallTexts = Texts<typeof en>;

/** An event in plain words. */
export function eventText(event: CallEvent, t: CallTexts): string {
  const words = t.events;
  switch (event.type) {
    case "route":
      return words.route(event.data.trunk, event.data.attempt, event.data.reason ?? "");
    case "address_resolved":
      return words.address_resolved(event.data.resolved_address);
    case "audio_truncated":
      return words.audio_truncated(secondsOf(event.data.played_ms));
    case "text_skipped":
      return words.text_skipped(event.data.text);
    case "audio_ignored":
      return words.audio_ignored(String(event.data.bytes));
    case "message_ready":
      return words.message_ready(secondsOf(event.data.message_ms));
    case "message_delayed":
      return words.message_delayed(secondsOf(event.data.silence_ms));
    case "agent_started":
      return words.agent_started(event.data.agent);
    case "tool_used": {
      const { tool, ms, fault } = event.data;
      return fault === null ? words.tool_used(tool, secondsOf(ms)) : words.tool_failed(tool, fault);
    }
    case "transferred":
      return words.transferred(event.data.to);
    case "transfer_failed":
      return words.transfer_failed(event.data.to, event.data.reason);
    case "result_ready":
      return event.data.error === null ? words.result_ready : words.result_failed(event.data.error);
    case "dtmf":
      return words.dtmf(event.data.digit);
    case "callee_speech":
      return words.callee_speech(secondsOf(event.data.end_ms - event.data.start_ms));
    case "beep":
      return words.beep(formatNumber(Math.round(event.data.hz)));
    case "line_tone":
      return t.lineTone[event.data.tone];
    case "answered_by":
      if (event.data.answered_by === "unknown") return words.answered_by_unknown;
      return words.answered_by(t.answeredBy[event.data.answered_by], percent(event.data.confidence));
    case "extension_dialled":
      return words.extension_dialled(event.data.extension);
    case "listening_ended":
      return words.listening_ended(secondsOf(event.data.listened_ms));
    case "signalling":
      return words.signalling(event.data.direction);
    case "media.one_way":
      return words.one_way;
    case "media.inbound_silent":
      return words.inbound_silent(secondsOf(event.data.after_ms));
    case "media.address_refused":
      return words.address_refused(event.data.address);
    case "recording_incomplete":
      return words.recording_incomplete(t.incomplete[event.data.reason], secondsOf(event.data.recorded_ms));
    case "timeline_incomplete":
      return words.timeline_incomplete(event.data.dropped);
    case "completed":
    case "failed":
      return words[event.type](t.reasons[event.data.reason]);
    case "queued":
    case "ringing":
    case "alerting":
    case "early_media":
    case "answered":
    case "leaving_message":
    case "listening_started":
    case "held":
    case "resumed":
    case "recording_deleted":
      return words[event.type];
    default:
      return event.type;
  }
}

/** A time in seconds, with one decimal if it is less than a minute. */
export function secondsOf(ms: number): string {
  const decimals = ms < 60_000 ? 1 : 0;
  return formatNumber(ms / 1_000, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A share, from 0 to 1, as a percentage. */
export function percent(share: number): string {
  return formatNumber(share, { style: "percent", maximumFractionDigits: share > 0 && share < 0.01 ? 2 : 0 });
}
