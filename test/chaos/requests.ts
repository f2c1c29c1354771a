import type { CallView, InstanceView } from "../support/server-client.ts";
import type { CallRecord, InstanceRecord, RequestAttempt } from "./journal.ts";
import { messageOf } from "./messages.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** Requests an instance; a repeated request has the same key. */
export async function createInstance(context: SequenceContext, instance: InstanceRecord): Promise<void> {
  const attempt = beginAttempt(context, instance.posts);
  const response = await context.server.request("POST", "/v1/instances", {
    json: { name: instance.name, provider: instance.network },
    headers: { "idempotency-key": instance.name },
  });
  recordEnd(context, attempt, response?.status, `instance ${instance.name}`);
  if (response?.status !== 201) return;
  const { id } = response.json<InstanceView>();
  if (instance.id !== undefined && instance.id !== id)
    context.journal.reportViolation("a repeated creation creates nothing", instance.name, `${instance.id}, then ${id}`);
  instance.id = id;
}

/** Links an instance as a person would, on its code's link page. */
export async function linkInstance(
  { server, journal, moments, phones }: SequenceContext,
  instance: InstanceRecord,
): Promise<void> {
  const code = await server.request("GET", `/v1/instances/${instance.id}/configure`);
  if (code?.status === 409) instance.isLinked = true;
  if (code?.status !== 200) return;
  const page = /https?:\/\/\S+\/link\/\w+/.exec(code.json<{ message: string }>().message)?.[0];
  if (page === undefined) throw new Error(`the response names no linking page: ${code.text}`);
  const account = { server: `127.0.0.1:${phones.port}`, transport: "udp", user: instance.name, register: "on" };
  const response = server.request("POST", page, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: instance.network === "sip" ? new URLSearchParams(account).toString() : "",
  });
  moments.notify("a link request");
  const result = await response;
  journal.note(`link ${instance.id}: ${result?.status}`);
  if (result?.status !== 200) return;
  instance.isLinked = true;
  moments.notify("a link response");
}

/** Deletes an instance; returns true if it no longer exists. */
export async function deleteInstance(context: SequenceContext, instance: InstanceRecord): Promise<boolean> {
  const attempt = beginAttempt(context, instance.deletes);
  const response = context.server.request("DELETE", `/v1/instances/${instance.id}`);
  context.moments.notify("a deletion request");
  const status = (await response)?.status;
  recordEnd(context, attempt, status, `delete instance ${instance.id}`);
  if (status !== undefined) context.moments.notify("a deletion response");
  const earlierDeletes = instance.deletes.slice(0, -1);
  const isSameProcess = earlierDeletes.every(({ epoch, status }) => epoch === attempt.epoch && status === 503);
  if (status === 404 && isSameProcess)
    context.journal.reportViolation(
      "a repeated deletion finishes what a 503 began",
      instance.id!,
      `returned ${[...earlierDeletes, attempt].map(({ status }) => status).join(", ")} by the same process`,
    );
  if (status === 204 || status === 404) instance.isDeleted = true;
  return instance.isDeleted;
}

/** Requests a call. */
export async function createCall(context: SequenceContext, call: CallRecord): Promise<void> {
  const attempt = beginAttempt(context, call.posts);
  const response = context.server.request("POST", "/v1/calls", {
    json: {
      ...{ instanceId: call.instance.id, type: "FIXED_AUDIO", target: { phoneNumber: call.number } },
      audio: { audioBase64: messageOf(call.messageMs) },
    },
    headers: call.key === undefined ? {} : { "idempotency-key": call.key },
  });
  context.moments.notify("a call request");
  const result = await response;
  recordEnd(context, attempt, result?.status, `call ${call.number}`);
  if (result) context.moments.notify("a call response");
  if (result?.status === 404 && call.instance.deletes.length === 0)
    context.journal.reportViolation(
      "a confirmed write is stored",
      call.instance.id!,
      "POST /v1/calls returned 404 for its instance",
    );
  if (result?.status !== 201) return;
  const { id } = result.json<CallView>();
  if (call.id !== undefined && call.id !== id)
    context.journal.reportViolation("a repeated creation creates nothing", call.number, `${call.id}, then ${id}`);
  call.id = id;
}

/** Ends a call. */
export async function endCall(context: SequenceContext, call: CallRecord): Promise<void> {
  const attempt = beginAttempt(context, call.deletes);
  const response = context.server.request("DELETE", `/v1/calls/${call.id}`);
  context.moments.notify("a hang-up request");
  const status = (await response)?.status;
  recordEnd(context, attempt, status, `end ${call.id}`);
  if (status !== undefined) context.moments.notify("a hang-up response");
}

/** Reads a call; records its final state. */
export async function readCall(context: SequenceContext, call: CallRecord): Promise<CallView | undefined> {
  const before = call.finalStatus;
  const response = await context.server.request("GET", `/v1/calls/${call.id}?expand=outcome`);
  if (response?.status === 404)
    context.journal.reportViolation("a confirmed write is stored", call.id!, "GET returned 404");
  if (response?.status !== 200) return undefined;
  const view = response.json<CallView>();
  // A server that was stopped may now respond with data read before its successor ended the call.
  if (before === call.finalStatus || isFinal(view)) noteFinal(context, call, view);
  return view;
}

/** Records a call's final state; reports a violation if it has changed. */
export function noteFinal({ journal }: SequenceContext, call: CallRecord, view: CallView): void {
  if (!isFinal(view)) {
    if (call.finalStatus !== undefined)
      journal.reportViolation(
        "a final call never changes",
        view.id,
        `${call.finalStatus}, then ${JSON.stringify(view)}`,
      );
    return;
  }
  const text = JSON.stringify(view, Object.keys({ ...view, ...view.outcome }).sort());
  if (call.finalStatus !== undefined && call.finalStatus !== text)
    journal.reportViolation("a final call never changes", view.id, `${call.finalStatus}, then ${text}`);
  call.finalStatus ??= text;
}

const isFinal = ({ status }: CallView): boolean => status === "COMPLETED" || status === "FAILED";

function beginAttempt({ journal }: SequenceContext, attempts: RequestAttempt[]): RequestAttempt {
  const attempt: RequestAttempt = { epoch: journal.epoch };
  attempts.push(attempt);
  return attempt;
}

function recordEnd(
  { journal }: SequenceContext,
  attempt: RequestAttempt,
  status: number | undefined,
  label: string,
): void {
  if (status !== undefined) attempt.status = status;
  journal.note(`${label}: ${status ?? "no response"}`);
}
