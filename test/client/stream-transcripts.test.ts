import { afterEach, expect, test } from "vitest";
import { MeasuringTranscription } from "../support/measuring-transcription.ts";
import { type Relay, relayTo } from "../support/relay.ts";
import { streamScene, waitUntil } from "./support/stream-scene.ts";

const transcription = new MeasuringTranscription();
const scene = streamScene({ transcription });
let relay: Relay;
afterEach(() => relay?.cut());

test("a transcript sent into a dead connection is reported once after reconnecting", async () => {
  relay = await relayTo(scene.url);
  const { id } = await scene.answeredCall();
  const stream = await scene.client({ url: relay.url.replace(/\/$/, "") }).stream(id);
  const receivedTexts: string[] = [];
  const listening = (async () => {
    for await (const event of stream.events())
      if (event.type === "transcript" && event.final) receivedTexts.push(event.text);
  })();
  await waitUntil(() => transcription.sessions.length === 1, "no transcription session was opened");
  let spokenCount = 0;
  const say = async (text: string): Promise<void> => {
    transcription.sessions[0]?.emit({ type: "final", text, startMs: 100 * spokenCount, endMs: 100 * ++spokenCount });
    const storedCount = async (): Promise<number> =>
      (await scene.client().calls.get(id, { expand: ["transcript"] })).transcript?.length ?? 0;
    await waitUntil(async () => (await storedCount()) === spokenCount, "the text was not stored");
  };
  await say("one");
  await waitUntil(() => receivedTexts.length === 1, "the text was not received");
  relay.freeze();
  await say("two");
  expect(receivedTexts).toEqual(["one"]);
  await relay.cut();
  await relay.repair();
  await waitUntil(() => receivedTexts.length > 1, "the text was not received again");
  await say("three");
  await stream.hangUp();
  await listening;
  expect(receivedTexts).toEqual(["one", "two", "three"]);
});
