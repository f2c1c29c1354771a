// Table of contents of the public API.

export type {
  Account,
  AccountSession,
  AccountUseCases,
  AuditEntry,
  Browser,
  Invitation,
  Login,
  NewAccountToken,
  NewSession,
  OneTimeCode,
  Registration,
  SignedIn,
} from "./application/accounts/account-use-cases.ts";
export type { CallListening, ListenItem } from "./application/call-audio/listeners/listen-items.ts";
export type {
  StreamAttachment,
  StreamClient,
  StreamEnd,
  StreamEvent,
  StreamEventData,
  StreamEventName,
  StreamReservation,
  Transcript,
} from "./application/call-audio/streams/stream-client.ts";
export { STREAM_EVENTS } from "./application/call-audio/streams/stream-client.ts";
export type { Erasure } from "./application/calls/deletion/erasure.ts";
export type { LinkTicket } from "./application/instances/link-tickets.ts";
export type { IssuedToken, NewToken } from "./application/tokens/tokens.ts";
export type {
  AudioUseCases,
  CallUseCases,
  Connection,
  ConsentUseCases,
  CreateOptions,
  Creation,
  EventPage,
  EventQuery,
  InstanceDetails,
  InstanceUseCases,
  LinkingCode,
  LinkPageState,
  ListedInstance,
  StoredConsent,
  TypedLinkCode,
  WebhookUseCases,
  WebhookWithSecret,
} from "./application/use-cases.ts";
export { CodedError } from "./base/error.ts";
export type { Transitions } from "./base/state-machine.ts";
export { stateDiagram } from "./base/state-machine.ts";
export type { AccountRefusalCode } from "./domain/access/account-refusal.ts";
export { AccountRefusal } from "./domain/access/account-refusal.ts";
export type { Principal } from "./domain/access/principal.ts";
export type { TokenScope } from "./domain/access/token-scope.ts";
export type { TurnMetrics } from "./domain/agents/turn-metrics.ts";
export type { CreateAudioInput } from "./domain/calls/audio-schemas.ts";
export type { Call, CallFilter, CallMove, CallStatus, CallType, Message } from "./domain/calls/call.ts";
export { CALL_STATUSES, CALL_TRANSITIONS, CALL_TYPES, isActive } from "./domain/calls/call.ts";
export type { CommonCallInput, CreateCallInput } from "./domain/calls/call-input.ts";
export type { CallLimits } from "./domain/calls/call-limits.ts";
export type { CallAudioInput, CallMessageInput } from "./domain/calls/call-type-input.ts";
export type { DialProgress } from "./domain/calls/dial-progress.ts";
export type { MediaStatistics } from "./domain/calls/media-statistics.ts";
export type { CompletedReason, FailedReason, HeardEvidence, Outcome, OutcomeData } from "./domain/calls/outcome.ts";
export {
  COMPLETED_REASONS,
  FAILED_REASONS,
  HEARD_EVIDENCE,
  isNumberRefused,
  UNANSWERED_REASONS,
} from "./domain/calls/outcome.ts";
export type { QualityInterval } from "./domain/calls/quality-series.ts";
export type { SipChoice, SipRule } from "./domain/calls/sip-choice.ts";
export type { SipInput } from "./domain/calls/sip-input.ts";
export type { CheckedFile, StoredAudio } from "./domain/calls/stored-audio.ts";
export type { Speaker, TranscriptLine } from "./domain/calls/transcript.ts";
export type { Consent, ConsentStatus } from "./domain/dialling-rules/consent.ts";
export type { ConsentInput } from "./domain/dialling-rules/consent-input.ts";
export type { DialRecord } from "./domain/dialling-rules/dial-history.ts";
export type {
  AnswerRateFloor,
  BlockedReason,
  CallingHours,
  NumberProtection,
  Pause,
  RefusalLimit,
  WarmUp,
} from "./domain/dialling-rules/number-protection.ts";
export type {
  CallReference,
  Event,
  EventData,
  EventSource,
  EventType,
  Fact,
  FinalData,
  IncompleteReason,
  ListenerData,
  LoggedEvent,
  NoData,
  NumberedEvent,
  ToolFault,
} from "./domain/events.ts";
export { EVENT_TYPES } from "./domain/events.ts";
export type { JsonSchema } from "./domain/input/json-schema.ts";
export type {
  DialledNumber,
  Instance,
  InstanceInput,
  InstanceStatus,
  JsonValue,
  Metadata,
} from "./domain/instances/instance.ts";
export { INSTANCE_STATUSES, INSTANCE_TRANSITIONS } from "./domain/instances/instance.ts";
export type { CreateInstanceInput, UpdateInstanceInput } from "./domain/instances/instance-input.ts";
export type { PairingInput } from "./domain/instances/pairing-input.ts";
export type { QueuePolicy } from "./domain/instances/queue-capacity.ts";
export { freeSlot } from "./domain/instances/queue-capacity.ts";
export type { Limits } from "./domain/limits.ts";
export { DEFAULT_LIMITS } from "./domain/limits.ts";
export type { CallerIdInput } from "./domain/numbers/caller-id-input.ts";
export type { MentionedNumber } from "./domain/numbers/mentioned-number.ts";
export type { Fault, RefusalCode } from "./domain/refusal.ts";
export { Refusal } from "./domain/refusal.ts";
export type { Timings } from "./domain/timings.ts";
export { DEFAULT_TIMINGS } from "./domain/timings.ts";
export type { DeliveryStatus, DisabledReason, Webhook, WebhookDelivery } from "./domain/webhooks/webhook.ts";
export type { CreateWebhookInput, UpdateWebhookInput } from "./domain/webhooks/webhook-input.ts";
export type { AttemptedDelivery } from "./domain/webhooks/webhook-retries.ts";

export type {
  AgentTuning,
  EmbeddedPorts,
  EmbeddedTuning,
  HttpOptions,
  HttpSpeechTuning,
  HttpToolOptions,
  HttpToolsTuning,
  NetworkName,
  NeuralTuning,
  RingportOptions,
  SipDestinations,
  SipRouteOptions,
  SipTrunkOptions,
  SipTuning,
  TranscriptionTuning,
  WebhookOptions,
} from "./options.ts";
export type { AgentTool, OfferedTool, ToolContext } from "./ports/agent-tool.ts";
export { ToolFailed } from "./ports/agent-tool.ts";
export type {
  AudioAgent,
  AudioAgentEvent,
  AudioConversation,
  AudioFormat,
  HeardItem,
} from "./ports/audio-conversation.ts";
export type { AudioDecoder, AudioFacts, Mp3Stream } from "./ports/audio-decoder.ts";
export { AudioUnsupported } from "./ports/audio-decoder.ts";
export type { Authenticate } from "./ports/authenticator.ts";
export type {
  Agent,
  AgentBrief,
  Conversation,
  ConversationAction,
  ConversationInput,
} from "./ports/conversation.ts";
export { AgentUnavailable } from "./ports/conversation.ts";
export type { LogFields, Logger } from "./ports/logger.ts";
export { silentLogger } from "./ports/logger.ts";
export { type FrameSink, type FrameSource, type PcmChunk, SAMPLE } from "./ports/media.ts";
export type { Network, NetworkPages } from "./ports/network-pages.ts";
export type { PasswordHasher } from "./ports/password-hasher.ts";
export { HasherBusy } from "./ports/password-hasher.ts";
export type { Recordings, RecordingWriter, StoredRecording } from "./ports/recordings.ts";
export type { Speech, Voice } from "./ports/speech.ts";
export { NothingToSpeak, SpeechFailed, VoiceUnavailable } from "./ports/speech.ts";
export type {
  AccountDecision,
  AccountRecord,
  AccountRemoval,
  AccountStore,
  AudioInsertion,
  AudioLimits,
  AudioStore,
  AuditPage,
  AuditRecord,
  ByteBudget,
  CallPatch,
  CallQuota,
  CallStore,
  CallTally,
  CodePurpose,
  CodeRecord,
  ConsentStore,
  DueDelivery,
  EventStore,
  Insertion,
  InstancePatch,
  InstanceStore,
  Lease,
  LineRecordStore,
  LoginStore,
  LogPage,
  NewAccount,
  NewReceipt,
  OpenOptions,
  Page,
  Receipt,
  ReceiptKey,
  ReceiptStore,
  RegistrationResult,
  RemovedCalls,
  RetentionStore,
  SealedKind,
  SealedPlace,
  SealedStore,
  SealedValue,
  SessionRecord,
  Storage,
  TokenInsertion,
  TokenRecord,
  TranscriptStore,
  TrustedTime,
  UsedCode,
  User,
  WebhookPatch,
  WebhookStore,
} from "./ports/storage.ts";
export { LeaseLost, StorageLocked, StorageUnavailable } from "./ports/storage.ts";
export type { System } from "./ports/system.ts";
export { realSystem } from "./ports/system.ts";
export type {
  AudioThread,
  CallerId,
  CallerIdRule,
  CredentialStore,
  Deadlines,
  DialOptions,
  InstanceRef,
  KeyDelivery,
  Leg,
  LegEvent,
  Line,
  LineCondition,
  LineHealth,
  LineHost,
  LineNotice,
  LineRecords,
  LinkCode,
  MediaEvidence,
  PairingCode,
  RefusalScope,
  ReleaseCause,
  Telephony,
  TelephonyCapabilities,
  TransferOutcome,
} from "./ports/telephony.ts";
export { DialError } from "./ports/telephony.ts";
export type {
  Transcription,
  TranscriptionCapabilities,
  TranscriptionEvent,
  TranscriptionOptions,
  TranscriptionSession,
} from "./ports/transcription.ts";
export { TranscriptionFailed } from "./ports/transcription.ts";
export type { VoiceActivity, VoiceActivityDetector } from "./ports/voice-activity.ts";
export type { Reply, RequestLike, Socket, SocketHandlers, WebApp } from "./ports/web.ts";
export type { OutgoingWebhook, WebhookSender } from "./ports/webhook-sender.ts";
export type { Ringport, Tokens } from "./ringport.ts";
export { createRingport } from "./ringport.ts";
