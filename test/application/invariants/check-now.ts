import { type Call, isActive } from "../../../src/domain/calls/call.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import { MS_PER_CHARACTER } from "../../support/application.ts";
import { checkBatches } from "./check-batches.ts";
import { checkCleared } from "./check-deletion.ts";
import type { Attempt } from "./model-network.ts";
import { TIMINGS } from "./process.ts";
import type { RecordedRequest } from "./requests.ts";
import type { Run } from "./run.ts";

const { tailMs, mediaSetupMs } = DEFAULT_TIMINGS;
const { ringTimeoutMs, maxDurationMs } = TIMINGS;

/** Tolerance for timers and frames, ms. */
const SLACK_MS = 500;
const DELETE_RESPONSE_MS = 5_000 + SLACK_MS;
const RESPONSE_MS = 60_000;
const STALLED_MS = 15_000;

/** Checks the invariants that always hold and, once everything is at rest, the immediate ones. */
export class MomentChecks {
  readonly #run: Run;
  /** Time of the latest storage fault, ms on the process's clock. */
  #lastFaultAt = 0;
  /** Time since which a line has been free although a call waits for it, by call. */
  #waitingSince = new Map<string, number>();
  #process: Run["process"];

  constructor(run: Run) {
    this.#run = run;
    this.#process = run.process;
  }

  async check(isAtRest: boolean): Promise<void> {
    const { findings, process, storageFaults, adapterFaults, owners } = this.#run;
    if (this.#process !== process) {
      this.#process = process;
      this.#waitingSince.clear();
      this.#lastFaultAt = 0;
    }
    const now = process.system.monotonic();
    if (storageFaults.hasFault || process.storage.cut || process.system.isStopped || !process.isOwner)
      this.#lastFaultAt = now;
    await this.#run.reader.readNewEvents();
    const calls = await this.#run.calls();
    this.#checkCalls(calls);
    await this.#checkStored(calls);
    if (isAtRest && process.isAlive && !process.system.isStopped) {
      this.#checkLegs(new Map(calls.map((call) => [call.id, call])));
      this.#checkDeletes(now);
      this.#checkResponses(now);
      this.#checkWaiting(calls, now);
      await checkCleared(this.#run, "answered");
      if (this.#lastFaultAt !== now) await checkBatches(this.#run, calls, false);
      await owners.check(adapterFaults.hasFault || this.#lastFaultAt === now);
    }
    findings.assertNone();
  }

  #checkCalls(calls: readonly Call[]): void {
    const { findings, finalCalls, lines } = this.#run;
    const liveCalls = calls.filter(({ status }) => status === "RINGING" || status === "IN_PROGRESS");
    for (const [instanceId, lineCalls] of Map.groupBy(liveCalls, (call) => call.instanceId))
      findings.expect(
        "one-at-a-time",
        lineCalls.length <= lines,
        `${instanceId} has ${lineCalls.length} calls on the line`,
      );
    const claimedCalls = calls.filter((call) => isActive(call.status) && call.line !== null);
    const usedLines = new Set(claimedCalls.map(({ instanceId, line }) => `line ${line} of ${instanceId}`));
    findings.expect("one-at-a-time", usedLines.size === claimedCalls.length, "a line has two calls");
    const hasLines = liveCalls.every(({ line }) => line !== null && line < lines);
    findings.expect("one-at-a-time", hasLines, "a call is on no line of its instance");
    for (const call of calls) {
      const { id, status, createdAt, startedAt, endedAt } = call;
      const isActiveCall = isActive(status);
      findings.expect("timeline", (endedAt === null) === isActiveCall, `${status} ${id} has ended_at ${endedAt}`);
      findings.expect(
        "timeline",
        (call.outcome === null) === isActiveCall,
        `${status} ${id} has outcome ${call.outcome}`,
      );
      const isNotInProgress = status !== "IN_PROGRESS" && status !== "COMPLETED";
      findings.expect("timeline", isNotInProgress || startedAt !== null, `${status} ${id} has no started_at`);
      const times = [createdAt, startedAt ?? createdAt, endedAt ?? Infinity];
      const isOrdered = times.every((time, i) => time >= (times[i - 1] ?? 0));
      findings.expect("times-in-order", isOrdered, `${id} has ${createdAt}, ${startedAt}, ${endedAt}`);
      if (isActiveCall) continue;
      const first = finalCalls.get(id);
      if (!first) finalCalls.set(id, call);
      const isUnchanged = !first || JSON.stringify(first) === JSON.stringify(call);
      findings.expect("final-is-final", isUnchanged, () => `${JSON.stringify(first)} became ${JSON.stringify(call)}`);
    }
  }

  async #checkStored(calls: readonly Call[]): Promise<void> {
    const { findings, createdIds, instances, database } = this.#run;
    const storedIds = new Set(calls.map(({ id }) => id));
    for (const id of createdIds) findings.expect("confirmed-is-kept", storedIds.has(id), `${id} is not stored`);
    for (const id of instances) {
      const isStored = (await database.instances.get(id)) !== undefined;
      findings.expect("confirmed-is-kept", isStored, `${id} is not stored`);
    }
  }

  #checkLegs(calls: ReadonlyMap<string, Call>): void {
    const { findings, processes } = this.#run;
    const liveLegs = new Map<string, number>();
    for (const attempt of processes.flatMap(({ network }) => network.attempts)) {
      const { leg, callId, instanceId, process } = attempt;
      if (!leg?.live || leg.hangUps > 0 || process.system.isStopped) continue;
      const now = process.system.monotonic();
      const legs = (liveLegs.get(instanceId) ?? 0) + 1;
      liveLegs.set(instanceId, legs);
      findings.expect("one-at-a-time", legs <= this.#run.lines, `${instanceId} has ${legs} legs`);
      const until = latestEnd(attempt, calls.get(callId));
      const state = attempt.connectedAt !== undefined ? "connected" : attempt.isAnswered ? "answered" : "ringing";
      findings.expect("leg-in-time", now <= until, () => `${callId} is still ${state} ${now - until} ms too late`);
      const wasEndRequested = this.#run.requests
        .find("hang up", callId)
        .some(
          (request) =>
            request.process === process && request.askedAt >= attempt.askedAt && !isRefusedBefore(request, attempt),
        );
      findings.expect("delete-hangs-up", !wasEndRequested, `the leg of ${callId} is up`);
    }
  }

  #checkDeletes(now: number): void {
    const { findings, process, requests } = this.#run;
    const deletionTimes = new Map<string, number>();
    for (const { kind, subject, response, respondedAt, askedAt, process: requester } of requests.all) {
      if (kind !== "hang up") continue;
      if (response === "done") deletionTimes.set(subject, (deletionTimes.get(subject) ?? 0) + 1);
      if (requester !== process) continue;
      const durationMs = (respondedAt ?? now) - Math.max(askedAt, process.resumedAt);
      findings.expect("delete-responds", durationMs <= DELETE_RESPONSE_MS, () => {
        return `that of ${subject} ${response === undefined ? "has no response" : "got its response"} after ${durationMs} ms`;
      });
    }
    for (const [callId, times] of deletionTimes)
      findings.expect("one-delete-counts", times === 1, `${times} of those of ${callId} returned 204`);
  }

  #checkResponses(now: number): void {
    const { findings, process, requests } = this.#run;
    for (const { kind, subject, response, askedAt, process: requester } of requests.all) {
      if (response !== undefined || requester !== process || kind === "scan") continue;
      const waitedMs = now - Math.max(askedAt, this.#lastFaultAt, process.resumedAt);
      findings.expect(
        "responses-arrive",
        waitedMs <= RESPONSE_MS,
        `"${kind} ${subject}" has waited for ${waitedMs} ms`,
      );
    }
  }

  #checkWaiting(calls: readonly Call[], now: number): void {
    const { findings, process, adapterFaults } = this.#run;
    const waitingSince = new Map<string, number>();
    for (const { id, instanceId, status } of calls) {
      if (status !== "QUEUED" || this.#lastFaultAt === now || adapterFaults.hasFault) continue;
      const line = this.#run.line(instanceId);
      const liveLegs = process.network.attempts.filter(
        ({ leg, ...attempt }) => attempt.instanceId === instanceId && leg?.live && leg.hangUps === 0,
      );
      const isDialled = liveLegs.some(({ callId }) => callId === id);
      if (isDialled || liveLegs.length >= this.#run.lines || line?.health.state !== "online") continue;
      const since = Math.max(this.#waitingSince.get(id) ?? now, process.resumedAt);
      waitingSince.set(id, since);
      findings.expect("no-call-stalls", now - since <= STALLED_MS, `${id} waits for ${now - since} ms`);
    }
    this.#waitingSince = waitingSince;
  }
}

/** True if a process that was not the owner refused the request at once, and placed the call as owner at that time. */
function isRefusedBefore({ response, askedAt, respondedAt }: RecordedRequest, attempt: Attempt): boolean {
  return response === "unavailable" && respondedAt === askedAt && askedAt === attempt.askedAt;
}

/** Time at which a leg must be hung up if it has not ended otherwise, ms on its process's clock. */
function latestEnd({ askedAt, legAt, connectedAt, process }: Attempt, call: Call | undefined): number {
  if (legAt === undefined) return askedAt + ringTimeoutMs + SLACK_MS;
  if (connectedAt === undefined) return askedAt + 2 * ringTimeoutMs + mediaSetupMs + SLACK_MS;
  const connectedMs = Math.max(legAt, connectedAt) + SLACK_MS;
  const lengthMs = lengthOf(call);
  if (lengthMs === undefined) return connectedMs + maxDurationMs;
  // A message's end moves by any time in which it could not be played.
  return connectedMs + lengthMs + tailMs + process.system.stoppedMs;
}

/** Length of a call's fixed message, ms. */
function lengthOf(call: Call | undefined): number | undefined {
  if (call?.message.type === "FIXED_AUDIO") return call.message.durationMs;
  return call?.message.type === "FIXED_TTS" ? call.message.text.length * MS_PER_CHARACTER : undefined;
}
