import { BLOCKED_REASONS } from "../../src/domain/number-protection/number-protection.ts";
import { storyFaults } from "../support/call-story.ts";
import type { CallView, EventView } from "../support/server-client.ts";
import type { Stage } from "./stage.ts";

/** Reasons of a call whose phone was never asked to ring. */
const NEVER_DIALLED: ReadonlySet<string> = new Set([
  "instance_not_linked",
  "instance_offline",
  "number_invalid",
  ...BLOCKED_REASONS,
]);
/** Reasons that only the remote end can cause. */
const FROM_THE_PHONE: ReadonlySet<string> = new Set([
  "message_played",
  "callee_hung_up",
  "busy",
  "declined",
  "no_answer",
]);
/** The events of a call's states, in their order. */
const MOVES = ["queued", "ringing", "answered"];
const FINAL = ["completed", "failed"];

/** Checks that the events of an ended call match its state, and that both match the phone's view. */
export function checkStory({ journal, phones }: Stage, view: CallView, events: readonly EventView[]): void {
  const types = events.map(({ type }) => type);
  const wrong = (detail: string): void =>
    journal.violated(
      "the story fits the state",
      view.id,
      `${detail}: ${view.status} ${JSON.stringify(view.outcome)}, ${types.join(", ")}`,
    );

  for (const fault of storyFaults({ status: view.status, startedAt: view.started_at }, events)) wrong(`it ${fault}`);
  const moves = types.filter((type) => MOVES.includes(type) || FINAL.includes(type));
  const order = [...MOVES, ...FINAL].filter((type) => moves.includes(type));
  if (moves.join() !== order.join()) wrong("the events are in another order");

  const final = events.find(({ type }) => FINAL.includes(type));
  if (final && final.data.reason !== view.outcome?.reason)
    wrong(`the final event is ${final.type} ${final.data.reason}`);
  if (view.status === "COMPLETED" && !types.includes("answered")) wrong("nobody answered");
  const times = [view.created_at, view.started_at, view.ended_at].filter((time) => time !== null);
  if (times.toSorted().join() !== times.join()) wrong(`its times are ${times.join(", ")}`);

  const call = journal.calls.get(view.target_phone);
  if (!call || call.instance.network === "simulator") return;
  const rang = phones.invites(view.target_phone).length > 0;
  const reason = view.outcome?.reason ?? "";
  if (rang && NEVER_DIALLED.has(reason)) wrong("the phone rang");
  if (!rang && (FROM_THE_PHONE.has(reason) || types.includes("ringing"))) wrong("the phone never rang");
}
