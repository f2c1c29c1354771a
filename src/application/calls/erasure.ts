import { type Call, isActive } from "../../domain/call.ts";
import { checkedPhone } from "../../domain/phone-number.ts";
import type { RemovedCalls } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { type CallKeepers, removeCalls } from "./call-removal.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Terminations } from "./terminations.ts";

const BATCH = 500;

/** What was deleted of a phone number, and what still names it. */
export interface Erasure {
  readonly calls: number;
  /** Of those calls, and events that the number was once linked to an instance. */
  readonly events: number;
  readonly transcriptLines: number;
  readonly recordings: number;
  /** Receipts of idempotent requests that no longer have a hash of their request. */
  readonly receipts: number;
  /** Ids of calls to the number that are not over; nothing of them was deleted. */
  readonly activeCalls: readonly string[];
  /** Ids of instances that the number itself is linked to; they are not deleted. */
  readonly instances: readonly string[];
}

/**
 * Deletes all data about calls to a number, of all users. Compacts the database in the end, which takes
 * about 5 ms per MB of an embedded one.
 * @param settle ends a call if it is active, and waits until nobody works on it; without it active calls are only named
 * @throws {Refusal} `phone_number_invalid`
 */
export async function erasePhone(
  keepers: CallKeepers,
  phone: string,
  settle?: (call: Call) => Promise<void>,
): Promise<Erasure> {
  checkedPhone(phone, "/phone");
  const { calls, instances, retention } = keepers.storage;
  const activeCalls = new Set<string>();
  let [erased, events, transcriptLines, recordings, receipts] = [0, 0, 0, 0, 0];
  let after: string | undefined;
  for (;;) {
    const found = await calls.to(phone, { limit: BATCH, after });
    for (const call of found)
      if (settle) await settle(call);
      else if (isActive(call.status)) activeCalls.add(call.id);
    const removed = await removeCalls(
      keepers,
      found.map(({ id }) => id).filter((id) => !activeCalls.has(id)),
    );
    const gone = new Set(removed.ids);
    recordings += found.filter(({ id, recordedMs }) => gone.has(id) && recordedMs).length;
    erased += removed.ids.length;
    events += removed.events;
    transcriptLines += removed.transcriptLines;
    receipts += removed.receipts;
    after = found.at(-1)?.id;
    if (found.length < BATCH) break;
  }
  const linked = await instances.withPhone(phone);
  events += await instances.forgetPhone(phone);
  const erasure = {
    calls: erased,
    events,
    transcriptLines,
    recordings,
    receipts,
    activeCalls: [...activeCalls],
    instances: linked.map(({ id }) => id),
  };
  await retention.scrub({ thorough: true });
  return erasure;
}

/** Erases a number in a process that has live calls: those to the number are ended first. */
export function eraseWithLiveCalls(
  context: Context,
  terminations: Terminations,
  dispatcher: Dispatcher,
  phone: string,
): Promise<Erasure> {
  return erasePhone(context, phone, (call) => settle(terminations, dispatcher, call));
}

/** Deletes calls with all that belongs to them; active ones are ended first. */
export async function removeWithLiveCalls(
  context: Context,
  terminations: Terminations,
  dispatcher: Dispatcher,
  calls: readonly Call[],
): Promise<RemovedCalls> {
  for (const call of calls) await settle(terminations, dispatcher, call);
  return removeCalls(
    context,
    calls.map(({ id }) => id),
  );
}

async function settle(terminations: Terminations, dispatcher: Dispatcher, call: Call): Promise<void> {
  if (isActive(call.status)) await terminations.end(call, "terminated", null);
  await dispatcher.over(call.id); // it may still write to the timeline while its leg ends
}
