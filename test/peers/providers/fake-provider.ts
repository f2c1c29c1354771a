import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { resample } from "../../../src/audio/samples/resample.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { ChatReply } from "../../support/openai-chat.ts";
import { openaiServer } from "../../support/openai-server.ts";
import { recognise } from "../recogniser.ts";
import { ANSWERS } from "../sentences.ts";

// A fake provider for trial runs of the live tests: prints the variables that select it, and runs until it is ended.

const RATE = 16_000;
const API_KEY = "sk-loopback";
const folder = mkdtempSync(join(tmpdir(), "ringport-fake-provider-"));

/** The words recognised by pocketsphinx. */
function understand(samples: Int16Array, sampleRate: number): string {
  const resampled = resample(samples, sampleRate, RATE);
  const path = join(folder, `${randomUUID()}.wav`);
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ sampleRate: RATE, samples: resampled.length }), pcmToBytes(resampled)]),
  );
  return recognise(path, ...ANSWERS.map(({ words }) => words));
}

const QUESTIONS: Readonly<Record<string, ChatReply>> = {
  "yes that is right": { text: "On which day will you come?" },
  "on monday please": { text: "How many people will come?" },
  "we are two people": { text: "Thank you. Goodbye.", calls: [{ name: "hang_up", arguments: {} }] },
};
const replyTo = (words: string): ChatReply => QUESTIONS[words] ?? { text: "Does the appointment still suit you?" };

const { baseUrl } = await openaiServer({
  understand,
  answer: ({ messages, format }) =>
    format === undefined ? replyTo(messages.at(-1)?.content ?? "") : { text: JSON.stringify({ people: 2 }) },
  conversation: {
    answer: ({ last }) => {
      const { text = "", calls = [] } = replyTo(last.replace(/^user: /, ""));
      return { text, calls: calls.map(({ name }) => ({ name, arguments: {} })) };
    },
  },
  apiKey: API_KEY,
});
for (const name of ["AGENT", "REALTIME"])
  console.info(`export LIVE_${name}_URL=${baseUrl} LIVE_${name}_MODEL=fake LIVE_${name}_KEY=${API_KEY}`);
console.info("export LIVE_TRANSCRIPTION_MODEL=pocketsphinx");
