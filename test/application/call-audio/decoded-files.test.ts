import { describe, expect, test } from "vitest";
import { DecodedFiles } from "../../../src/application/call-audio/call-types/decoded-files.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { AudioDecoder } from "../../../src/ports/audio-decoder.ts";
import { ALICE, audioFile, BOB, decoder, NUMBER, World } from "../../support/application.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";

/** A world whose decoder counts what it decodes, and waits for `finish` if it is gated. */
async function countingWorld({ isGated = false } = {}) {
  const decodedSeconds: (number | undefined)[] = [];
  let finish = () => {};
  const gate = isGated ? new Promise<void>((resolve) => (finish = resolve)) : undefined;
  const counting: AudioDecoder = {
    ...decoder,
    async decode(file, sampleRate) {
      decodedSeconds.push(file[4]);
      await gate;
      return decoder.decode(file, sampleRate);
    },
  };
  const world = await World.start({ decoder: counting });
  const play = async (principal: Principal, seconds: number) => {
    const instance = await world.activeInstance(principal);
    const call = await world.app.calls.create(principal, {
      instanceId: instance.id,
      type: "FIXED_AUDIO",
      target: { phoneNumber: NUMBER },
      audio: { audioBase64: audioFile(seconds) },
    });
    await world.system.settle();
    return call;
  };
  return { world, decodedSeconds, play, finish };
}

describe("calls with the same file", () => {
  test("share its decoded samples, whoever places them, and each is heard whole", async () => {
    const { world, decodedSeconds, play } = await countingWorld();
    const calls = [await play(ALICE, 2), await play(ALICE, 2), await play(BOB, 2), await play(ALICE, 3)];
    expect(decodedSeconds).toEqual([2, 3]);
    for (const call of calls) {
      world.leg(call).placed();
      world.leg(call).answer();
    }
    await world.system.advance(6_000);
    const outcomes = await Promise.all(calls.map(async (call) => (await world.storedCall(call)).outcome));
    expect(outcomes.map((outcome) => [outcome?.reason, outcome?.heardMs])).toEqual([
      ...[1, 2, 3].map(() => ["message_played", 2_000]),
      ["message_played", 3_000],
    ]);
    await world.stop();
  });

  test("read and decode it once if one of them waits for its turn at the decoder", async () => {
    const { world, decodedSeconds, play, finish } = await countingWorld({ isGated: true });
    const reads: string[] = [];
    world.storage.before = (operation) => {
      if (operation === "calls.audio") reads.push(operation);
    };
    const calls = [await play(ALICE, 1), await play(ALICE, 2), await play(ALICE, 2), await play(ALICE, 1)];
    expect(decodedSeconds).toEqual([1, 2]);
    finish();
    await world.system.settle();
    expect(calls.map((call) => world.leg(call).live)).toEqual([true, true, true, true]);
    expect(decodedSeconds).toEqual([1, 2]);
    expect(reads).toHaveLength(2);
    await world.stop();
  });
});

describe("DecodedFiles", () => {
  test("returns the samples of the call that was first, for each rate", () => {
    const files = new DecodedFiles();
    const [first, second] = [new Int16Array([1, 2]), new Int16Array([1, 2])];
    expect(files.find("aa", 8_000)).toBeUndefined();
    expect(files.share("aa", 8_000, first)).toBe(first);
    expect(files.share("aa", 8_000, second)).toBe(first);
    expect(files.find("aa", 8_000)).toBe(first);
    expect(files.share("aa", 16_000, second)).toBe(second);
    expect(files.find("bb", 8_000)).toBeUndefined();
  });

  test("shares nothing if the content is unknown", () => {
    const files = new DecodedFiles();
    const samples = new Int16Array(2);
    expect(files.share(undefined, 8_000, new Int16Array(2))).not.toBe(files.share(undefined, 8_000, samples));
    expect(files.find(undefined, 8_000)).toBeUndefined();
    expect(files.size).toBe(0);
  });

  test("frees samples that no call uses", async () => {
    const files = new DecodedFiles();
    const kept = files.share("kept", 8_000, new Int16Array(8));
    for (let n = 0; n < 50; n++) files.share(`file ${n}`, 8_000, new Int16Array(1 << 20));
    const knownFiles = () => {
      collectGarbage();
      return files.size;
    };
    await expect.poll(knownFiles, { timeout: 20_000, interval: 5 }).toBeLessThan(10);
    expect(files.find("kept", 8_000)).toBe(kept);
  });
});
