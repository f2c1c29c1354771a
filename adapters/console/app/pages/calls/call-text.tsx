import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/calls.ts";
import { formatClock, formatDuration, formatNumber, formatTime } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/calls.ts";
import type { ListedCall } from "./call-rows.ts";

const t = dictionary({ en, pt });

/** A call's result or state, in words. */
export function outcomeText({ status, outcome }: ListedCall): string {
  switch (status) {
    case "QUEUED":
      return t.value.waiting;
    case "RINGING":
      return t.value.ringing;
    case "IN_PROGRESS":
      return t.value.talking;
  }
  if (!outcome) return "";
  const { reason, heard_ratio, answered_by } = outcome;
  const words: string[] = [t.value.outcomes[reason]];
  if (heard_ratio !== null && heard_ratio < 1 && answered_by !== null)
    words.push(t.value.heard(formatNumber(heard_ratio, { style: "percent", maximumFractionDigits: 0 })));
  if (answered_by === "machine" && reason !== "machine_hung_up") words.push(t.value.machine);
  return words.join(" · ");
}

/** The time at which a call was created; only the time of day if it was today. */
export function createdText({ created_at }: ListedCall): string {
  const isToday = new Date(created_at).toDateString() === new Date().toDateString();
  return isToday ? formatClock(created_at) : formatTime(created_at);
}

/** The duration of the conversation, so far or in total. */
export function Duration({ call }: { readonly call: ListedCall }) {
  const { status, started_at, ended_at, outcome } = call;
  if (status === "IN_PROGRESS" && started_at) return <Elapsed since={started_at} />;
  if (outcome) return <>{outcome.duration_ms > 0 ? formatDuration(outcome.duration_ms) : ""}</>;
  return <>{started_at && ended_at ? formatDuration(Date.parse(ended_at) - Date.parse(started_at)) : ""}</>;
}

/** The time elapsed since a moment, updated every second. */
export function Elapsed({ since }: { readonly since: string }) {
  return <>{formatDuration(useEverySecond(Date.now) - Date.parse(since))}</>;
}

/** A time that is read every second. */
export function useEverySecond(read: () => number): number {
  const now = useSignal(read());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = read();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return now.value;
}
