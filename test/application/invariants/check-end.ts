import { type Call, isActive } from "../../../src/domain/calls/call.ts";
import { CLOSED_BEFORE_ANSWER } from "../../../src/domain/calls/call-flow.ts";
import { ALICE } from "../../support/application.ts";
import { checkBatches } from "./check-batches.ts";
import { checkCleared, isNotFound } from "./check-deletion.ts";
import { checkTimeline } from "./check-timeline.ts";
import type { RecordedRequest } from "./requests.ts";
import type { AttachedClient, Run } from "./run.ts";

/** Time that is longer than any pause between two attempts to write, ms. */
const REPAIRED_MS = 15_000;
/** Time that is longer than all time limits together, ms. */
const QUIET_MS = 300_000;

/** Repairs everything, lets all work finish, and checks the final state. */
export async function checkEnd(run: Run, check: (isAtRest: boolean) => Promise<void>): Promise<void> {
  for (const process of run.processes) process.crashAt(undefined);
  if (run.storageFaults.hasFault) await wait(run, 6_000, check); // requests that need a response despite storage faults
  run.storageFaults.heal();
  if (run.adapterFaults.hasFault) await wait(run, 75_000, check); // requests that need a response despite a hanging adapter
  run.adapterFaults.heal();
  await run.clock.settle(); // a dial that hung continues before a stopped process does
  for (const process of run.processes) {
    process.storage.repair();
    process.resume("forwards");
  }
  await run.revive();
  await run.clock.advance(REPAIRED_MS);
  await run.waitForOwner();
  await check(true);
  const { process } = run;
  await repeatDeletes(run);
  await repeatDeletions(run);
  for (const leg of process.network.legs) if (leg.live) process.network.end(leg, "callee_hung_up");
  for (const line of process.network.lines) if (!line.closed) line.goOffline();
  await run.clock.advance(QUIET_MS);
  await check(true);

  const { findings } = run;
  const calls = await run.calls();
  for (const call of calls) {
    findings.expect("calls-end", !isActive(call.status), `${call.id} is ${call.status}`);
    if (!isActive(call.status)) await checkTimeline(run, call);
    checkTerminated(run, call);
  }
  await checkBatches(run, calls, true);
  for (const client of run.clients) checkClient(run, client, calls);
  for (const id of run.linkedIds) {
    const status = (await run.database.instances.get(id))?.status;
    findings.expect("confirmed-is-kept", status === "CONFIGURED" || status === "ACTIVE", `linked ${id} is ${status}`);
  }
  await checkNumbers(run);
  await checkDeletions(run);
  await checkReader(run);
  for (const error of run.expectsErrors ? [] : process.errors) findings.add("no-surprise", `the log has: ${error}`);
  findings.assertNone();

  run.unsupervise();
  for (const aliveProcess of [...run.processes.filter((other) => other !== process), process]) {
    const hasStopped = await aliveProcess.stop(0);
    findings.expect("stop-ends", hasStopped, `stop() of process ${aliveProcess.number} has not resolved`);
    const pendingTimers = aliveProcess.system.waiting;
    findings.expect(
      "no-timer-left",
      pendingTimers === 0,
      `${pendingTimers} are left in process ${aliveProcess.number}`,
    );
    findings.assertNone();
  }
}

async function checkNumbers({ database, instances, requests, findings, devices, adapterFaults }: Run): Promise<void> {
  for (const id of instances) {
    const instance = await database.instances.get(id);
    if (!instance || instance.status === "DELETED") continue;
    const isLinked = instance.status !== "CREATED";
    const hasCredentials = (await database.instances.loadCredentials(id)) !== undefined;
    findings.expect(
      "linked-has-credentials",
      hasCredentials === isLinked,
      `${id} is ${instance.status}, credentials: ${hasCredentials}`,
    );
    const isUnlinked = requests.find("unlink", id).some(({ response }) => response === "done");
    if (!isUnlinked || requests.find("scan", id).length > 0) continue;
    findings.expect("unlinked-is-cleared", !isLinked, `${id} is ${instance.status}`);
    const isHanging = ["unlink", "open"].some((method) => adapterFaults.excusedWaits.has(`${method} ${id}`));
    findings.expect("unlinked-is-cleared", !devices.has(id) || isHanging, `${id} is linked at the network`);
  }
}

async function wait(run: Run, ms: number, check: (isAtRest: boolean) => Promise<void>): Promise<void> {
  await run.clock.advance(ms);
  await run.revive();
  await check(true);
}

/** DELETEs of a call or an instance that got 503 from the present owner, and no 204. */
function unavailableSubjects(run: Run, kind: "hang up" | "delete"): string[] {
  const requestsBySubject = new Map<string, RecordedRequest[]>();
  for (const request of run.requests.all)
    if (request.kind === kind)
      requestsBySubject.set(request.subject, [...(requestsBySubject.get(request.subject) ?? []), request]);
  const isRefused = ({ response, life }: RecordedRequest) => response === "unavailable" && life === run.process.life;
  const unfinishedRequests = [...requestsBySubject].filter(
    ([, all]) => all.some(isRefused) && all.every(({ response }) => response !== "done"),
  );
  return unfinishedRequests.map(([subject]) => subject);
}

async function repeatDeletes(run: Run): Promise<void> {
  for (const callId of unavailableSubjects(run, "hang up")) {
    const call = await run.database.calls.get(callId);
    if (call?.outcome?.reason !== "terminated" || call.outcome.detail === CLOSED_BEFORE_ANSWER) continue;
    await repeatTwice(run, "hang up", callId, () => run.process.app.calls.hangUp(ALICE, callId));
  }
}

async function repeatDeletions(run: Run): Promise<void> {
  for (const id of unavailableSubjects(run, "delete"))
    await repeatTwice(run, "delete", id, () => run.process.app.instances.delete(ALICE, id));
}

/** The first repeat of a refused DELETE gets 204, the second one 404. */
async function repeatTwice(
  { findings, requests, process }: Run,
  kind: "hang up" | "delete",
  subject: string,
  request: () => Promise<void>,
): Promise<void> {
  const invariant = kind === "delete" ? "deletion-is-finished" : "one-delete-counts";
  // An earlier owner may have ended it without being able to respond.
  const isFromEarlierLife = requests.find(kind, subject).some(({ life }) => life !== process.life);
  for (const expectedResponse of ["done", "not found"] as const) {
    const repeat = requests.record(process, kind, subject, request());
    await process.system.advance(10_000);
    const isExpected = repeat.response === expectedResponse || (isFromEarlierLife && repeat.response === "not found");
    findings.expect(invariant, isExpected, `the repeat of ${subject} returned "${repeat.response}"`);
  }
}

async function checkDeletions(run: Run): Promise<void> {
  await checkCleared(run, "all");
  for (const id of run.instances) {
    const deletions = run.requests.find("delete", id).filter(({ response }) => response === "done");
    run.findings.expect("deletion-is-finished", deletions.length <= 1, `${id} was deleted ${deletions.length} times`);
    const isDeleted = deletions.length === 0 || (await isNotFound(run, id));
    run.findings.expect("confirmed-is-kept", isDeleted, `the deleted ${id} exists again`);
  }
}

/** One DELETE has ended the call and reported it. */
function checkTerminated(run: Run, { id, outcome, batchId }: Call): void {
  if (batchId !== undefined && run.requests.find("change batch", batchId).length > 0) return; // it may have ended its calls
  const hangUps = run.requests.find("hang up", id);
  const doneCount = hangUps.filter(({ response }) => response === "done").length;
  if (doneCount > 0)
    run.findings.expect("one-delete-counts", outcome?.reason === "terminated", `deleted ${id} is ${outcome?.reason}`);
  if (outcome?.reason !== "terminated" || outcome.detail === CLOSED_BEFORE_ANSWER) return;
  const isUncertain = hangUps.some(
    ({ response }) => response === undefined || response === "unavailable" || response === "refused",
  );
  run.findings.expect("one-delete-counts", doneCount === 1 || isUncertain, `no DELETE of ${id} returned 204`);
}

async function checkReader({ reader, findings }: Run): Promise<void> {
  await reader.readNewEvents();
  const allIds = await reader.readAllIds();
  const seenIds = new Set(reader.seenIds);
  findings.expect("reader-misses-nothing", seenIds.size === reader.seenIds.length, "it has seen an event twice");
  const missedIds = allIds.filter((id) => !seenIds.has(id));
  findings.expect("reader-misses-nothing", missedIds.length === 0, `it missed ${missedIds.length} of ${allIds.length}`);
}

/** Invariants of the responses to a client, whatever the call's outcome. */
function checkClient(run: Run, { client, callId, life }: AttachedClient, calls: readonly Call[]): void {
  const expectThat = (holds: boolean, detail: string) =>
    run.findings.expect("stream-client", holds, `${callId} ${detail}`);
  expectThat(client.ends.length <= 1, `has ended ${client.ends.length} times`);
  const endEvents = client.eventNames.filter((event) => event === "completed" || event === "failed");
  expectThat(endEvents.length <= 1, `was reported as ${endEvents.join(", ")}`);
  const endEvent = endEvents[0];
  if (endEvent === undefined) return;
  expectThat(String(client.ends) === endEvent, `ended as "${client.ends}", reported as ${endEvent}`);
  expectThat(client.eventNames.at(-1) === endEvent, `had ${client.eventNames.at(-1)} after its end`);
  if (life !== run.process.life) return; // an earlier owner's reports may not have been stored
  const call = calls.find(({ id }) => id === callId);
  expectThat(endEvent === call?.status.toLowerCase(), `was reported as ${endEvent}, is ${call?.status}`);
  expectThat(client.latestEvent(endEvent)?.data.reason === call?.outcome?.reason, `was reported with another reason`);
}
