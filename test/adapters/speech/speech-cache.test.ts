import { describe, expect, test } from "vitest";
import { SpeechCache } from "../../../adapters/speech/speech-cache.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";

const never = new AbortController().signal;
const chunk = (value: number, length = 100): PcmChunk => ({
  sampleRate: 8000,
  samples: new Int16Array(length).fill(value),
});
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A rendering whose pieces are released by the test. */
function speaker() {
  let release: (() => void) | undefined;
  const subject = {
    started: 0,
    aborted: 0,
    next: (): void => release?.(),
    render: async function* (signal: AbortSignal): AsyncGenerator<PcmChunk> {
      subject.started++;
      for (let value = 1; value <= 3; value++) {
        await new Promise<void>((resolve, reject) => {
          release = resolve;
          signal.addEventListener("abort", () => {
            subject.aborted++;
            reject(signal.reason);
          });
        });
        yield chunk(value);
      }
    },
  };
  return subject;
}

async function* quick(...values: number[]): AsyncGenerator<PcmChunk> {
  for (const value of values) yield chunk(value);
}

async function heard(stream: AsyncIterable<PcmChunk>): Promise<(number | undefined)[]> {
  const values: (number | undefined)[] = [];
  for await (const { samples } of stream) values.push(samples[0]);
  return values;
}

describe("SpeechCache", () => {
  test("renders a text once, then plays it", async () => {
    const cache = new SpeechCache(10_000);
    expect(await heard(cache.speech("a", () => quick(1, 2), never))).toEqual([1, 2]);
    expect(await heard(cache.speech("a", () => quick(9), never))).toEqual([1, 2]);
    expect(cache.bytes).toBe(400);
  });

  test("plays from the beginning for later listeners", async () => {
    const cache = new SpeechCache(10_000);
    const { render, next, ...counts } = speaker();
    const first = heard(cache.speech("a", render, never));
    await tick();
    next();
    await tick();
    const second = heard(cache.speech("a", () => quick(9), never));
    next();
    await tick();
    next();
    expect(await first).toEqual([1, 2, 3]);
    expect(await second).toEqual([1, 2, 3]);
    expect(counts.aborted).toBe(0);
  });

  test("stops rendering when the last listener has left", async () => {
    const cache = new SpeechCache(10_000);
    const source = speaker();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = heard(cache.speech("a", source.render, one.signal)).catch((error: unknown) => error);
    const second = heard(cache.speech("a", source.render, two.signal)).catch((error: unknown) => error);
    await tick();
    one.abort("first left");
    expect(await first).toBe("first left");
    expect(source.aborted).toBe(0);
    two.abort("second left");
    expect(await second).toBe("second left");
    expect(source).toMatchObject({ started: 1, aborted: 1 });
    expect(cache.bytes).toBe(0);
    expect(await heard(cache.speech("a", () => quick(5), never))).toEqual([5]);
  });

  test("drops a failed rendering and rejects every listener", async () => {
    const cache = new SpeechCache(10_000);
    const failing = async function* (): AsyncGenerator<PcmChunk> {
      yield chunk(1);
      throw new Error("no more");
    };
    const listeners = [heard(cache.speech("a", failing, never)), heard(cache.speech("a", failing, never))];
    for (const listener of listeners) await expect(listener).rejects.toThrow("no more");
    expect(cache.bytes).toBe(0);
    expect(await heard(cache.speech("a", () => quick(2), never))).toEqual([2]);
  });

  test("evicts the least recently used when full", async () => {
    const cache = new SpeechCache(500);
    await heard(cache.speech("a", () => quick(1), never));
    await heard(cache.speech("b", () => quick(2), never));
    await heard(cache.speech("a", () => quick(9), never));
    await heard(cache.speech("c", () => quick(3), never));
    expect(cache.bytes).toBe(400);
    expect(await heard(cache.speech("a", () => quick(9), never))).toEqual([1]);
    expect(await heard(cache.speech("b", () => quick(9), never))).toEqual([9]);
  });

  test("plays an oversized text completely", async () => {
    const cache = new SpeechCache(500);
    expect(await heard(cache.speech("a", () => quick(1, 2, 3, 4, 5), never))).toEqual([1, 2, 3, 4, 5]);
    expect(cache.bytes).toBe(0);
  });

  test("shares the same samples among all listeners", async () => {
    const cache = new SpeechCache(10_000);
    const held = new Set<Int16Array>();
    for (let call = 0; call < 3; call++)
      for await (const { samples } of cache.speech("a", () => quick(1), never)) held.add(samples);
    expect(held.size).toBe(1);
  });

  test("stops renderings when it is cleared", async () => {
    const cache = new SpeechCache(10_000);
    const source = speaker();
    const listener = heard(cache.speech("a", source.render, never)).catch(() => "stopped");
    await tick();
    cache.clear();
    expect(await listener).toBe("stopped");
    expect(source.aborted).toBe(1);
  });
});
