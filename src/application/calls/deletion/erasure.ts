import { type Call, isActive } from "../../../domain/calls/call.ts";
import { type MentionedNumber, mentionedNumber } from "../../../domain/numbers/mentioned-number.ts";
import { numberForms, phoneKeyOf } from "../../../domain/numbers/number-forms.ts";
import { checkedPhone } from "../../../domain/numbers/phone-number.ts";
import type { RemovedCalls } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";
import type { Dispatcher } from "../dialling/dispatcher.ts";
import type { Terminations } from "../terminations.ts";
import { type RemovalContext, removeCalls } from "./remove-calls.ts";

type ErasureContext = Pick<Context, "purgeClock" | "recordings" | "storage" | "system" | "telephony" | "timings">;

const BATCH_SIZE = 500;

/** Result of deleting a phone number's data, and the records that still name it. */
export interface Erasure {
  /** Number of calls to the number, and of calls that mention it: in their message, outcome, events or transcript. */
  readonly calls: number;
  /** Number of events of those calls, and of events about a link of the number to an instance. */
  readonly events: number;
  readonly transcriptLines: number;
  readonly recordings: number;
  /** Number of stored results of idempotent requests. */
  readonly receipts: number;
  /** Number of records of linked devices, such as the keys that a device shares with the number. */
  readonly lineRecords: number;
  /** Number of batch targets with the number. */
  readonly targets: number;
  /** Ids of the calls that have not ended, and so were not deleted. */
  readonly activeCalls: readonly string[];
  /** Ids of instances that the number itself is linked to; they are not deleted. */
  readonly instances: readonly string[];
}

/**
 * Deletes all users' data about calls that mention a number, in any format that reaches the same phone. Compacts the
 * database at the end, which takes about 5 ms per MB of an embedded database.
 * @param settle ends a call if it is active, and waits until it is released; without it, active calls are only listed
 * @throws {Refusal} `phone_number_invalid`
 */
export async function erasePhone(
  context: RemovalContext,
  phone: string,
  settle?: (call: Call) => Promise<void>,
): Promise<Erasure> {
  const { batches, instances, lineRecords, retention } = context.storage;
  const numbers = numberForms(checkedPhone(phone, "/phone")).map(mentionedNumber);
  const counts = { calls: 0, events: 0, transcriptLines: 0, recordings: 0, receipts: 0, lineRecords: 0, targets: 0 };
  const activeCalls = new Set<string>();
  const linkedIds = new Set<string>();
  for (const number of numbers) {
    for await (const page of callsNaming(context, number)) {
      for (const call of page)
        if (settle) await settle(call);
        else if (isActive(call.status)) activeCalls.add(call.id);
      const endedCalls = page.filter(({ id }) => !activeCalls.has(id));
      const removal = await removeCalls(
        context,
        endedCalls.map(({ id }) => id),
      );
      const removedIds = new Set(removal.ids);
      counts.calls += removal.ids.length;
      counts.events += removal.events;
      counts.transcriptLines += removal.transcriptLines;
      counts.recordings += page.filter(({ id, recordedMs }) => removedIds.has(id) && recordedMs).length;
      counts.receipts += removal.receipts;
    }
    for (const { id } of await instances.withPhone(number.phone)) linkedIds.add(id);
    counts.events += await instances.forgetPhone(number.phone);
    counts.lineRecords += await lineRecords.forgetNumber(number);
  }
  // Only after the calls have ended, because the target of a live call is kept.
  counts.targets += await batches.forgetNumber(phoneKeyOf(phone));
  await retention.scrub({ thorough: true });
  return { ...counts, activeCalls: [...activeCalls], instances: [...linkedIds] };
}

async function* callsNaming({ storage }: RemovalContext, number: MentionedNumber): AsyncGenerator<readonly Call[]> {
  for (let after: string | undefined; ; ) {
    const page = await storage.calls.naming(number, { limit: BATCH_SIZE, after });
    yield page;
    after = page.at(-1)?.id;
    if (page.length < BATCH_SIZE) return;
  }
}

/** Erases a number in a process that has live calls: those to the number are ended first. */
export function eraseWithLiveCalls(
  context: ErasureContext,
  terminations: Terminations,
  dispatcher: Dispatcher,
  phone: string,
): Promise<Erasure> {
  return erasePhone(context, phone, (call) => settle(terminations, dispatcher, call));
}

/** Deletes calls with all of their records; active calls are ended first. */
export async function removeWithLiveCalls(
  context: ErasureContext,
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
  await dispatcher.whenReleased(call.id); // it may still write to the timeline while its leg ends
}
