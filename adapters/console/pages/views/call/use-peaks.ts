import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { CodedError } from "../../../../../src/base/error.ts";
import { WavPeaks } from "./wav-peaks.ts";

/** Parts of a waveform. */
export const PARTS = 400;
/** Longest uninterrupted work before the page gets a turn, ms. */
const TURN_MS = 8;
/** Bytes processed before the clock is read again. */
const PIECE_BYTES = 256 << 10;
/** Interval at which a growing waveform is drawn, ms. */
const DRAW_MS = 150;
/** Number of attempts to read the simulator's recording, which appears shortly after the call. */
const TRIES = 6;
const AGAIN_MS = 1_000;

/** The waveform of a WAV file on the server. */
export interface Peaks {
  /** One array for each channel; empty until the file has begun to arrive. */
  readonly peaks: readonly Float32Array[];
  readonly durationMs: number;
  /** From 0 to 1. */
  readonly progress: number;
}

/** State of the waveform of a file. */
export interface PeaksOfFile {
  readonly value: ReadonlySignal<Peaks | undefined>;
  /** `missing`: the server has no such file. */
  readonly fault: ReadonlySignal<"missing" | "failed" | undefined>;
}

/** Reads a WAV file piece by piece, without keeping it in memory. */
export function usePeaks(url: string): PeaksOfFile {
  const value = useSignal<Peaks | undefined>(undefined);
  const fault = useSignal<"missing" | "failed" | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    value.value = undefined;
    fault.value = undefined;
    readPeaks(url, signal, (peaks) => {
      value.value = peaks;
    }).catch((error: unknown) => {
      if (!signal.aborted) fault.value = error instanceof Missing ? "missing" : "failed";
    });
    return () => stop.abort();
  }, [url]);
  return { value, fault };
}

class Missing extends CodedError {
  readonly code = "missing";
}

async function readPeaks(url: string, signal: AbortSignal, draw: (peaks: Peaks) => void): Promise<void> {
  const response = await found(url, signal);
  const peaks = new WavPeaks(PARTS, Number(response.headers.get("content-length")) || Number.POSITIVE_INFINITY);
  const show = (): void => {
    const { head, progress } = peaks;
    if (head) draw({ peaks: peaks.peaks, durationMs: (head.frames * 1_000) / head.sampleRate, progress });
  };
  let drawnAt = performance.now();
  let startedAt = drawnAt;
  const reader = response.body!.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    for (let from = 0; from < piece.value.length; from += PIECE_BYTES) {
      peaks.push(piece.value.subarray(from, from + PIECE_BYTES));
      const now = performance.now();
      if (now - drawnAt > DRAW_MS) {
        drawnAt = now;
        show();
      }
      if (now - startedAt < TURN_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
      startedAt = performance.now();
    }
  show();
}

async function found(url: string, signal: AbortSignal): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(url, { signal });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) throw new Missing();
    if (response.status !== 409 || tries === TRIES) throw new Error(`the server returned ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    signal.throwIfAborted();
  }
}
