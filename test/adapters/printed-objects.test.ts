import { expect, test } from "vitest";
import { embeddedSpeech } from "../../adapters/speech/all-engines.ts";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import { sip } from "../../adapters/telephony/sip/index.ts";
import {
  deepgramTranscription,
  openaiRealtimeTranscription,
  openaiTranscription,
} from "../../adapters/transcription/index.ts";
import { createRingport } from "../../src/ringport.ts";
import { printedForms } from "../support/printed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SECRET = "0badc0de".repeat(8);
const engine = { baseUrl: "http://127.0.0.1:1/v1", apiKey: SECRET, model: "m" };
const trunks = [{ name: "acme", server: "sip:127.0.0.1:5999", user: "me", password: SECRET }];
const http = { ...engine, voices: { "pt-BR-1": { voice: "x" } } };
const postgres = postgresStorage({ url: `postgres://me:${SECRET}@127.0.0.1:1/x` });

test.each([
  ["a SIP network", sip({ trunks })],
  ["a speech server", embeddedSpeech({ http })],
  ["Deepgram", deepgramTranscription(engine)],
  ["OpenAI", openaiTranscription(engine)],
  ["OpenAI in real time", openaiRealtimeTranscription(engine)],
  ["a storage on PostgreSQL", postgres],
])("%s prints no secret", (_, object) => expect(printedForms(object)).not.toContain(SECRET));

test("an unreachable database prints no password", async () => {
  for (const [address, message] of [
    ["127.0.0.1:1/x", /127\.0\.0\.1:1/],
    ["127.0.0.1:1 2/x", /DATABASE_URL/],
    ["[::1/x", /DATABASE_URL/],
  ] as const) {
    const storage = postgresStorage({ url: `postgres://me:${SECRET}@${address}` });
    const error = await storage.open({ exclusive: false }).catch((error: unknown) => error);
    expect((error as Error).message).toMatch(message);
    expect(printedForms(error)).not.toContain(SECRET);
  }
});

test("a Ringport never prints a secret", async () => {
  const embedded = { httpSpeech: http, transcription: { engine: "openai", ...engine } as const, sip: { trunks } };
  const ringport = createRingport({ data: temporaryFolder("printed"), secret: SECRET, embedded });
  expect(printedForms(ringport)).not.toContain(SECRET);
  expect(Object.keys({ ...ringport.tokens })).toEqual(["issue", "first", "list", "revoke"]);
  await ringport.start();
  expect(printedForms(ringport)).not.toContain(SECRET);
  await ringport.stop();
});
