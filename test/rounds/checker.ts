import { setTimeout as pause } from "node:timers/promises";
import type { CallView, EventView, InstanceView } from "../support/server-client.ts";
import { until } from "../support/server-client.ts";
import { checkStory } from "./call-story.ts";
import type { EventReader } from "./event-reader.ts";
import type { CallRecord, InstanceRecord } from "./journal.ts";
import { noteFinal } from "./requests.ts";
import type { Stage } from "./stage.ts";

/** The server has died unprompted, so it cannot be examined. */
export class ServerGone extends Error {}

/** Time for work to settle on a busy machine, ms. */
const REST_MS = 15_000;
const LOOK_MS = 40;

/** Examines everything readable after a start, before any request to the process. */
export async function checkStart(stage: Stage): Promise<void> {
  const { journal, phones } = stage;
  for (const view of await readCalls(stage)) {
    const invited = phones.invites(view.target_phone).find(({ epoch }) => epoch < journal.epoch);
    if (invited && view.ended_at === null)
      journal.violated(
        "a call of a dead process is over",
        view.id,
        `${view.status}, though the phone rang in round ${invited.epoch}`,
      );
  }
  await checkInstances(stage);
}

/** Waits without faults until all work has settled; work that does not settle is a violation. */
export async function checkRest(stage: Stage): Promise<void> {
  const { journal, phones } = stage;
  const going = async () =>
    (await readCalls(stage)).filter(
      (view) => view.ended_at === null && canGoOn(journal.calls.get(view.target_phone)?.instance),
    );
  for (const { id, status } of await rested(going))
    journal.violated("every call ends", id, `it is ${status} for ${REST_MS} ms`);
  const legs = () => journal.known.filter(({ number, final }) => final !== undefined && phones.hasLeg(number));
  for (const { id } of await rested(legs))
    journal.violated("no leg outlives its call", id!, "its phone is still connected");
  const lines = () => journal.instances.filter(({ name, gone }) => gone && phones.isRegistered(name));
  for (const { id } of await rested(lines))
    journal.violated("the line of a deleted instance is closed", id!, "its account is still registered");
  await checkInstances(stage);
  checkPhones(stage);
}

/** Examines the whole log, and the part that the reader saw. */
export async function checkLog(stage: Stage, reader: EventReader): Promise<void> {
  const { journal } = stage;
  const log = await readAll<EventView>(stage, "/v1/events?limit=200");
  const ids = new Set(log.map(({ id }) => id));
  if (ids.size !== log.length) journal.violated("the log holds every event once", "the log", "an id is there twice");
  await until(
    async () => !(await reader.read(200)),
    (caughtUp) => caughtUp,
    REST_MS,
    "the reader to catch up",
    0,
  );
  for (const event of log) {
    const seen = reader.seen.get(event.id);
    if (!seen)
      journal.violated("a reader sees every event once", event.id, `${event.type} of ${event.call_id} was never seen`);
    else if (JSON.stringify(seen) !== JSON.stringify(event))
      journal.violated("an event never changes", event.id, `${JSON.stringify(seen)}, then ${JSON.stringify(event)}`);
  }
  for (const id of reader.seen.keys()) if (!ids.has(id)) journal.violated("an event never changes", id, "it is gone");
  if (reader.everyPageNamesItsCursor && [...reader.seen.keys()].join() !== log.map(({ id }) => id).join())
    journal.violated("a reader sees every event once", "the log", "the reader saw another order");
  const byCall = new Map<string | null, EventView[]>();
  for (const event of log) byCall.set(event.call_id, [...(byCall.get(event.call_id) ?? []), event]);
  for (const view of await readCalls(stage)) checkStory(stage, view, byCall.get(view.id) ?? []);
}

/** Reads all calls and compares them with the responses. */
async function readCalls(stage: Stage): Promise<CallView[]> {
  const { journal } = stage;
  const views = await readAll<CallView>(stage, "/v1/calls?limit=200&expand=outcome");
  const numbers = new Map<string, string>();
  for (const view of views) {
    const call = journal.calls.get(view.target_phone);
    const other = numbers.get(view.target_phone);
    numbers.set(view.target_phone, view.id);
    if (!call)
      journal.violated("a list shows what was asked for", view.id, `nobody asked for a call to ${view.target_phone}`);
    else if (other)
      journal.violated("a repeated creation creates nothing", view.target_phone, `${other} and ${view.id}`);
    else checkAnswers(stage, call, view);
  }
  for (const { number, id } of journal.known)
    if (numbers.get(number) !== id) journal.violated("an answered write is there", id!, "the call is not in the list");
  return views;
}

function checkAnswers(stage: Stage, call: CallRecord, view: CallView): void {
  const { journal } = stage;
  noteFinal(stage, call, view);
  const ended = call.deletes.filter(({ status }) => status === 204).length;
  if (ended > 1) journal.violated("one DELETE is answered 204", view.id, `${ended} were`);
  if (ended > 0 && view.outcome?.reason !== "terminated")
    journal.violated(
      "an answered write is there",
      view.id,
      `DELETE was answered 204, but the call is ${JSON.stringify(view.outcome)}`,
    );
  if (view.ended_at === null && call.deletes.some(({ status }) => status === 404))
    journal.violated("a final call never changes", view.id, `DELETE was answered 404, but the call is ${view.status}`);
  if (view.ended_at === null && call.instance.deletes.some(({ status }) => status === 204))
    journal.violated("a deleted instance has no active call", view.id, `it is ${view.status}`);
}

async function checkInstances(stage: Stage): Promise<void> {
  const { journal } = stage;
  const list = await readAll<InstanceView>(stage, "/v1/instances?limit=200");
  const byId = new Map(list.map((one) => [one.id, one]));
  const names = new Set(list.map(({ name }) => name));
  if (names.size !== list.length)
    journal.violated("a repeated creation creates nothing", "the instances", list.map(({ name }) => name).join());
  for (const instance of journal.instances) {
    const { id, linked, deletes, gone } = instance;
    if (id === undefined) continue;
    const view = byId.get(id);
    if (gone && view) journal.violated("a deleted instance is gone", id, `it is listed as ${view.status}`);
    if (!view && deletes.length === 0)
      journal.violated("an answered write is there", id, "the instance is not in the list");
    if (view?.status !== "CREATED" || !linked) continue;
    journal.violated("an answered link is kept", id, "the page answered that it is linked, but it is CREATED");
    instance.linked = false; // it can be linked again
  }
}

/** The phones' view of all calls. */
function checkPhones({ journal, phones }: Stage): void {
  const lastTalks = new Map<string, Talk>();
  for (const talk of talksOf({ journal, phones })) {
    const before = lastTalks.get(talk.instance);
    lastTalks.set(talk.instance, talk);
    if (before && before.to > talk.from)
      journal.violated(
        "two calls of an instance never talk at once",
        talk.instance,
        `${talk.number} for ${before.to - talk.from} ms beside ${before.number}`,
      );
  }
  for (const { number, id, instance } of journal.calls.values()) {
    const invites = phones.invites(number);
    if (invites.length > 1)
      journal.violated(
        "nobody is called twice",
        id ?? number,
        `in the rounds ${invites.map(({ epoch }) => epoch).join(" and ")}`,
      );
    if (instance.gone && phones.hasLeg(number))
      journal.violated("a deleted instance has no active call", id ?? number, "its phone is still connected");
  }
}

/** Audio of a call: arrival times of its first and last packet. */
interface Talk {
  readonly number: string;
  readonly instance: string;
  readonly from: number;
  readonly to: number;
}

/** All calls with audio, in the order of their first packets. */
function talksOf({ journal, phones }: Pick<Stage, "journal" | "phones">): Talk[] {
  const talks = [...journal.calls.values()].flatMap(({ number, instance }) =>
    phones.invites(number).flatMap((invite) => {
      const packets = phones.audio(invite);
      const [first, last] = [packets[0], packets.at(-1)];
      return first && last ? [{ number, instance: instance.name, from: first.at, to: last.at }] : [];
    }),
  );
  return talks.sort((a, b) => a.from - b.from);
}

/** True if a call of the instance must end unprompted because its line is available. */
function canGoOn(instance: InstanceRecord | undefined): boolean {
  return instance !== undefined && (instance.gone || instance.linked || instance.network === "sip/rounds");
}

/** Leftovers after the time limit. */
async function rested<T>(look: () => readonly T[] | Promise<readonly T[]>): Promise<readonly T[]> {
  const deadline = performance.now() + REST_MS;
  for (;;) {
    const left = await look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(LOOK_MS);
  }
}

/** Reads every page of a list; retries if the storage has just returned. */
async function readAll<T>({ server }: Stage, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let page: string | undefined = path; page !== undefined; ) {
    const next: string = page;
    const answer = await until(
      () => server.ask("GET", next),
      (answer) => answer?.status === 200 || !server.alive,
      REST_MS,
      `GET ${next}`,
    );
    if (answer?.status !== 200) throw new ServerGone();
    items.push(...answer.json<T[]>());
    page = /<([^>]+)>; rel="next"/.exec(answer.headers.link ?? "")?.[1];
  }
  return items;
}
