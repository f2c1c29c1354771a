import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expected, until } from "../support/server-client.ts";
import { readWav, type Sound } from "../support/server-sound.ts";
import { folder, type RunningExample, runtimeOf, startExample } from "./example.ts";
import { expectTone, TONE_WAV } from "./tone-call.ts";

const SCRIPT = "whatsapp/server.ts";
const { title, missing } = runtimeOf(SCRIPT);

const startServer = (keepsData = false): Promise<RunningExample> =>
  startExample(SCRIPT, { args: ["--simulated"], terminal: true, keepsData });

/** What the callee of a call has heard, once the example has written it. */
async function heard(example: RunningExample, file: string): Promise<Sound> {
  await until(example.output, (output) => output.includes(file), 5_000, file);
  return readWav(readFileSync(join(folder(), file)));
}

test.skipIf(missing)(`${SCRIPT} on ${title} links, calls, restarts without a code, and is unlinked`, async () => {
  const first = await startServer();
  const { id } = await first.client.createInstance("Ana");
  await first.client.linkUrl(id); // a code is shown
  first.type("scan");
  await first.client.waitForInstance(id, "ACTIVE");

  const audio = { audioBase64: TONE_WAV.toString("base64") };
  const call = await first.client.call(id, { type: "FIXED_AUDIO", audio });
  expect((await first.client.waitForCall(call.id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
  expectTone(await heard(first, "heard-1.wav"));
  expect(await first.interrupt()).toBe(0);

  const second = await startServer(true);
  await second.client.waitForInstance(id, "ACTIVE");
  second.type("unlink");
  await second.client.waitForInstance(id, "CREATED");
  const { connection } = expected(200, await second.client.get(`/v1/instances/${id}?expand=connection`)).json<{
    connection: { readonly reason: string };
  }>();
  expect(connection.reason).toContain("removed");
  await second.client.linkUrl(id); // a code is shown again
  const path = `/v1/instances/${id}/pairing-code`;
  const { pairingCode } = expected(200, await second.client.post(path, { phone: "+5511912345678" })).json<{
    pairingCode: string;
  }>();
  second.type(pairingCode);
  await second.client.waitForInstance(id, "ACTIVE");
  expect(await second.interrupt()).toBe(0);
});
