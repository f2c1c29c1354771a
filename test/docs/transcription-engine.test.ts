import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { transcriptionContract } from "ringport/testing";
import { describe, expect, test } from "vitest";
import type { Transcription } from "../../src/ports/transcription.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { programs } from "./programs.ts";

const { text } = programs().find(({ text }) => text.includes("export function lengths"))!;
const file = join(temporaryFolder("lengths"), "lengths.ts");
writeFileSync(file, text);
const { lengths } = (await import(/* @vite-ignore */ file)) as { lengths(): Transcription };

const sayingOf = (ms: number) => ({
  text: `${ms} ms`,
  samples: (sampleRate: number) => new Int16Array((ms * sampleRate) / 1_000),
});

transcriptionContract(
  "the engine of docs/transcripts.md",
  async () => ({ transcription: lengths(), sayings: [sayingOf(700), sayingOf(1_200)], close: async () => {} }),
  { describe, test, expect },
  "it runs in this process",
);
