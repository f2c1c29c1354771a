import { mkdir, type open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Recordings } from "../../src/ports/recordings.ts";
import { readWav } from "../audio/wav-file.ts";
import { WavRecording } from "./wav-recording.ts";

/** Recordings that begin together write their first batch at so many different times. */
const STAGGERS = 25;

/** What the folder of recordings needs. */
export interface WavRecordingsOptions {
  /** Where they are kept, a file for each call; made when the first call is recorded. */
  readonly folder: string;
  /** Makes the folder that it is in, where that may be missing. */
  readonly makeParent?: (() => Promise<unknown>) | undefined;
  /** Opens files to be written; that of Node unless given. */
  readonly open?: typeof open | undefined;
}

/** Keeps the recordings of calls as WAV files in a folder. */
export function wavRecordings(options: WavRecordingsOptions): Recordings {
  const { folder } = options;
  const growing = new Map<string, WavRecording>();
  const pathOf = (callId: string): string => join(folder, `${encodeURIComponent(callId)}.wav`);
  let ready: Promise<unknown> | undefined;
  let begun = 0;

  const makeFolder = (): Promise<unknown> => {
    ready ??= made(folder, options.makeParent).catch((fault: unknown) => {
      ready = undefined;
      throw fault;
    });
    return ready;
  };

  return {
    record(callId, sampleRate, incomplete) {
      const replaced = growing.get(callId)?.finish();
      const recording = new WavRecording({
        path: pathOf(callId),
        sampleRate,
        ready: async () => {
          await replaced; // it has the same file
          await makeFolder();
        },
        incomplete,
        stagger: ((begun++ % STAGGERS) + 1) / STAGGERS,
        open: options.open,
      });
      growing.set(callId, recording);
      return {
        get recordedMs() {
          return recording.recordedMs;
        },
        write: (heard, said, samples) => recording.write(heard, said, samples),
        finish: async () => {
          await recording.finish();
          if (growing.get(callId) === recording) growing.delete(callId);
        },
      };
    },
    async read(callId) {
      await growing.get(callId)?.flush();
      return readWav(pathOf(callId), 2);
    },
    async forget(callIds) {
      for (const callId of callIds) {
        await growing.get(callId)?.finish();
        await rm(pathOf(callId), { force: true });
      }
    },
    async close() {
      await Promise.all([...growing.values()].map((recording) => recording.finish()));
    },
  };
}

async function made(folder: string, makeParent: () => Promise<unknown> = async () => {}): Promise<void> {
  await makeParent();
  await mkdir(folder, { mode: 0o700 }).catch((fault: { code?: unknown }) => {
    if (fault.code !== "EEXIST") throw fault;
  });
}
