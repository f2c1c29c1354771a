import type { Recordings, RecordingWriter, StoredRecording } from "../../ports/recordings.ts";
import { acceptCount, acceptOptional, nothing, only, port } from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { asks, ends, reads, throwing, yields } from "./rules.ts";

/** Time a store may take to complete, find or delete a recording, or to read the next piece of it, ms. */
const STORE_MS = 30_000;

const WRITER: Rules<RecordingWriter> = {
  recordedMs: reads(acceptCount, 0),
  write: throwing(nothing),
  finish: ends(STORE_MS),
};

const STORED: Rules<StoredRecording> = {
  size: reads(acceptCount, 0),
  durationMs: reads(acceptCount, 0),
  bytes: yields(
    only("a Uint8Array", (value) => value instanceof Uint8Array),
    STORE_MS,
  ),
};

const RECORDINGS: Rules<Recordings> = {
  record: throwing(port(WRITER, "recording")),
  read: asks(STORE_MS, { accept: acceptOptional(port(STORED, "recording")) }),
  forget: asks(STORE_MS),
  close: asks({ boundedBy: "src/ringport.ts" }),
};

/** The store of recordings of an embedding program. */
export const guardedRecordings = (recordings: Recordings, parts: GuardParts): Guarded<Recordings> =>
  guarded(recordings, RECORDINGS, "recordings", parts);
