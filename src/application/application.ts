import type { Call } from "../domain/calls/call.ts";
import { LeaseLost } from "../ports/storage.ts";
import { type AccountParts, Accounts } from "./accounts/accounts.ts";
import { AudioLibrary } from "./audio-library.ts";
import { BatchRunner } from "./batches/batch-runner.ts";
import { Batches } from "./batches/batches.ts";
import { DecodedFiles } from "./call-audio/call-types/decoded-files.ts";
import { RecordingQuota } from "./call-audio/recording-quota.ts";
import { FairTurns } from "./call-audio/speech/fair-turns.ts";
import { SpeechScheduler } from "./call-audio/speech/speech-scheduler.ts";
import { Streams } from "./call-audio/streams/streams.ts";
import { Calls } from "./calls/calls.ts";
import { type Erasure, eraseWithLiveCalls, removeWithLiveCalls } from "./calls/deletion/erasure.ts";
import { Deletions } from "./calls/deletion/instance-deletions.ts";
import { PurgeClock } from "./calls/deletion/purge-clock.ts";
import { Retention, type RetentionDays } from "./calls/deletion/retention.ts";
import { checkProtection } from "./calls/dialling/dial-protection.ts";
import { Dispatcher } from "./calls/dialling/dispatcher.ts";
import { ProcessPauses } from "./calls/dialling/process-pauses.ts";
import { QueueTimeout } from "./calls/dialling/queue-timeout.ts";
import { Journals } from "./calls/live/journals.ts";
import { LateResults } from "./calls/live/late-results.ts";
import { recover, recoverLater } from "./calls/recovery.ts";
import { Terminations } from "./calls/terminations.ts";
import { Consents } from "./consents.ts";
import type { Context, ContextParts } from "./context.ts";
import { resealAll } from "./encryption/resealing.ts";
import { RunningKeys } from "./idempotency/running-keys.ts";
import { BrokenLines } from "./instances/broken-lines.ts";
import { Instances } from "./instances/instances.ts";
import { Lines } from "./instances/lines.ts";
import { Queries } from "./queries.ts";
import { ServerLease } from "./server-lease.ts";
import { ProviderAccess } from "./user-limits/provider-access.ts";
import { Endpoints } from "./webhooks/endpoints.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

/** The use cases and the live part behind them. */
export interface Application {
  readonly instances: Instances;
  readonly calls: Calls;
  readonly batches: Batches;
  readonly queries: Queries;
  readonly webhooks: Webhooks;
  readonly consents: Consents;
  readonly audio: AudioLibrary;
  /** The use cases of accounts, created on first use. */
  accounts(parts: Pick<AccountParts, "passwords" | "registration" | "sha256" | "tokens">): Accounts;
  /**
   * The server's lease; when it is lost, all calls end and all lines close at once, and the application must be
   * stopped.
   */
  readonly lease: Pick<ServerLease, "isHeld" | "lostSignal">;
  /** Deletes all data about calls that mention a number, in any format; active calls are ended first. */
  erase(phone: string): Promise<Erasure>;
  /** Settles the calls of a crashed process, connects the linked numbers and starts dialling. */
  start(): Promise<void>;
  /** Stops dialling; live calls may continue for `drainMs`, then they end as `interrupted`. Idempotent. */
  stop(drainMs: number): Promise<void>;
}

/** Maximum number of audio files decoded at the same time. */
const MAX_CONCURRENT_DECODES = 2;
/** Extra time that `stop` allows for unavailable storage, ms. */
const STORAGE_GRACE_MS = 5_000;

/** Assembles the application. The storage must be open before `start`. */
export function createApplication(parts: ContextParts, retentionDays: RetentionDays): Application {
  const shutdown = new AbortController();
  const lease = new ServerLease(parts);
  const storage = lease.fence(parts.storage);
  const access = new ProviderAccess(parts.telephony, storage.accounts);
  const purgeClock = new PurgeClock(parts.system, storage, parts.log);
  const context: Context = {
    ...parts,
    storage,
    lease,
    access,
    shutdownSignal: shutdown.signal,
    decodedFiles: new DecodedFiles(),
    decoderTurns: new FairTurns(parts.system, MAX_CONCURRENT_DECODES),
    journals: new Journals(),
    lateResults: new LateResults(),
    purgeClock,
    recordingQuota: new RecordingQuota(),
    runningKeys: new RunningKeys(),
    speechScheduler: new SpeechScheduler(parts.speech, parts.system, parts.timings.messagePreparationMs),
    processPauses: new ProcessPauses(parts),
    streams: new Streams(),
  };
  const lines: Lines = new Lines(context, {
    onOnline(instanceId) {
      dispatcher.onLineUp(instanceId);
      runner.wake();
    },
    onOffline(instanceId, reason) {
      dispatcher.onLineDown(instanceId, reason);
      queueTimeout.onLineDown();
    },
    onBroken: (instanceId) => brokenLines.check(instanceId),
  });
  const dispatcher: Dispatcher = new Dispatcher(context, lines, onQueued, (callId) => terminations.isPending(callId));
  const brokenLines: BrokenLines = new BrokenLines(context, lines);
  const queueTimeout: QueueTimeout = new QueueTimeout(context, lines);
  const terminations: Terminations = new Terminations(context, dispatcher);
  const calls = new Calls(context, dispatcher, onQueued, terminations);
  const runner: BatchRunner = new BatchRunner(context, calls.creation, lines, (call) =>
    terminations.end(call, "terminated", null),
  );
  const batches = new Batches(context, calls.creation, runner, lines);
  context.streams.terminate = (callId) => void terminations.endUndialled(callId);
  const deletions = new Deletions(context, lines, terminations);
  const instances = new Instances(context, lines, deletions, dispatcher);
  const queries = new Queries(context, dispatcher, lines);
  const retention = new Retention(context, retentionDays);
  const endpoints = new Endpoints(context);
  const webhooks = new Webhooks(context, endpoints);
  lease.onDialAllowed = () => {
    for (const instanceId of lines.dialableIds) dispatcher.wake(instanceId);
    runner.wake();
  };
  lease.lostSignal.addEventListener("abort", () => {
    if (lease.lostSignal.reason instanceof LeaseLost) shutdown.abort(); // the new owner settles calls that are not stored
    void dispatcher.endAll("interrupted", "the server lost its database to another server, or could not reach it");
    void lines.stop();
    void endpoints.stop();
  });
  function onQueued(call: Call): void {
    queueTimeout.onQueued(call);
    brokenLines.check(call.instanceId);
  }

  let accounts: Accounts | undefined;
  let cancelRecovery = () => {};
  /** Settles when everything is sealed with the current key, or the process stops. */
  let resealing: Promise<void> | undefined;
  let stopPromise: Promise<void> | undefined;

  async function stop(drainMs: number): Promise<void> {
    cancelRecovery();
    deletions.stop();
    queueTimeout.stop();
    const retentionStopped = retention.stop();
    const cancel = context.system.after(drainMs + STORAGE_GRACE_MS, () => shutdown.abort());
    await runner.stop();
    await dispatcher.stop(drainMs);
    await runner.whenIdle();
    await context.lateResults.whenIdle();
    await Promise.all([lines.stop(), endpoints.stop()]);
    await deletions.whenIdle();
    await retentionStopped;
    cancel();
    shutdown.abort(); // no more retries
    await resealing;
    for (const id of terminations.pendingCalls)
      context.log.error(
        { call_id: id },
        "the end of a call could not be stored; the next start finds the call unchanged",
      );
    for (const [{ id, call }, events] of context.journals.unsavedEventCounts)
      context.log.error(
        { call_id: id, status: call.status, reason: call.outcome?.reason, events },
        "the outcome of a call could not be stored; the next start marks the call as interrupted",
      );
    context.events.close();
    lease.end();
  }

  return {
    instances,
    calls,
    batches,
    queries,
    webhooks,
    consents: new Consents(context),
    audio: new AudioLibrary(context, calls.creation.messages),
    accounts(parts) {
      const remove = (batch: readonly Call[]) => removeWithLiveCalls(context, terminations, dispatcher, batch);
      accounts ??= new Accounts({ ...context, ...parts, batches, instances, webhooks, removeCalls: remove });
      return accounts;
    },
    lease,
    erase: (phone) => eraseWithLiveCalls(context, terminations, dispatcher, phone),
    async start() {
      await lease.start();
      // New ids must sort after stored ones, even if the clock has been set back.
      context.ids.startAfter((await context.storage.events.newestId()) ?? "");
      await purgeClock.start();
      checkProtection(context);
      // `start()` fails at once if the storage is unavailable.
      await recover({ ...context, shutdownSignal: AbortSignal.abort() });
      context.processPauses.start();
      await lines.start();
      await queueTimeout.start();
      retention.start();
      deletions.start();
      await endpoints.start();
      await runner.start();
      cancelRecovery = recoverLater(context);
      if (context.vault.hasPrevious) resealing = resealAll(context);
    },
    stop: (drainMs) => (stopPromise ??= stop(drainMs)),
  };
}
