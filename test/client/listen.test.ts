import type { ListenItem } from "ringport/client";
import { describe, expect, test } from "vitest";
import { tone } from "../../src/audio/tones/tone.ts";
import { toneShare } from "../support/server-sound.ts";
import { RATE, streamScene, waitUntil } from "./support/stream-scene.ts";

const scene = streamScene();

/** Reads a listening connection as fast as possible. */
function read(listening: AsyncIterable<ListenItem>) {
  const items: ListenItem[] = [];
  const done = (async () => {
    for await (const item of listening) items.push(item);
  })();
  done.catch(() => {});
  return {
    items,
    done,
    side(channel: 0 | 1): { samples: Int16Array; sampleRate: number } {
      const samples = items.flatMap((item) =>
        item.type === "audio" ? [...item.samples.filter((_, i) => i % 2 === channel)] : [],
      );
      return { samples: Int16Array.from(samples), sampleRate: RATE };
    },
  };
}

describe("a listener over the network", () => {
  test("hears each side on its channel while they speak", async () => {
    const { id, leg } = await scene.ring();
    const stream = await scene.client().stream(id);
    const listening = await scene.client().listen(id);
    const recording = read(listening);
    void stream.write(tone(440, 3_000, RATE, 9_000));
    leg.answer();
    await waitUntil(() => recording.items.some(({ type }) => type === "audio"), "no audio arrived");
    leg.say(tone(1_000, 2_000, RATE, 9_000));
    await waitUntil(() => recording.side(0).samples.length > 2.5 * RATE, "the audio stopped");
    await stream.hangUp();
    await recording.done;
    expect(recording.items[0]).toEqual({ type: "waiting", status: "RINGING" });
    expect(recording.items.at(-1)).toEqual({ type: "call_ended", status: "COMPLETED", reason: "stream_closed" });
    const trimSilence = ({ samples, sampleRate }: ReturnType<typeof recording.side>) => {
      const first = samples.findIndex((sample) => sample !== 0);
      return {
        samples: samples.subarray(
          first,
          samples.findLastIndex((sample) => sample !== 0),
        ),
        sampleRate,
      };
    };
    expect(toneShare(trimSilence(recording.side(0)), 1_000)).toBeGreaterThan(0.97);
    expect(toneShare(trimSilence(recording.side(1)), 440)).toBeGreaterThan(0.97);
    const events = await scene.client().calls.events(id);
    expect(events.filter(({ type }) => type === "listening_started").map(({ data }) => data)).toEqual([
      { user_id: expect.stringMatching(/^usr_/), token_id: expect.stringMatching(/^tok_/) },
    ]);
  });

  test("is disconnected when its token is revoked, and the call continues", async () => {
    const { id, leg } = await scene.answeredCall();
    const issuedToken = await scene.ringport.tokens.issue({ userName: "ana", label: "listener" });
    const listening = await scene.client({ token: issuedToken.token }).listen(id);
    const recording = read(listening);
    await waitUntil(() => recording.items.length > 0, "no item arrived");
    await scene.ringport.tokens.revoke(issuedToken.id);
    await expect(recording.done).rejects.toMatchObject({ code: "unauthorized" });
    expect((await scene.client().calls.get(id)).status).toBe("IN_PROGRESS");
    leg.end("callee_hung_up");
  });

  test("gets the reason for a refusal", async () => {
    const { id, leg } = await scene.answeredCall();
    const otherUser = await scene.ringport.tokens.issue({ userName: "eve", label: "test" });
    await expect(scene.client({ token: otherUser.token }).listen(id)).rejects.toMatchObject({ code: "call_not_found" });
    const reader = await scene.ringport.tokens.issue({ userName: "ana", label: "test", scopes: ["read"] });
    await expect(scene.client({ token: reader.token }).listen(id)).rejects.toMatchObject({
      code: "insufficient_scope",
    });
    const listenings = await Promise.all([1, 2, 3, 4].map(() => scene.client().listen(id)));
    await expect(scene.client().listen(id)).rejects.toMatchObject({ code: "too_many_listeners", status: 409 });
    for (const listening of listenings) listening.close();
    leg.end("callee_hung_up");
    await scene.client().waitForCall(id);
    await expect(scene.client().listen(id)).rejects.toMatchObject({ code: "call_ended", status: 409 });
  });

  test("ends when its signal is aborted", async () => {
    const { id, leg } = await scene.answeredCall();
    const stop = new AbortController();
    const recording = read(await scene.client().listen(id, { signal: stop.signal }));
    await waitUntil(() => recording.items.length > 1, "no second item arrived");
    stop.abort(new Error("enough"));
    await expect(recording.done).rejects.toThrow("enough");
    leg.end("callee_hung_up");
  });
});
