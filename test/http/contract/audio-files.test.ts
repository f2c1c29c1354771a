import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildWav, concatBytes, letters } from "../../audio/wav/wav-files.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { loudPart, toneShare, toneWav } from "../../support/server-sound.ts";

const lowTone = new Uint8Array(toneWav({ hz: 500, ms: 600, sampleRate: 8_000 }));
const highTone = new Uint8Array(toneWav({ hz: 1_000, ms: 600, sampleRate: 44_100 }));
const mp3 = new Uint8Array(readFileSync(new URL("../../fixtures/tone-44k-stereo-id3.mp3", import.meta.url)));
const frames = Array.from({ length: 4_800 }, (_, i) => 0.4 * Math.sin((2 * Math.PI * 500 * i) / 8_000));

const withEdit = (file: Uint8Array, edit: (view: DataView) => void): Uint8Array => {
  const copy = file.slice();
  edit(new DataView(copy.buffer));
  return copy;
};

describe("an audio file of a call", () => {
  const server = useLocalServer({});

  const place = async (file: Uint8Array) => {
    const client = await server.as("ada");
    const instanceId = (await client.activeInstance()).id;
    const body = { instanceId, type: "FIXED_AUDIO", target: { phoneNumber: "+12025550100" } };
    const audio = { audioBase64: Buffer.from(file).toString("base64") };
    return { client, response: await client.post("/v1/calls", { ...body, audio }) };
  };

  test.each<[string, Uint8Array, readonly (readonly [hz: number, ms: number])[], number]>([
    [
      "two WAV files of two rates, joined",
      concatBytes([lowTone, highTone]),
      [
        [500, 600],
        [1_000, 600],
      ],
      0,
    ],
    ["a wrong block size", withEdit(lowTone, (view) => view.setUint16(32, 1, true)), [[500, 600]], 0],
    ["a placeholder as length", withEdit(lowTone, (view) => view.setUint32(40, 0x7fff_ffff, true)), [[500, 600]], 0],
    [
      "channels that cancel each other",
      buildWav({ tag: 1, bits: 16, channels: 2, frames: frames.map((v) => [v, -v]) }),
      [[500, 600]],
      0,
    ],
    ["an MP3 after 9 KB of zeros", concatBytes([new Uint8Array(9_000), mp3]), [[1_000, 3_000]], 0],
    ["other bytes at its end", concatBytes([lowTone, letters("\x07 not a chunk")]), [[500, 600]], 13],
  ])("is heard completely: %s", async (_, file, tones, ignoredBytes) => {
    const { client, response } = await place(file);
    const { id } = response.json<{ id: string }>();
    const lengthMs = tones.reduce((sum, [, ms]) => sum + ms, 0);
    const call = await client.waitForCall(id);
    expect(call.outcome).toMatchObject({ reason: "message_played" });
    expect(Math.abs(call.outcome!.heard_ms! - lengthMs)).toBeLessThanOrEqual(20);
    const heardSound = await client.heard(id);
    const { from, to } = loudPart(heardSound);
    expect(Math.abs(((to - from) * 1_000) / heardSound.sampleRate - lengthMs)).toBeLessThanOrEqual(40);
    let position = from;
    for (const [hz, ms] of tones) {
      const end = position + (ms * heardSound.sampleRate) / 1_000;
      const middle = heardSound.samples.subarray(
        position + heardSound.sampleRate / 20,
        end - heardSound.sampleRate / 20,
      );
      expect(toneShare({ ...heardSound, samples: middle }, hz)).toBeGreaterThan(0.95);
      position = end;
    }
    const events = await client.timeline(id);
    const reportedBytes = events.filter(({ type }) => type === "audio_ignored").map(({ data }) => data.bytes);
    expect(reportedBytes).toEqual(ignoredBytes === 0 ? [] : [ignoredBytes]);
    expect(events.some(({ type }) => type === "audio_truncated")).toBe(false);
  });

  test.each<[string, Uint8Array, RegExp]>([
    [
      "silence",
      withEdit(lowTone, (view) => {
        for (let offset = 44; offset < lowTone.length; offset += 2) view.setInt16(offset, 0);
      }),
      /silent/,
    ],
    ["GSM", buildWav({ tag: 0x31, bits: 0, frames: [] }), /GSM 6\.10.*ffmpeg -i input/],
    [
      "JSON after a WAV header",
      concatBytes([lowTone.subarray(0, 44), letters('{"error": "no such voice", "code": 404}')]),
      /JSON/,
    ],
  ])("is refused by name: %s", async (_, file, name) => {
    const { response } = await place(file);
    expect(response.status).toBe(400);
    expect(JSON.stringify(response.json())).toMatch(name);
  });
});
