import { readFile, stat } from "node:fs/promises";
import { formatRefusal } from "../../../src/audio/conversion.ts";
import { sniff } from "../../../src/audio/sniff.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import { UsageError } from "../usage-error.ts";

const WHY: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: "there is no such file",
    EACCES: "this user may not read it",
    EISDIR: "it is a folder",
  }),
);

/**
 * An MP3 or WAV file of this machine, looked at before it is sent anywhere.
 * @throws {UsageError} it cannot be read, is too big, or is no audio that can be played
 */
export async function readAudioFile(path: string): Promise<Uint8Array> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new UsageError(`--audio is "${path}": ${why}`, { cause });
  };
  const unreadable = (cause: NodeJS.ErrnoException): never =>
    refuse(WHY.get(cause.code ?? "") ?? `it cannot be read (${cause.code ?? cause.message})`, cause);
  const { size } = await stat(path).catch(unreadable);
  // Reading what is refused anyway would only take time.
  if (size > DEFAULT_LIMITS.audioBytes)
    refuse(`it has ${size} bytes, at most ${DEFAULT_LIMITS.audioBytes} are allowed`);
  const bytes = await readFile(path).catch(unreadable);
  const format = sniff(bytes);
  if (typeof format === "object") refuse(`it is ${formatRefusal(format.unsupported)}`);
  return bytes;
}
