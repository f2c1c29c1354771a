import { mkdir, type open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Recordings } from "../../src/ports/recordings.ts";
import { SampleBuffers } from "../audio/sample-buffers.ts";
import { readWav } from "./wav-file.ts";
import { WavWriter } from "./wav-writer.ts";

/** Number of slots over which the first writes of recordings that start together are spread. */
const STAGGER_COUNT = 25;
/** Length of the audio in one write to the disk, ms; a crash may lose this much. */
const BATCH_MS = 1_000;
/** Maximum number of writes that may wait while the disk is slower than the call. */
const MAX_WAITING = 10;

/** Options of {@link wavRecordings}. */
export interface WavRecordingsOptions {
  /** Folder for the recordings, with a file for each call; created when the first call is recorded. */
  readonly folder: string;
  /** Creates the folder's parent, if it may be missing. */
  readonly makeParent?: (() => Promise<unknown>) | undefined;
  /** Opens files for writing; Node's `open` by default. */
  readonly open?: typeof open | undefined;
}

/** Keeps call recordings as WAV files in a folder. */
export function wavRecordings(options: WavRecordingsOptions): Recordings {
  const { folder } = options;
  const writers = new Map<string, WavWriter>();
  const pathOf = (callId: string): string => join(folder, `${encodeURIComponent(callId)}.wav`);
  let folderCreation: Promise<unknown> | undefined;
  let count = 0;

  const makeFolder = (): Promise<unknown> => {
    folderCreation ??= createFolder(folder, options.makeParent).catch((fault: unknown) => {
      folderCreation = undefined;
      throw fault;
    });
    return folderCreation;
  };

  return {
    record(callId, sampleRate, onIncomplete) {
      const previousEnd = writers.get(callId)?.finish();
      const recording = new WavWriter({
        path: pathOf(callId),
        sampleRate,
        channels: 2,
        buffers: new SampleBuffers((2 * sampleRate * BATCH_MS) / 1000, 1),
        maxWaiting: MAX_WAITING,
        liveHeader: true,
        prepare: async () => {
          await previousEnd; // both write the same file
          await makeFolder();
        },
        onIncomplete: (stop, fault) => onIncomplete(stop === "no_room" ? "disk_full" : stop, fault),
        stagger: ((count++ % STAGGER_COUNT) + 1) / STAGGER_COUNT,
        open: options.open,
      });
      writers.set(callId, recording);
      return {
        get recordedMs() {
          return recording.recordedMs;
        },
        write: (played, received, samples) => recording.write(played, received, samples),
        finish: async () => {
          await recording.finish();
          if (writers.get(callId) === recording) writers.delete(callId);
        },
      };
    },
    async read(callId) {
      await writers.get(callId)?.flush();
      return readWav(pathOf(callId), 2);
    },
    async forget(callIds) {
      for (const callId of callIds) {
        await writers.get(callId)?.finish();
        await rm(pathOf(callId), { force: true });
      }
    },
    async close() {
      await Promise.all([...writers.values()].map((recording) => recording.finish()));
    },
  };
}

async function createFolder(folder: string, makeParent: () => Promise<unknown> = async () => {}): Promise<void> {
  await makeParent();
  await mkdir(folder, { mode: 0o700 }).catch((fault: { code?: unknown }) => {
    if (fault.code !== "EEXIST") throw fault;
  });
}
