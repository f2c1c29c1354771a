import { expect, test } from "vitest";
import { allOf, namesOf, RATE, streamScene } from "./support/stream-scene.ts";

const SPEED = 10;
const SECONDS = 100;
const scene = streamScene({ speed: SPEED });

/** A WebSocket that counts the audio bytes sent. */
class CountingWebSocket extends WebSocket {
  static audioBytes = 0;
  override send(data: string | ArrayBufferLike | ArrayBufferView | Blob): void {
    if (ArrayBuffer.isView(data)) CountingWebSocket.audioBytes += data.byteLength;
    super.send(data as string);
  }
}

test("100 s of audio written at once is sent as it is heard", async () => {
  const { id, leg } = await scene.answeredCall();
  const stream = await scene.client().stream(id, { WebSocket: CountingWebSocket });
  const sound = Int16Array.from({ length: SECONDS * RATE }, (_, i) => 1 + (i % 32_000));
  let isWritten = false;
  const writePromise = stream.write(sound).then(() => {
    isWritten = true;
  });
  let maxAheadS = 0;
  while (!isWritten) {
    const aheadS = CountingWebSocket.audioBytes / 2 / RATE - leg.heard.length / RATE;
    maxAheadS = Math.max(maxAheadS, aheadS);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await writePromise;
  expect(await stream.mark("end")).toBe("reached");
  expect(maxAheadS).toBeGreaterThan(10);
  expect(maxAheadS).toBeLessThan(24);
  expect(leg.heard.filter((sample) => sample !== 0)).toEqual(sound);
  await stream.hangUp();
  const names = namesOf(await allOf(stream.events()));
  expect(names.filter((name) => name.startsWith("buffer_"))).toEqual([]);
}, 60_000);
