import { afterEach, describe, expect, test } from "vitest";
import { type Relay, relayTo } from "../support/relay.ts";
import { allOf, heardBy, namesOf, RATE, streamScene, waitUntil } from "./support/stream-scene.ts";

const scene = streamScene({ speed: 2 });
let relay: Relay;
afterEach(() => relay?.cut());

/** Audio without silence or repeated samples nearby, so that any loss or repetition is detected. */
function countingSamples(seconds: number): Int16Array {
  return Int16Array.from({ length: seconds * RATE }, (_, i) => 1 + (i % 32_000));
}

/** Audio that a phone heard, without silence. */
const soundIn = ({ heard }: { readonly heard: Int16Array }): Int16Array => heard.filter((sample) => sample !== 0);

async function relayUrl(): Promise<{ url: string }> {
  relay = await relayTo(scene.url);
  return { url: relay.url.replace(/\/$/, "") };
}

describe("a broken connection", () => {
  test("every written sample is heard once and in order after a reconnection", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id);
    const sound = countingSamples(6);
    let breakCount = 0;
    for (let offset = 0; offset < sound.length; offset += 4_000) {
      // Unconfirmed audio is lost with the connection.
      void stream.write(sound.subarray(offset, offset + 4_000));
      if (offset % 32_000 !== 8_000) continue;
      breakCount++;
      await relay.cut();
      await new Promise((resolve) => setTimeout(resolve, 120));
      await relay.repair();
    }
    expect(breakCount).toBe(3);
    expect(await stream.mark("end")).toBe("reached");
    expect(soundIn(leg)).toEqual(sound);
    await stream.hangUp();
    const names = namesOf(await allOf(stream.events()));
    expect(names.filter((name) => name === "answered" || name === "mark")).toEqual(["answered", "mark"]);
  });

  test("a break keeps queued audio and events", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id);
    const sound = countingSamples(2);
    await stream.write(sound);
    const first = stream.mark("first");
    await waitUntil(() => heardBy(leg).length > RATE / 4, "no audio was heard");
    await relay.cut();
    leg.press("7");
    const second = stream.mark("second");
    const lateWrite = stream.write(sound.subarray(0, 800));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await relay.repair();
    await lateWrite;
    expect(await Promise.all([first, second])).toEqual(["reached", "reached"]);
    expect(await stream.mark("third")).toBe("reached");
    const heard = heardBy(leg);
    expect(heard.subarray(0, sound.length)).toEqual(sound);
    await stream.hangUp();
    const names = namesOf(await allOf(stream.events()));
    expect(names.filter((name) => name === "dtmf")).toHaveLength(1);
    expect(names.filter((name) => name === "mark")).toHaveLength(3);
  });

  test("a clear during a break resolves once", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id);
    void stream.write(countingSamples(10));
    const mark = stream.mark("never");
    await waitUntil(() => heardBy(leg).length > RATE / 4, "no audio was heard");
    const clearing = stream.clear();
    await relay.cut();
    await relay.repair();
    expect(await clearing).toBeGreaterThan(200);
    expect(await mark).toBe("cleared");
    await stream.hangUp();
  });

  test("a permanent break ends stream and promises", async () => {
    const { id } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id, { reconnectMs: 400 });
    const events = allOf(stream.events());
    await relay.cut();
    const writePromise = stream.write(countingSamples(10));
    const mark = stream.mark("never");
    const streamLost = { name: "RingportError", code: "stream_lost" };
    await expect(stream.ended).rejects.toMatchObject(streamLost);
    await expect(writePromise).rejects.toMatchObject(streamLost);
    await expect(events).rejects.toMatchObject(streamLost);
    await expect(stream.clear()).rejects.toMatchObject(streamLost);
    expect(await mark).toBe("ended");
    await stream.close();
  });

  test("a break until the call ends still reports the outcome", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id);
    await relay.cut();
    leg.end("callee_hung_up");
    await waitUntil(async () => (await scene.client().calls.get(id)).status === "COMPLETED", "the call continues");
    await relay.repair();
    expect(await stream.ended).toEqual({ status: "completed", reason: "callee_hung_up" });
  });

  test("audio written during a break is queued, up to a minute", async () => {
    const { id } = await scene.answeredCall();
    const stream = await scene.client(await relayUrl()).stream(id);
    await relay.cut();
    const minuteWrite = stream.write(countingSamples(65));
    await expect(stream.write(countingSamples(1))).rejects.toMatchObject({ code: "stream_overflow" });
    const clearing = stream.clear();
    await minuteWrite;
    await relay.repair();
    expect(await clearing).toBe(0);
    await stream.hangUp();
  });
});
