import type { CallView } from "../support/server-client.ts";
import type { BatchRecord, BatchView, TargetView } from "./batch-record.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** Ends of calls that may not have reached the phone. */
const UNDIALLED_REASONS: readonly string[] = ["interrupted", "unreachable"];

/** Reads every page of a list. */
type ReadAll = <T>(context: SequenceContext, path: string) => Promise<T[]>;

/** Examines the batch's targets, at any time. @param calls calls that were read before */
export async function checkBatch(
  context: SequenceContext,
  calls: readonly CallView[],
  readAll: ReadAll,
): Promise<TargetView[]> {
  const { journal, phones } = context;
  const { batch } = journal;
  if (batch?.id === undefined) return [];
  const ownCalls = calls.filter(({ target_phone }) => batch.numbers.includes(target_phone));
  checkSteps(context, batch, ownCalls);
  // An attempt is stored before its INVITE, so the phones are read first.
  const invites = batch.numbers.map((number) => phones.invites(number));
  const targets = await readAll<TargetView>(context, `/v1/batches/${batch.id}/targets?limit=1000`);
  if (targets.length !== batch.numbers.length) {
    journal.reportViolation("no target is lost", batch.id, `${targets.length} of ${batch.numbers.length} are listed`);
    return targets;
  }
  for (const [n, target] of targets.entries()) {
    const { phone_number: number, status, attempts } = target;
    const epochs = invites[n]!.map(({ epoch }) => epoch);
    const reportViolation = (rule: string) =>
      journal.reportViolation(
        rule,
        `${batch.id} ${number}`,
        `${JSON.stringify(target)}; its phone rang in the rounds ${epochs.join(", ")}`,
      );
    if (number !== batch.numbers[n]) reportViolation("no target is lost");
    if (epochs.length > attempts) reportViolation("no target is called more often than recorded");
    if (attempts > 1 + batch.retry.times) reportViolation("no target is called more often than its retries allow");
    if (status === "COMPLETED" && epochs.length === 0) reportViolation("a completed target was called");
  }
  return targets;
}

/** Examines the batch once all its work has been done without further faults. */
export async function checkBatchEnd(
  context: SequenceContext,
  calls: readonly CallView[],
  readAll: ReadAll,
): Promise<void> {
  const { journal, phones, server } = context;
  const { batch } = journal;
  if (batch?.id === undefined) return journal.reportViolation("a batch can be created", "the batch", "it has no id");
  const targets = await checkBatch(context, calls, readAll);
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (const target of targets) {
    const { phone_number: number, status, call_id, attempts, reason } = target;
    const reportViolation = (rule: string, detail: string) =>
      journal.reportViolation(rule, `${batch.id} ${number}`, `${detail}: ${JSON.stringify(target)}`);
    if (status === "WAITING" || status === "CALLING") reportViolation("every target ends", "it has not ended");
    if (status === "CANCELLED" && !batch.isCancelRequested)
      reportViolation("no target is skipped", "no client cancelled it");
    const inviteCount = phones.invites(number).length;
    // A call that a fault ended between the record of its dial and the INVITE counts as an attempt.
    const hasRetries = attempts <= batch.retry.times && batch.retry.on.includes("interrupted");
    // A cancellation may end a call before its phone rings.
    const isTerminated = reason === "terminated" && batch.isCancelRequested;
    const isUndialled = isTerminated || (UNDIALLED_REASONS.includes(reason ?? "") && !hasRetries);
    if (status !== "CANCELLED" && inviteCount === 0 && !isUndialled)
      reportViolation("no target is skipped", "its phone never rang");
    if (status !== "CANCELLED" && attempts === 0) reportViolation("no target is skipped", "it has no attempt");
    const call = call_id === null ? undefined : byId.get(call_id);
    if (attempts > 0 && call?.ended_at == null)
      reportViolation("a target follows its call", `its call is ${JSON.stringify(call)}`);
    if (status === "COMPLETED" && call?.status !== "COMPLETED")
      reportViolation("a target follows its call", `its call is ${JSON.stringify(call)}`);
    if (phones.hasLeg(number)) reportViolation("no leg outlives its call", "its phone is still connected");
  }
  const response = await server.request("GET", `/v1/batches/${batch.id}`);
  if (response?.status !== 200) return;
  const countedByStatus: Record<string, number> = {};
  for (const { status } of targets) countedByStatus[status] = (countedByStatus[status] ?? 0) + 1;
  const { by_status } = response.json<BatchView>().counts;
  const isDifferent = [...Object.keys(countedByStatus), ...Object.keys(by_status)].some(
    (status) => countedByStatus[status] !== by_status[status],
  );
  if (isDifferent)
    journal.reportViolation(
      "the counts agree with the targets",
      batch.id,
      `${JSON.stringify(by_status)}, but the list has ${JSON.stringify(countedByStatus)}`,
    );
}

/**
 * Checks that no call is created while the batch is paused or after it was cancelled, and that a number has one call at
 * a time.
 */
function checkSteps({ journal }: SequenceContext, batch: BatchRecord, calls: readonly CallView[]): void {
  const active = new Map<string, CallView>();
  for (const call of calls) {
    const at = Date.parse(call.created_at);
    const containingPause = batch.pauses.find(({ from, to }) => at > from && at < to);
    const isLate = batch.cancelledAt !== undefined && at > batch.cancelledAt;
    if (containingPause || isLate)
      journal.reportViolation(
        "a confirmed pause or cancellation holds",
        call.id,
        `created at ${call.created_at}, ${containingPause ? `paused from ${new Date(containingPause.from).toISOString()}` : "cancelled before"}`,
      );
    if (call.ended_at !== null) continue;
    const otherCall = active.get(call.target_phone);
    active.set(call.target_phone, call);
    if (otherCall)
      journal.reportViolation("no number has two calls at once", call.target_phone, `${otherCall.id} and ${call.id}`);
  }
}
