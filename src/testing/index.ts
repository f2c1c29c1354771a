// For tests of Ringport and of programs that embed it: contract suites that every adapter of a port passes, with any
// test runner; a clock and a network that a test controls.
export type { AudioAgentUnderTest } from "./audio-agent-contract.ts";
export { audioAgentContract } from "./audio-agent-contract.ts";
export type { ContractRunner } from "./contract-runner.ts";
export type { AgentUnderTest } from "./conversation-contract.ts";
export { conversationContract } from "./conversation-contract.ts";
export type { ManualSystemOptions } from "./manual-system.ts";
export { ManualSystem } from "./manual-system.ts";
export type { RecordingsSkips, RecordingsUnderTest } from "./recordings-contract.ts";
export { recordingsContract } from "./recordings-contract.ts";
export type { ScriptedTelephonyOptions } from "./scripted-telephony.ts";
export { ScriptedLeg, ScriptedLine, ScriptedTelephony } from "./scripted-telephony.ts";
export type { SpeechUnderTest } from "./speech-contract.ts";
export { speechContract } from "./speech-contract.ts";
export type { StorageUnderTest } from "./storage-contract/scene.ts";
export { storageContract } from "./storage-contract.ts";
export type {
  ContractNumbers,
  ContractOptions,
  ContractSubject,
  ContractTransfer,
  Skip,
} from "./telephony-contract/options.ts";
export { telephonyContract } from "./telephony-contract.ts";
export type { HostReport } from "./telephony-host.ts";
export { LegEvents, TestLineHost } from "./telephony-host.ts";
export type { Saying, TranscriptionUnderTest } from "./transcription-contract.ts";
export { transcriptionContract } from "./transcription-contract.ts";
export type { FakeFrame } from "./whatsapp/call.ts";
export { FakeWhatsAppCall } from "./whatsapp/call.ts";
export { FakeWhatsAppClient } from "./whatsapp/client.ts";
export type { FakeLogin, FakeLoginRefusal, FakeWhatsAppOptions } from "./whatsapp/fake-whatsapp.ts";
export { FakeWhatsApp } from "./whatsapp/fake-whatsapp.ts";
export type { FaultyMethod, NetworkFault as Fault } from "./whatsapp/faults.ts";
export { FakeIncomingCall } from "./whatsapp/incoming-call.ts";
export type { CalleeDevice, FakeNumber } from "./whatsapp/numbers.ts";
export type { FakeOfferRefusal, FakeReachoutTimelock } from "./whatsapp/offer-refusals.ts";
export type { FakePeerConnection, FakeWrtc } from "./whatsapp/peer-connection.ts";
export type { FakeRelay } from "./whatsapp/relays.ts";
export type { FakeStanza } from "./whatsapp/stanza.ts";
export { FakeVoip } from "./whatsapp/voip.ts";
