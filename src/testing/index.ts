// What tests of Ringport, and of programs that embed it, are made of.

export type { ManualSystemOptions } from "./manual-system.ts";
export { ManualSystem } from "./manual-system.ts";
export type { ScriptedTelephonyOptions } from "./scripted-telephony.ts";
export { ScriptedLeg, ScriptedLine, ScriptedTelephony } from "./scripted-telephony.ts";

// The suites that every adapter of a port passes.
export type { StorageUnderTest } from "./storage-contract.ts";
export { storageContract } from "./storage-contract.ts";
export type { ContractNumbers, ContractOptions, ContractRunner, ContractSubject, Skip } from "./telephony-contract.ts";
export { telephonyContract } from "./telephony-contract.ts";
export type { HostReport } from "./telephony-host.ts";
export { LegEvents, TestLineHost } from "./telephony-host.ts";
