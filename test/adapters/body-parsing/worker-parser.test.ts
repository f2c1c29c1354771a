import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { workerParser } from "../../../adapters/body-parsing/worker-parser.ts";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { UploadedAudio } from "../../../src/domain/calls/audio-input.ts";
import { inputSchemas, parseCreateCall } from "../../../src/domain/input/inputs.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";

const MEGABYTE = 1024 * 1024;
const BOUNDS = { depth: 32, parts: 1_000 };
const pool = embeddedWorkers();
const parser = workerParser(pool);
afterAll(() => pool.close());

const parse = (text: string) => parser.parse(new TextEncoder().encode(text), BOUNDS);
const callBody = (audioBase64: unknown) => ({
  instanceId: "inst_1",
  type: "FIXED_AUDIO",
  target: { phoneNumber: "+12025550100" },
  audio: { audioBase64, note: "é" },
});
const file = Uint8Array.from({ length: 10 * MEGABYTE }, (_, i) => Math.imul(i, 2_654_435_761) >>> 13);

test("a 10 MiB upload is decoded and hashed", async () => {
  const base64 = Buffer.from(file).toString("base64");
  const parsed = await parse(JSON.stringify(callBody(`data:audio/wav;base64,${base64}`)));
  const audio = (parsed as { value: { audio: { audioBase64: UploadedAudio } } }).value.audio.audioBase64;
  expect(parsed).toEqual({ value: callBody(audio) });
  expect(audio).toBeInstanceOf(UploadedAudio);
  expect(Buffer.compare(audio.bytes, file)).toBe(0);
  expect(audio.sha256).toBe(createHash("sha256").update(file).digest("hex"));
});

test("text that is not Base64 is refused", async () => {
  for (const text of ["*".repeat(100), `${"B".repeat(99)}=`, "data:;base64,data:;base64,QUJD"]) {
    const parsed = (await parse(JSON.stringify(callBody(text)))) as { value: unknown };
    expect(() => parseCreateCall(inputSchemas(DEFAULT_LIMITS), parsed.value)).toThrow("is not Base64");
  }
});

test.each([null, 5, [], {}])("a body with %j for its audio is parsed unchanged", async (audio) => {
  expect(await parse(JSON.stringify({ audio }))).toEqual({ value: { audio } });
  expect(await parse(JSON.stringify({ audio: { audioBase64: audio } }))).toEqual({
    value: { audio: { audioBase64: audio } },
  });
  expect(await parse(JSON.stringify(audio))).toEqual({ value: audio });
});

test("an invalid body returns a fault, and the worker continues", async () => {
  expect(await parse("{")).toEqual({ fault: "the body is not valid JSON" });
  expect(await parse("[".repeat(16 * MEGABYTE))).toEqual({ fault: "the body is nested deeper than 32 levels" });
  expect(await parse("{}")).toEqual({ value: {} });
});
