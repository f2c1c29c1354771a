import { BLOCKED_REASONS } from "../../src/domain/dialling-rules/number-protection.ts";
import { eventFaults } from "../support/call-events.ts";
import type { CallView, EventView } from "../support/server-client.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** End reasons of calls that were never dialled. */
const UNDIALLED_REASONS: ReadonlySet<string> = new Set([
  "instance_not_linked",
  "instance_offline",
  "number_invalid",
  ...BLOCKED_REASONS,
]);
/** Reasons that only the remote end can cause. */
const REMOTE_REASONS: ReadonlySet<string> = new Set([
  "message_played",
  "callee_hung_up",
  "busy",
  "declined",
  "no_answer",
]);
/** The events for a call's states, in order. */
const MOVES = ["queued", "ringing", "answered"];
const FINAL = ["completed", "failed"];

/** Checks that the events of an ended call match its state, and that both match the phone's view. */
export function checkEvents({ journal, phones }: SequenceContext, view: CallView, events: readonly EventView[]): void {
  const types = events.map(({ type }) => type);
  const reportFault = (detail: string): void =>
    journal.reportViolation(
      "the events match the state",
      view.id,
      `${detail}: ${view.status} ${JSON.stringify(view.outcome)}, ${types.join(", ")}`,
    );

  for (const fault of eventFaults({ status: view.status, startedAt: view.started_at }, events))
    reportFault(`it ${fault}`);
  const moves = types.filter((type) => MOVES.includes(type) || FINAL.includes(type));
  const order = [...MOVES, ...FINAL].filter((type) => moves.includes(type));
  if (moves.join() !== order.join()) reportFault("the events are out of order");

  const finalEvent = events.find(({ type }) => FINAL.includes(type));
  if (finalEvent && finalEvent.data.reason !== view.outcome?.reason)
    reportFault(`the final event is ${finalEvent.type} ${finalEvent.data.reason}`);
  if (view.status === "COMPLETED" && !types.includes("answered")) reportFault("it completed without an answer");
  const times = [view.created_at, view.started_at, view.ended_at].filter((time) => time !== null);
  if (times.toSorted().join() !== times.join()) reportFault(`its times are ${times.join(", ")}`);

  const call = journal.calls.get(view.target_phone);
  if (!call || call.instance.network === "simulator") return;
  const hasRung = phones.invites(view.target_phone).length > 0;
  const reason = view.outcome?.reason ?? "";
  if (hasRung && UNDIALLED_REASONS.has(reason)) reportFault("the phone rang");
  if (!hasRung && (REMOTE_REASONS.has(reason) || types.includes("ringing"))) reportFault("the phone never rang");
}
