import { describe, expect, test } from "vitest";
import { SpeechCache } from "../../../adapters/speech/speech-cache.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";

const neverAborted = new AbortController().signal;
const chunk = (value: number, length = 100): PcmChunk => ({
  sampleRate: 8000,
  samples: new Int16Array(length).fill(value),
});
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A rendering whose pieces the test releases. */
function manualRendering() {
  let release: (() => void) | undefined;
  const subject = {
    startCount: 0,
    abortCount: 0,
    next: (): void => release?.(),
    render: async function* (signal: AbortSignal): AsyncGenerator<PcmChunk> {
      subject.startCount++;
      for (let value = 1; value <= 3; value++) {
        await new Promise<void>((resolve, reject) => {
          release = resolve;
          signal.addEventListener("abort", () => {
            subject.abortCount++;
            reject(signal.reason);
          });
        });
        yield chunk(value);
      }
    },
  };
  return subject;
}

async function* rendering(...values: number[]): AsyncGenerator<PcmChunk> {
  for (const value of values) yield chunk(value);
}

async function valuesOf(stream: AsyncIterable<PcmChunk>): Promise<(number | undefined)[]> {
  const values: (number | undefined)[] = [];
  for await (const { samples } of stream) values.push(samples[0]);
  return values;
}

describe("SpeechCache", () => {
  test("renders a text once, then plays it", async () => {
    const cache = new SpeechCache(10_000);
    expect(await valuesOf(cache.speech("a", () => rendering(1, 2), neverAborted))).toEqual([1, 2]);
    expect(await valuesOf(cache.speech("a", () => rendering(9), neverAborted))).toEqual([1, 2]);
    expect(cache.bytes).toBe(400);
  });

  test("plays from the beginning for later listeners", async () => {
    const cache = new SpeechCache(10_000);
    const { render, next, ...counts } = manualRendering();
    const first = valuesOf(cache.speech("a", render, neverAborted));
    await tick();
    next();
    await tick();
    const second = valuesOf(cache.speech("a", () => rendering(9), neverAborted));
    next();
    await tick();
    next();
    expect(await first).toEqual([1, 2, 3]);
    expect(await second).toEqual([1, 2, 3]);
    expect(counts.abortCount).toBe(0);
  });

  test("stops rendering when the last listener has left", async () => {
    const cache = new SpeechCache(10_000);
    const source = manualRendering();
    const [firstScope, secondScope] = [new AbortController(), new AbortController()];
    const first = valuesOf(cache.speech("a", source.render, firstScope.signal)).catch((error: unknown) => error);
    const second = valuesOf(cache.speech("a", source.render, secondScope.signal)).catch((error: unknown) => error);
    await tick();
    firstScope.abort("first left");
    expect(await first).toBe("first left");
    expect(source.abortCount).toBe(0);
    secondScope.abort("second left");
    expect(await second).toBe("second left");
    expect(source).toMatchObject({ startCount: 1, abortCount: 1 });
    expect(cache.bytes).toBe(0);
    expect(await valuesOf(cache.speech("a", () => rendering(5), neverAborted))).toEqual([5]);
  });

  test("drops a failed rendering and rejects every listener", async () => {
    const cache = new SpeechCache(10_000);
    const failingRendering = async function* (): AsyncGenerator<PcmChunk> {
      yield chunk(1);
      throw new Error("out of memory");
    };
    const listeners = [
      valuesOf(cache.speech("a", failingRendering, neverAborted)),
      valuesOf(cache.speech("a", failingRendering, neverAborted)),
    ];
    for (const listener of listeners) await expect(listener).rejects.toThrow("out of memory");
    expect(cache.bytes).toBe(0);
    expect(await valuesOf(cache.speech("a", () => rendering(2), neverAborted))).toEqual([2]);
  });

  test("evicts the least recently used text when full", async () => {
    const cache = new SpeechCache(500);
    await valuesOf(cache.speech("a", () => rendering(1), neverAborted));
    await valuesOf(cache.speech("b", () => rendering(2), neverAborted));
    await valuesOf(cache.speech("a", () => rendering(9), neverAborted));
    await valuesOf(cache.speech("c", () => rendering(3), neverAborted));
    expect(cache.bytes).toBe(400);
    expect(await valuesOf(cache.speech("a", () => rendering(9), neverAborted))).toEqual([1]);
    expect(await valuesOf(cache.speech("b", () => rendering(9), neverAborted))).toEqual([9]);
  });

  test("plays an oversized text completely", async () => {
    const cache = new SpeechCache(500);
    expect(await valuesOf(cache.speech("a", () => rendering(1, 2, 3, 4, 5), neverAborted))).toEqual([1, 2, 3, 4, 5]);
    expect(cache.bytes).toBe(0);
  });

  test("shares the same samples among all listeners", async () => {
    const cache = new SpeechCache(10_000);
    const distinctSamples = new Set<Int16Array>();
    for (let call = 0; call < 3; call++)
      for await (const { samples } of cache.speech("a", () => rendering(1), neverAborted)) distinctSamples.add(samples);
    expect(distinctSamples.size).toBe(1);
  });

  test("stops renderings when it is cleared", async () => {
    const cache = new SpeechCache(10_000);
    const source = manualRendering();
    const listener = valuesOf(cache.speech("a", source.render, neverAborted)).catch(() => "stopped");
    await tick();
    cache.clear();
    expect(await listener).toBe("stopped");
    expect(source.abortCount).toBe(1);
  });
});
