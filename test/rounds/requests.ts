import type { CallView, InstanceView } from "../support/server-client.ts";
import type { CallRecord, InstanceRecord, Try } from "./journal.ts";
import { messageOf } from "./messages.ts";
import type { Stage } from "./stage.ts";

/** Requests an instance; again with the same key if the response was lost. */
export async function createInstance(stage: Stage, instance: InstanceRecord): Promise<void> {
  const attempt = begun(stage, instance.posts);
  const answer = await stage.server.ask("POST", "/v1/instances", {
    json: { name: instance.name, provider: instance.network },
    headers: { "idempotency-key": instance.name },
  });
  ended(stage, attempt, answer?.status, `instance ${instance.name}`);
  if (answer?.status !== 201) return;
  const { id } = answer.json<InstanceView>();
  if (instance.id !== undefined && instance.id !== id)
    stage.journal.violated("a repeated creation creates nothing", instance.name, `${instance.id}, then ${id}`);
  instance.id = id;
}

/** Links an instance as a person would, on the page behind its code. */
export async function linkInstance(
  { server, journal, moments, phones }: Stage,
  instance: InstanceRecord,
): Promise<void> {
  const code = await server.ask("GET", `/v1/instances/${instance.id}/configure`);
  if (code?.status === 409) instance.linked = true;
  if (code?.status !== 200) return;
  const page = /https?:\/\/\S+\/link\/\w+/.exec(code.json<{ message: string }>().message)?.[0];
  if (page === undefined) throw new Error(`no linking page is named: ${code.text}`);
  const account = { server: `127.0.0.1:${phones.port}`, transport: "udp", user: instance.name, register: "on" };
  const asking = server.ask("POST", page, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: instance.network === "sip" ? new URLSearchParams(account).toString() : "",
  });
  moments.happened("a link asked for");
  const answer = await asking;
  journal.note(`link ${instance.id}: ${answer?.status}`);
  if (answer?.status !== 200) return;
  instance.linked = true;
  moments.happened("a link answered");
}

/** Deletes an instance; returns true if it no longer exists. */
export async function deleteInstance(stage: Stage, instance: InstanceRecord): Promise<boolean> {
  const attempt = begun(stage, instance.deletes);
  const asking = stage.server.ask("DELETE", `/v1/instances/${instance.id}`);
  stage.moments.happened("a deletion asked for");
  const status = (await asking)?.status;
  ended(stage, attempt, status, `delete instance ${instance.id}`);
  if (status !== undefined) stage.moments.happened("a deletion answered");
  const earlier = instance.deletes.slice(0, -1);
  const sameProcess = earlier.every((one) => one.epoch === attempt.epoch && one.status === 503);
  if (status === 404 && sameProcess)
    stage.journal.violated(
      "a repeated deletion finishes what a 503 began",
      instance.id!,
      `answered ${[...earlier, attempt].map((one) => one.status).join(", ")} by the same process`,
    );
  if (status === 204 || status === 404) instance.gone = true;
  return instance.gone;
}

/** Requests a call. */
export async function createCall(stage: Stage, call: CallRecord): Promise<void> {
  const attempt = begun(stage, call.posts);
  const asking = stage.server.ask("POST", "/v1/calls", {
    json: {
      ...{ instanceId: call.instance.id, type: "FIXED_AUDIO", target: { phoneNumber: call.number } },
      audio: { audioBase64: messageOf(call.messageMs) },
    },
    headers: call.key === undefined ? {} : { "idempotency-key": call.key },
  });
  stage.moments.happened("a call asked for");
  const answer = await asking;
  ended(stage, attempt, answer?.status, `call ${call.number}`);
  if (answer) stage.moments.happened("a call answered");
  if (answer?.status === 404 && call.instance.deletes.length === 0)
    stage.journal.violated("an answered write is there", call.instance.id!, "a call is answered 404 for its instance");
  if (answer?.status !== 201) return;
  const { id } = answer.json<CallView>();
  if (call.id !== undefined && call.id !== id)
    stage.journal.violated("a repeated creation creates nothing", call.number, `${call.id}, then ${id}`);
  call.id = id;
}

/** Ends a call. */
export async function endCall(stage: Stage, call: CallRecord): Promise<void> {
  const attempt = begun(stage, call.deletes);
  const asking = stage.server.ask("DELETE", `/v1/calls/${call.id}`);
  stage.moments.happened("an end asked for");
  const status = (await asking)?.status;
  ended(stage, attempt, status, `end ${call.id}`);
  if (status !== undefined) stage.moments.happened("an end answered");
}

/** Reads a call; records its final state. */
export async function readCall(stage: Stage, call: CallRecord): Promise<CallView | undefined> {
  const before = call.final;
  const answer = await stage.server.ask("GET", `/v1/calls/${call.id}?expand=outcome`);
  if (answer?.status === 404)
    stage.journal.violated("an answered write is there", call.id!, "the call is answered 404");
  if (answer?.status !== 200) return undefined;
  const view = answer.json<CallView>();
  // A server that was stopped may now respond with data read before its successor ended the call.
  if (before === call.final || isFinal(view)) noteFinal(stage, call, view);
  return view;
}

/** A final state never changes once it was read. */
export function noteFinal({ journal }: Stage, call: CallRecord, view: CallView): void {
  if (!isFinal(view)) {
    if (call.final !== undefined)
      journal.violated("a final call never changes", view.id, `${call.final}, then ${JSON.stringify(view)}`);
    return;
  }
  const text = JSON.stringify(view, Object.keys({ ...view, ...view.outcome }).sort());
  if (call.final !== undefined && call.final !== text)
    journal.violated("a final call never changes", view.id, `${call.final}, then ${text}`);
  call.final ??= text;
}

const isFinal = ({ status }: CallView): boolean => status === "COMPLETED" || status === "FAILED";

function begun({ journal }: Stage, tries: Try[]): Try {
  const attempt: Try = { epoch: journal.epoch };
  tries.push(attempt);
  return attempt;
}

function ended({ journal }: Stage, attempt: Try, status: number | undefined, what: string): void {
  if (status !== undefined) attempt.status = status;
  journal.note(`${what}: ${status ?? "no answer"}`);
}
