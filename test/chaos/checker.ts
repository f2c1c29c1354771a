import { setTimeout as pause } from "node:timers/promises";
import type { CallView, EventView, InstanceView } from "../support/server-client.ts";
import { until } from "../support/server-client.ts";
import { checkBatch, checkBatchEnd } from "./batch-checks.ts";
import { checkEvents } from "./call-events.ts";
import type { EventReader } from "./event-reader.ts";
import type { CallRecord, InstanceRecord } from "./journal.ts";
import { noteFinal } from "./requests.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** The server died unexpectedly, so it cannot be examined. */
export class ServerDied extends Error {}

/** Time for work to settle on a busy machine, ms. */
const SETTLE_MS = 15_000;
const POLL_MS = 40;

/** Examines everything readable after a start, before any request to the process. */
export async function checkStart(context: SequenceContext): Promise<void> {
  const { journal, phones } = context;
  const calls = await readCalls(context);
  for (const view of calls) {
    if (!journal.calls.has(view.target_phone)) continue;
    const earlierInvite = phones.invites(view.target_phone).find(({ epoch }) => epoch < journal.epoch);
    if (earlierInvite && view.ended_at === null)
      journal.reportViolation(
        "a call of a dead process has ended",
        view.id,
        `${view.status}, though the phone rang in round ${earlierInvite.epoch}`,
      );
  }
  await checkBatch(context, calls, readAll);
  await checkInstances(context);
}

/** Waits without faults until all work has settled; work that does not settle is a violation. */
export async function checkRest(context: SequenceContext): Promise<void> {
  const { journal, phones } = context;
  const findRunning = async () =>
    (await readCalls(context)).filter(
      (view) => view.ended_at === null && endsUnprompted(journal.calls.get(view.target_phone)?.instance),
    );
  for (const { id, status } of await waitUntilSettled(findRunning))
    journal.reportViolation("every call ends", id, `it is ${status} for ${SETTLE_MS} ms`);
  const legs = () =>
    journal.createdCalls.filter(({ number, finalStatus }) => finalStatus !== undefined && phones.hasLeg(number));
  for (const { id } of await waitUntilSettled(legs))
    journal.reportViolation("no leg outlives its call", id!, "its phone is still connected");
  const lines = () => journal.instances.filter(({ name, isDeleted }) => isDeleted && phones.isRegistered(name));
  for (const { id } of await waitUntilSettled(lines))
    journal.reportViolation("the line of a deleted instance is closed", id!, "its account is still registered");
  await checkBatch(context, await readCalls(context), readAll);
  await checkInstances(context);
  checkPhones(context);
}

/** Examines the batch after its end. */
export async function checkEndedBatch(context: SequenceContext): Promise<void> {
  await checkBatchEnd(context, await readCalls(context), readAll);
}

/** Examines the whole log, and the part that the reader saw. */
export async function checkLog(context: SequenceContext, reader: EventReader): Promise<void> {
  const { journal } = context;
  const log = await readAll<EventView>(context, "/v1/events?limit=200");
  const ids = new Set(log.map(({ id }) => id));
  if (ids.size !== log.length)
    journal.reportViolation("the log holds every event once", "the log", "an id is listed twice");
  await until(
    async () => !(await reader.read(200)),
    (isCaughtUp) => isCaughtUp,
    SETTLE_MS,
    "the reader to catch up",
    0,
  );
  for (const event of log) {
    const knownEvent = reader.events.get(event.id);
    if (!knownEvent)
      journal.reportViolation(
        "a reader sees every event once",
        event.id,
        `${event.type} of ${event.call_id} was never seen`,
      );
    else if (JSON.stringify(knownEvent) !== JSON.stringify(event))
      journal.reportViolation(
        "an event never changes",
        event.id,
        `${JSON.stringify(knownEvent)}, then ${JSON.stringify(event)}`,
      );
  }
  for (const id of reader.events.keys())
    if (!ids.has(id)) journal.reportViolation("an event never changes", id, "it has disappeared");
  if (reader.everyPageHasCursor && [...reader.events.keys()].join() !== log.map(({ id }) => id).join())
    journal.reportViolation("a reader sees every event once", "the log", "the reader saw another order");
  const eventsByCall = new Map<string | null, EventView[]>();
  for (const event of log) eventsByCall.set(event.call_id, [...(eventsByCall.get(event.call_id) ?? []), event]);
  for (const view of await readCalls(context)) checkEvents(context, view, eventsByCall.get(view.id) ?? []);
}

/** Reads all calls and compares them with the responses. */
async function readCalls(context: SequenceContext): Promise<CallView[]> {
  const { journal } = context;
  const views = await readAll<CallView>(context, "/v1/calls?limit=200&expand=outcome");
  const numbers = new Map<string, string>();
  for (const view of views) {
    if (journal.batch?.numbers.includes(view.target_phone)) continue;
    const call = journal.calls.get(view.target_phone);
    const other = numbers.get(view.target_phone);
    numbers.set(view.target_phone, view.id);
    if (!call)
      journal.reportViolation(
        "a list shows only what was requested",
        view.id,
        `no client requested a call to ${view.target_phone}`,
      );
    else if (other)
      journal.reportViolation("a repeated creation creates nothing", view.target_phone, `${other} and ${view.id}`);
    else checkAnswers(context, call, view);
  }
  for (const { number, id } of journal.createdCalls)
    if (numbers.get(number) !== id)
      journal.reportViolation("a confirmed write is stored", id!, "the call is not in the list");
  return views;
}

function checkAnswers(context: SequenceContext, call: CallRecord, view: CallView): void {
  const { journal } = context;
  noteFinal(context, call, view);
  const endCount = call.deletes.filter(({ status }) => status === 204).length;
  if (endCount > 1) journal.reportViolation("exactly one DELETE gets 204", view.id, `${endCount} did`);
  if (endCount > 0 && view.outcome?.reason !== "terminated")
    journal.reportViolation(
      "a confirmed write is stored",
      view.id,
      `DELETE returned 204, but the call is ${JSON.stringify(view.outcome)}`,
    );
  if (view.ended_at === null && call.deletes.some(({ status }) => status === 404))
    journal.reportViolation(
      "a final call never changes",
      view.id,
      `DELETE returned 404, but the call is ${view.status}`,
    );
  if (view.ended_at === null && call.instance.deletes.some(({ status }) => status === 204))
    journal.reportViolation("a deleted instance has no active call", view.id, `it is ${view.status}`);
}

async function checkInstances(context: SequenceContext): Promise<void> {
  const { journal } = context;
  const list = await readAll<InstanceView>(context, "/v1/instances?limit=200");
  const byId = new Map(list.map((view) => [view.id, view]));
  const names = new Set(list.map(({ name }) => name));
  if (names.size !== list.length)
    journal.reportViolation(
      "a repeated creation creates nothing",
      "the instances",
      list.map(({ name }) => name).join(),
    );
  for (const instance of journal.instances) {
    const { id, isLinked, deletes, isDeleted } = instance;
    if (id === undefined) continue;
    const view = byId.get(id);
    if (isDeleted && view) journal.reportViolation("a deleted instance is gone", id, `it is listed as ${view.status}`);
    if (!view && deletes.length === 0)
      journal.reportViolation("a confirmed write is stored", id, "the instance is not in the list");
    if (view?.status !== "CREATED" || !isLinked) continue;
    journal.reportViolation("a confirmed link is kept", id, "the page confirmed the link, but the instance is CREATED");
    instance.isLinked = false; // it can be linked again
  }
}

/** Checks all calls as the phones saw them. */
function checkPhones({ journal, phones, lines }: SequenceContext): void {
  for (const [instance, conversations] of Map.groupBy(conversationsOf({ journal, phones }), ({ instance }) => instance))
    for (const [n, { number, from }] of conversations.entries()) {
      const overlappingConversations = conversations.slice(0, n).filter(({ to }) => to > from);
      if (overlappingConversations.length >= lines)
        journal.reportViolation(
          "no more calls of an instance than it has lines send audio at the same time",
          instance,
          `${number} ${overlappingConversations.map((other) => `for ${other.to - from} ms beside ${other.number}`).join(", ")}`,
        );
    }
  for (const { number, id, instance } of journal.calls.values()) {
    const invites = phones.invites(number);
    if (invites.length > 1)
      journal.reportViolation(
        "no number is called twice",
        id ?? number,
        `in the rounds ${invites.map(({ epoch }) => epoch).join(" and ")}`,
      );
    if (instance.isDeleted && phones.hasLeg(number))
      journal.reportViolation("a deleted instance has no active call", id ?? number, "its phone is still connected");
  }
}

/** A call's audio: arrival times of its first and last packet. */
interface Conversation {
  readonly number: string;
  readonly instance: string;
  readonly from: number;
  readonly to: number;
}

/** All calls with audio, in the order of their first packets. */
function conversationsOf({ journal, phones }: Pick<SequenceContext, "journal" | "phones">): Conversation[] {
  const conversations = [...journal.calls.values()].flatMap(({ number, instance }) =>
    phones.invites(number).flatMap((invite) => {
      const packets = phones.audio(invite);
      const [first, last] = [packets[0], packets.at(-1)];
      return first && last ? [{ number, instance: instance.name, from: first.at, to: last.at }] : [];
    }),
  );
  return conversations.sort((a, b) => a.from - b.from);
}

/** True if the instance's calls must end without a request, because its line is available. */
function endsUnprompted(instance: InstanceRecord | undefined): boolean {
  return instance !== undefined && (instance.isDeleted || instance.isLinked || instance.network === "sip/rounds");
}

/** Items left after the time limit. */
async function waitUntilSettled<T>(findItems: () => readonly T[] | Promise<readonly T[]>): Promise<readonly T[]> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const remainingItems = await findItems();
    if (remainingItems.length === 0 || performance.now() > deadline) return remainingItems;
    await pause(POLL_MS);
  }
}

/** Reads every page of a list; retries if the storage has just returned. */
async function readAll<T>({ server }: SequenceContext, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let page: string | undefined = path; page !== undefined; ) {
    const next: string = page;
    const response = await until(
      () => server.request("GET", next),
      (result) => result?.status === 200 || !server.isAlive,
      SETTLE_MS,
      `GET ${next}`,
    );
    if (response?.status !== 200) throw new ServerDied();
    items.push(...response.json<T[]>());
    page = /<([^>]+)>; rel="next"/.exec(response.headers.link ?? "")?.[1];
  }
  return items;
}
