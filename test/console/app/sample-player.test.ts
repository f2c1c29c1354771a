import { describe, expect, it } from "vitest";
import { SamplePlayer } from "../../../adapters/console/app/pages/new-call/voice/sample-player.ts";

/** A player whose loads and sounds end when a test ends them. */
function scene() {
  const loads = new Map<string, PromiseWithResolvers<Uint8Array<ArrayBuffer>>>();
  const sounds: { onEnd: () => void; isStopped: boolean }[] = [];
  const abortedIds: string[] = [];
  const player = new SamplePlayer(
    (voiceId, signal) => {
      const load = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
      loads.set(voiceId, load);
      signal.addEventListener("abort", () => abortedIds.push(voiceId));
      return load.promise;
    },
    async (_wav, onEnd) => {
      const sound = { onEnd, isStopped: false };
      sounds.push(sound);
      return () => {
        sound.isStopped = true;
      };
    },
  );
  return { player, loads, sounds, aborted: abortedIds };
}

const WAV = new Uint8Array(1);

describe("a sample player", () => {
  it("loads a sample, plays it, and is idle at its end", async () => {
    const { player, loads, sounds } = scene();
    const playback = player.play("pt-BR-1");
    expect(player.current.value).toEqual({ voiceId: "pt-BR-1", phase: "loading" });
    loads.get("pt-BR-1")?.resolve(WAV);
    await playback;
    expect(player.current.value).toEqual({ voiceId: "pt-BR-1", phase: "playing" });
    sounds[0]?.onEnd();
    expect(player.current.value).toBeUndefined();
  });

  it("plays one sample at a time", async () => {
    const { player, loads, sounds } = scene();
    const first = player.play("pt-BR-1");
    loads.get("pt-BR-1")?.resolve(WAV);
    await first;
    const second = player.play("pt-BR-2");
    expect(sounds[0]?.isStopped).toBe(true);
    loads.get("pt-BR-2")?.resolve(WAV);
    await second;
    sounds[0]?.onEnd(); // too late to end the second one
    expect(player.current.value).toEqual({ voiceId: "pt-BR-2", phase: "playing" });
  });

  it("drops a sample that arrives after another one was requested", async () => {
    const { player, loads, sounds, aborted } = scene();
    const first = player.play("pt-BR-1");
    const second = player.play("pt-BR-2");
    expect(aborted).toEqual(["pt-BR-1"]);
    loads.get("pt-BR-2")?.resolve(WAV);
    await second;
    loads.get("pt-BR-1")?.resolve(WAV);
    await first;
    expect(sounds).toHaveLength(1);
    expect(player.current.value?.voiceId).toBe("pt-BR-2");
  });

  it("names the sample that failed, until the next one", async () => {
    const { player, loads } = scene();
    const playback = player.play("pt-BR-1");
    loads.get("pt-BR-1")?.reject(new Error("no such voice"));
    await playback;
    expect(player.current.value).toEqual({ voiceId: "pt-BR-1", phase: "failed" });
    void player.play("pt-BR-2");
    expect(player.current.value).toEqual({ voiceId: "pt-BR-2", phase: "loading" });
  });

  it("is silent after a stop, even while it loads", async () => {
    const { player, loads, sounds, aborted } = scene();
    const playback = player.play("pt-BR-1");
    player.stop();
    expect([player.current.value, aborted]).toEqual([undefined, ["pt-BR-1"]]);
    loads.get("pt-BR-1")?.reject(new Error("aborted"));
    await playback;
    expect([player.current.value, sounds]).toEqual([undefined, []]);
  });
});
