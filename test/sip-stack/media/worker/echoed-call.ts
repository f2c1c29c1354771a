import { onTestFinished } from "vitest";
import type {
  MediaEngine,
  MediaListener,
  MediaSession,
  StreamSettings,
} from "../../../../adapters/sip-stack/media/engine.ts";
import { MULAW_LEVELS } from "../../../../src/audio/samples/g711-companding.ts";
import type { FrameSource } from "../../../../src/ports/media.ts";
import { type Arrival, type FarEnd, startFarEnd } from "./far-end.ts";

/** Sample rate of the calls, Hz. */
export const RATE = 8_000;

/** A call to a remote end that echoes its audio. */
export interface EchoedCall {
  readonly session: MediaSession;
  readonly farEnd: FarEnd;
  readonly events: string[];
  readonly heard: number[];
}

/** Options of {@link startCall}. */
interface CallOptions {
  /** Default: one for this call. */
  readonly farEnd?: FarEnd;
  readonly ports?: readonly [number, number];
}

/** Starts a remote end that lasts until the end of the test. */
export async function testFarEnd(): Promise<FarEnd> {
  const farEnd = await startFarEnd();
  onTestFinished(() => farEnd.close());
  return farEnd;
}

/** Starts a call in PCMU. */
export async function startCall(
  engine: MediaEngine,
  source: FrameSource,
  { farEnd: sharedFarEnd, ports = [40_000, 42_000] }: CallOptions = {},
): Promise<EchoedCall> {
  const farEnd = sharedFarEnd ?? (await testFarEnd());
  const events: string[] = [];
  const listener: MediaListener = {
    sending: () => events.push("sending"),
    receiving: () => events.push("receiving"),
    digit: (digit) => events.push(`digit ${digit}`),
    silent: (detail) => events.push(`silent: ${detail}`),
    lost: (detail) => events.push(`lost: ${detail}`),
  };
  const options = { address: "127.0.0.1", ports, sampleRate: RATE, lossMs: 20_000 } as const;
  const session = await engine.open(options, listener);
  const heard: number[] = [];
  session.connect(source, { write: (frame) => void heard.push(...frame) });
  const remote = { address: "127.0.0.1", port: farEnd.port };
  const settings: StreamSettings = {
    remote,
    remoteRtcp: remote,
    rtcpMux: true,
    codec: "PCMU",
    payloadType: { send: 0, receive: 0 },
    telephoneEvent: { payloadType: 101, clockRate: 8_000 },
    ptimeMs: 20,
    srtp: undefined,
    direction: "sendrecv",
  };
  session.configure(settings);
  session.start();
  return { session, farEnd, events, heard };
}

/** True if the call has lost its thread. */
export const isLost = ({ events }: EchoedCall): boolean =>
  events.some((event) => event.startsWith("lost: the thread for the audio"));

/** Kills the call's worker: an invalid stream description breaks its thread. */
export const killThread = ({ session }: EchoedCall): void => session.configure({} as StreamSettings);

export function decodePackets(arrivals: readonly Arrival[]): Int16Array {
  return Int16Array.from(arrivals.flatMap(({ payload }) => [...payload].map((byte) => MULAW_LEVELS[byte]!)));
}

/** Part from the first to the last loud sample. */
export function loudPart(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) > 1000;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}
