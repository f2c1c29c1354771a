import * as v from "valibot";
import { expect, test } from "vitest";
import { SCHEMAS } from "../../src/http/views/all-shapes.ts";
import { toneWav } from "../support/server-sound.ts";
import { server } from "./support/server.ts";

const { client: createTestClient, link, ringport } = server();

test("a file is stored as bytes or as Base64, listed, named by a call and deleted", async () => {
  const client = createTestClient();
  const bytes = new Uint8Array(toneWav({ ms: 200 }));
  const file = v.parse(
    SCHEMAS.AudioFile,
    await client.audio.create({ file: bytes, name: "Tone", expiresInMs: 60_000 }),
  );
  expect(file).toMatchObject({ name: "Tone", format: "wav", bytes: bytes.length, duration_ms: 200 });
  const audioBase64 = Buffer.from(bytes).toString("base64");
  const again = await client.audio.create({ audio: { audioBase64 } });
  expect(again).toEqual({ ...file, expires_at: null });
  expect(await client.audio.create({ file: new Blob([bytes]) })).toEqual(again);
  expect(await Array.fromAsync(client.audio.list({ limit: 1 }))).toEqual([again]);
  const desk = await client.instances.create({ name: "Desk" });
  await link(client, desk);
  const order = {
    instanceId: desk.id,
    type: "FIXED_AUDIO",
    target: { phoneNumber: "+12025550150" },
    audio: { audioId: file.id },
  } as const;
  const { id } = await client.calls.create(order);
  expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ms: 200 });
  expect((await client.calls.get(id, { expand: ["media"] })).media).toMatchObject({ audio_id: file.id });
  await client.audio.delete(file.id);
  await expect(client.audio.get(file.id)).rejects.toMatchObject({ code: "audio_not_found", status: 404 });
  await expect(client.calls.create(order)).rejects.toMatchObject({ code: "audio_not_found" });
});

test("an upload whose response was lost is sent again under the same key", async () => {
  const keys: (string | null)[] = [];
  const client = createTestClient({
    fetch: async (request) => {
      keys.push(request.headers.get("idempotency-key"));
      const response = await ringport.fetch(request);
      if (keys.length === 1) throw new TypeError("fetch failed");
      return response;
    },
  });
  const file = await client.audio.create({ file: new Uint8Array(toneWav({ ms: 300 })) });
  expect(file.duration_ms).toBe(300);
  expect(keys).toHaveLength(2);
  expect(keys[1]).toBe(keys[0]);
});
