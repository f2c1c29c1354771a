import type { MediaOptions, StreamSettings } from "../engine.ts";
import { SampleRing } from "./sample-ring.ts";
import { STATISTICS_BYTES } from "./statistics-board.ts";

/**
 * Length of the audio that the main thread keeps buffered in the outgoing ring, ms; that thread may stall for nearly
 * this long.
 */
export const AHEAD_MS = 200;
/** Length of a ring, ms: half of it stays free for samples that are being read while they are dropped. */
const RING_MS = 2 * AHEAD_MS;

/** The cells of {@link SharedCall.cells}. Each is written by one thread only, and read by the other. */
export const CELL = {
  /** Number of samples of silence that the worker has sent because the ring was empty; wraps. */
  silence: 0,
  /** Number of times the outgoing ring has run empty after it had samples. */
  underruns: 1,
  /** Number of times the main thread dropped waiting samples: an empty ring after that is not an underrun. */
  recalls: 2,
  /** Number of inbound samples dropped for lack of room; wraps. */
  droppedInbound: 3,
  /** Position of the incoming ring at the answer: samples before it are early media. */
  answeredAt: 4,
  /** 1 once the worker has started the call after the answer. */
  answered: 5,
} as const;

/** One call's memory, which both threads share. The rest of the audio state stays within one thread. */
export interface SharedCall {
  readonly outgoing: SharedArrayBuffer;
  readonly incoming: SharedArrayBuffer;
  readonly cells: SharedArrayBuffer;
  readonly statistics: SharedArrayBuffer;
  /** One `Float64`: time until which the worker may send, by the worker's clock, ms. The main thread writes it. */
  readonly deadline: SharedArrayBuffer;
}

/** Allocates the shared memory of one call. @param sampleRate Hz */
export function newSharedCall(sampleRate: number): SharedCall {
  const samples = 2 ** Math.ceil(Math.log2((RING_MS * sampleRate) / 1000));
  return {
    outgoing: SampleRing.memory(samples),
    incoming: SampleRing.memory(samples),
    cells: new SharedArrayBuffer(Object.keys(CELL).length * 4),
    statistics: new SharedArrayBuffer(STATISTICS_BYTES),
    deadline: new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT),
  };
}

/** Data with which a media worker starts. */
export interface MediaWorkerStart {
  /** Number of the thread, 1 to 255. */
  readonly thread: number;
  /** Memory of the ports that all threads share. */
  readonly ports: SharedArrayBuffer;
  readonly heartbeat: SharedArrayBuffer;
}

/**
 * Message from the main thread to the worker, about the call `id`. A message with a `ticket` gets a `done` in reply.
 */
export type ToMediaWorker =
  | { readonly type: "open"; readonly id: number; readonly options: MediaOptions; readonly shared: SharedCall }
  | { readonly type: "configure"; readonly id: number; readonly settings: StreamSettings }
  | { readonly type: "start"; readonly id: number }
  | { readonly type: "keys"; readonly id: number; readonly digits: string; readonly ticket: number }
  | { readonly type: "close"; readonly id: number; readonly ticket: number };

/** Message from the worker: `ready` once, when its code has been loaded; then the calls' events. */
export type FromMediaWorker =
  /** @param monotonic the worker's clock when this was sent, ms */
  | { readonly type: "ready"; readonly monotonic: number }
  | { readonly type: "opened"; readonly id: number; readonly port: number }
  | { readonly type: "refused"; readonly id: number; readonly name: string; readonly message: string }
  | { readonly type: "noticed"; readonly id: number; readonly event: "sending" | "receiving" | "evidence" }
  | { readonly type: "digit"; readonly id: number; readonly digit: string }
  | { readonly type: "silent" | "lost"; readonly id: number; readonly detail: string }
  | { readonly type: "done"; readonly ticket: number; readonly fault?: string | undefined };
