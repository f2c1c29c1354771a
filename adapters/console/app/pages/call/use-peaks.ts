import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { CodedError } from "../../../../../src/base/error.ts";
import { WavPeaks } from "./wav-peaks.ts";

/** Number of parts in a waveform. */
export const PART_COUNT = 400;
/** Maximum uninterrupted work before the page gets a turn, ms. */
const MAX_WORK_MS = 8;
/** Number of bytes processed between two checks of the clock. */
const PIECE_BYTES = 256 << 10;
/** Interval at which a growing waveform is redrawn, ms. */
const DRAW_MS = 150;
/** Number of attempts to read the simulator's recording, which appears shortly after the call. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 1_000;

/** The waveform of a WAV file on the server. */
export interface Peaks {
  /** One array for each channel; empty until the file has begun to arrive. */
  readonly peaks: readonly Float32Array[];
  readonly durationMs: number;
  /** Share of the file that has been read, 0 to 1. */
  readonly progress: number;
}

/** State of a file's waveform. */
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
    const controller = new AbortController();
    const { signal } = controller;
    value.value = undefined;
    fault.value = undefined;
    readPeaks(url, signal, (peaks) => {
      value.value = peaks;
    }).catch((error: unknown) => {
      if (!signal.aborted) fault.value = error instanceof MissingFile ? "missing" : "failed";
    });
    return () => controller.abort();
  }, [url]);
  return { value, fault };
}

class MissingFile extends CodedError {
  readonly code = "missing";
}

async function readPeaks(url: string, signal: AbortSignal, draw: (peaks: Peaks) => void): Promise<void> {
  const response = await fetchFile(url, signal);
  const peaks = new WavPeaks(PART_COUNT, Number(response.headers.get("content-length")) || Number.POSITIVE_INFINITY);
  const drawPeaks = (): void => {
    const { head, progress } = peaks;
    if (head) draw({ peaks: peaks.peaks, durationMs: (head.frames * 1_000) / head.sampleRate, progress });
  };
  let drawnAt = performance.now();
  let startedAt = drawnAt;
  const reader = response.body!.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    for (let from = 0; from < chunk.value.length; from += PIECE_BYTES) {
      peaks.push(chunk.value.subarray(from, from + PIECE_BYTES));
      const now = performance.now();
      if (now - drawnAt > DRAW_MS) {
        drawnAt = now;
        drawPeaks();
      }
      if (now - startedAt < MAX_WORK_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
      startedAt = performance.now();
    }
  drawPeaks();
}

async function fetchFile(url: string, signal: AbortSignal): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { signal });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) throw new MissingFile();
    if (response.status !== 409 || attempt === MAX_ATTEMPTS) throw new Error(`the server returned ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    signal.throwIfAborted();
  }
}
