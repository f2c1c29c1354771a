/**
 * All external dependencies of the SIP stack: a clock, a log, audio frames, and small tools. No other file of the stack
 * imports from outside the folder.
 */

export { type ClockMember, FRAME_MS, MediaClock } from "../../src/audio/playout/media-clock.ts";
export { ALAW_LEVELS, alawCode, MULAW_LEVELS, mulawCode } from "../../src/audio/samples/g711-companding.ts";
export { Resampler } from "../../src/audio/samples/resample.ts";
export { BoundedMap } from "../../src/base/bounded-map.ts";
export { ClosedError, CodedError, errorText } from "../../src/base/error.ts";
export { toHex } from "../../src/base/hex.ts";
export { type IpRange, inAnyRange, ipBytes, ipRanges, parseRange } from "../../src/base/ip-range.ts";
export { shown } from "../../src/base/shown.ts";
export { nextState, type Transitions } from "../../src/base/state-machine.ts";
export { within } from "../../src/base/timers.ts";
export { isPublicAddress, PRIVATE_IPV4 } from "../../src/domain/public-address.ts";
export type { Logger } from "../../src/ports/logger.ts";
export { type AheadSource, type FrameSink, type FrameSource, SAMPLE } from "../../src/ports/media.ts";
export { realSystem, type System } from "../../src/ports/system.ts";
export {
  type AudioThread,
  type Deadlines,
  type HeardEvidence,
  type MediaStatistics,
  NO_DEADLINES,
  type TransferOutcome,
} from "../../src/ports/telephony.ts";
