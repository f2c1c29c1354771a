import { afterEach, expect, test } from "vitest";
import { MeasuringTranscription } from "../support/measuring-transcription.ts";
import { type Relay, relayTo } from "../support/relay.ts";
import { streamScene, waitUntil } from "./support/stream-scene.ts";

const transcription = new MeasuringTranscription();
const scene = streamScene({ transcription });
let relay: Relay;
afterEach(() => relay?.cut());

test("what was said while a connection was dead, and nobody knew, is told once when it comes back", async () => {
  relay = await relayTo(scene.url);
  const { id } = await scene.answered();
  const stream = await scene.client({ url: relay.url.replace(/\/$/, "") }).stream(id);
  const told: string[] = [];
  const listening = (async () => {
    for await (const event of stream.events()) if (event.type === "transcript" && event.final) told.push(event.text);
  })();
  await waitUntil(() => transcription.sessions.length === 1, "nobody listens");
  let said = 0;
  const say = async (text: string): Promise<void> => {
    transcription.sessions[0]?.say({ type: "final", text, startMs: 100 * said, endMs: 100 * ++said });
    const kept = async (): Promise<number> =>
      (await scene.client().calls.get(id, { expand: ["transcript"] })).transcript?.length ?? 0;
    await waitUntil(async () => (await kept()) === said, "it was not understood");
  };
  await say("one");
  await waitUntil(() => told.length === 1, "it was not told");
  relay.freeze();
  await say("two");
  expect(told).toEqual(["one"]);
  await relay.cut();
  await relay.mend();
  await waitUntil(() => told.length > 1, "it was not told again");
  await say("three");
  await stream.hangUp();
  await listening;
  expect(told).toEqual(["one", "two", "three"]);
});
