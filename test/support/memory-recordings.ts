import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import type { IncompleteReason } from "../../src/domain/events.ts";
import type { Recordings, RecordingWriter, StoredRecording } from "../../src/ports/recordings.ts";

/** One recording, in memory. */
export class MemoryRecording implements RecordingWriter {
  readonly heard: number[] = [];
  readonly spoken: number[] = [];
  readonly sampleRate: number;
  /** Ends the recording before its call, as a full disk does. */
  readonly breakOff: (reason: IncompleteReason) => void;
  isFinished = false;
  isBroken = false;

  constructor(sampleRate: number, reportIncomplete: (reason: IncompleteReason) => void) {
    this.sampleRate = sampleRate;
    this.breakOff = (reason) => {
      this.isBroken = true;
      reportIncomplete(reason);
    };
  }

  get recordedMs(): number {
    return (this.heard.length * 1000) / this.sampleRate;
  }

  write(heard: Int16Array, spoken: Int16Array, samples: number): void {
    if (this.isBroken || this.isFinished) return;
    for (let i = 0; i < samples; i++) {
      this.heard.push(heard[i]!);
      this.spoken.push(spoken[i]!);
    }
  }

  async finish(): Promise<void> {
    this.isFinished = true;
  }
}

/** Keeps recordings in memory, by call. */
export class MemoryRecordings implements Recordings {
  readonly stored = new Map<string, MemoryRecording>();
  isClosed = false;

  record(callId: string, sampleRate: number, reportIncomplete: (reason: IncompleteReason) => void): MemoryRecording {
    const recording = new MemoryRecording(sampleRate, reportIncomplete);
    this.stored.set(callId, recording);
    return recording;
  }

  async read(callId: string): Promise<StoredRecording | undefined> {
    const recording = this.stored.get(callId);
    if (recording === undefined) return undefined;
    const { heard, spoken, sampleRate, recordedMs } = recording;
    const samples = new Int16Array(2 * heard.length);
    for (const [i, sample] of heard.entries()) samples.set([sample, spoken[i]!], 2 * i);
    const header = wavHeader({ sampleRate, channels: 2, samples: heard.length });
    const wav = new Uint8Array([...header, ...new Uint8Array(samples.buffer)]);
    return {
      size: wav.length,
      durationMs: recordedMs,
      async *bytes(from, to) {
        yield wav.subarray(from, to);
      },
    };
  }

  async forget(callIds: readonly string[]): Promise<void> {
    for (const callId of callIds) this.stored.delete(callId);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
