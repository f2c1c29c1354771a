import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { speechContract } from "ringport/testing";
import { describe, expect, test } from "vitest";
import type { Speech } from "../../src/ports/speech.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { programs } from "./programs.ts";

const { text } = programs().find(({ text }) => text.includes("export function beeps"))!;
const file = join(temporaryFolder("beeps"), "beeps.ts");
writeFileSync(file, text);
const { beeps } = (await import(/* @vite-ignore */ file)) as { beeps(): Speech };

speechContract(
  "the adapter of docs/speech-adapter.md",
  async () => ({
    speech: beeps(),
    voiceId: "en-US-1",
    sentence: "The quick brown fox jumps over the lazy dog today.",
    missingVoiceId: "en-US-2",
    close: async () => {},
  }),
  { describe, test, expect },
);
