import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readWav, type Sound } from "../../support/server-sound.ts";
import { run } from "../tools.ts";

/** A recording of a peer as 16-bit mono at this rate; answers the file as well, for a recogniser. */
export function monoOf(recording: string, sampleRate = 16_000): { readonly path: string; readonly sound: Sound } {
  const path = join(dirname(recording), `${basename(recording, ".wav")}-${sampleRate}.wav`);
  run("sox", "-D", recording, "-r", String(sampleRate), "-c", "1", "-b", "16", "-e", "signed", path);
  return { path, sound: readWav(readFileSync(path)) };
}
