import type { IdSource } from "../base/ids.ts";
import type { CallLimits } from "../domain/calls/call-limits.ts";
import type { Speaker } from "../domain/calls/transcript.ts";
import type { NumberedEvent } from "../domain/events.ts";
import type { InputSchemas } from "../domain/input/inputs.ts";
import type { QueuePolicy } from "../domain/instances/queue-capacity.ts";
import type { Limits } from "../domain/limits.ts";
import type { Timings } from "../domain/timings.ts";
import type { Logger } from "../ports/logger.ts";
import type { Storage } from "../ports/storage.ts";
import type { System } from "../ports/system.ts";
import type { DecodedFiles } from "./call-audio/call-types/decoded-files.ts";
import type { RecordingQuota } from "./call-audio/recording-quota.ts";
import type { FairTurns } from "./call-audio/speech/fair-turns.ts";
import type { SpeechScheduler } from "./call-audio/speech/speech-scheduler.ts";
import type { Streams } from "./call-audio/streams/streams.ts";
import type { PurgeClock } from "./calls/deletion/purge-clock.ts";
import type { ProcessPauses } from "./calls/dialling/process-pauses.ts";
import type { EventLog } from "./calls/event-log.ts";
import type { Journals } from "./calls/live/journals.ts";
import type { LateResults } from "./calls/live/late-results.ts";
import type { Counters } from "./counters.ts";
import type { Vault } from "./encryption/vault.ts";
import type { RunningKeys } from "./idempotency/running-keys.ts";
import type { GuardedPorts } from "./port-guards/guarded-ports.ts";
import type { ServerLease } from "./server-lease.ts";
import type { ProviderAccess } from "./user-limits/provider-access.ts";

/** Parts that the composition root puts together. */
export type ContextParts = Omit<
  Context,
  | "access"
  | "decodedFiles"
  | "decoderTurns"
  | "shutdownSignal"
  | "journals"
  | "lateResults"
  | "lease"
  | "purgeClock"
  | "recordingQuota"
  | "runningKeys"
  | "speechScheduler"
  | "processPauses"
  | "streams"
>;

/** Everything that the application uses; created once. */
export interface Context extends GuardedPorts {
  readonly system: System;
  readonly ids: IdSource;
  /** Id of this process, as the owner of the calls it works on. */
  readonly nodeId: string;
  readonly storage: Storage;
  readonly access: ProviderAccess;
  /** Speaks for calls, in turns. */
  readonly speechScheduler: SpeechScheduler;
  readonly processPauses: ProcessPauses;
  /** The turns of calls whose audio files are being decoded. */
  readonly decoderTurns: FairTurns;
  /** The decoded audio files of calls, shared by content. */
  readonly decodedFiles: DecodedFiles;
  /** The voice of agents, if their call names none. */
  readonly agentVoiceId: string | undefined;
  /** Speakers whose words are transcribed. */
  readonly transcriptSpeakers: readonly Speaker[];
  readonly log: Logger;
  readonly events: EventLog;
  readonly journals: Journals;
  readonly lateResults: LateResults;
  /** This process's right to act as the server of its database. */
  readonly lease: ServerLease;
  /** The clock by which records are purged. */
  readonly purgeClock: PurgeClock;
  readonly streams: Streams;
  readonly runningKeys: RunningKeys;
  /** Quota for recordings of live calls. */
  readonly recordingQuota: RecordingQuota;
  readonly counters: Counters;
  readonly vault: Vault;
  /** True if webhooks may have private hosts, and need no HTTPS. */
  readonly webhooksAllowPrivate: boolean;
  readonly timings: Timings;
  readonly limits: Limits;
  /** Allowed destinations, and the number of calls that a token without its own limit may create. */
  readonly callLimits: CallLimits;
  readonly policy: QueuePolicy;
  readonly schemas: InputSchemas;
  readonly strictSchemas: InputSchemas;
  /** True if live streams are switched on. */
  readonly streamPreview: boolean;
  /** True if a call without inbound audio ends even on a network where that proves nothing. */
  readonly requireInboundAudio: boolean;
  /** Treatment of live calls on a network that does not return the callee's audio. */
  readonly oneWayCalls: "refuse" | "warn";
  /** Aborted when the process must end even if the storage is unavailable. */
  readonly shutdownSignal: AbortSignal;
  publicUrl(): string;
  /** An event as `GET /v1/events` shows it, JSON. */
  eventJson(event: NumberedEvent): string;
}
