import { codedFramesAt } from "./coded-frames.ts";
import { namedFile } from "./named-file.ts";
import { namedText } from "./named-text.ts";

/** The name of the foreign format that these bytes clearly start; undefined for samples. */
export function foreignName(bytes: Uint8Array): string | undefined {
  const name = namedFile(bytes, "anywhere") ?? namedText(bytes)?.name;
  if (name !== undefined) return name;
  const frames = codedFramesAt(bytes, 0);
  return frames === "cut" ? undefined : frames;
}
