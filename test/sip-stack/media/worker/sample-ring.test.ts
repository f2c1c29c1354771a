import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SampleRing } from "../../../../adapters/sip-stack/media/worker/sample-ring.ts";
import { SAMPLE } from "../../../../src/ports/media.ts";
import { fuzz } from "../../../support/fuzz.ts";

type Step = { write: number } | { take: number } | "drop";
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ write: fc.integer({ min: 0, max: 90 }) }),
  fc.record({ take: fc.integer({ min: 0, max: 90 }) }),
  fc.constant("drop" as const),
);

fuzz(
  "reads return the written samples in order, without the dropped ones; positions count both",
  fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const memory = SampleRing.memory(128);
    const [writer, reader] = [new SampleRing(memory), new SampleRing(memory)];
    const queue: number[] = [];
    let value = 0;
    let position = 0;
    for (const operation of steps) {
      if (operation === "drop") {
        expect(writer.drop()).toBe(position);
        position += queue.splice(0).length;
      } else if ("write" in operation) {
        const samples = Int16Array.from({ length: operation.write }, () => (value = (value + 1) % 30_000));
        const hasRoom = queue.length + operation.write <= 128;
        expect(writer.write(samples, operation.write)).toBe(hasRoom);
        if (hasRoom) queue.push(...samples);
      } else {
        const frame = new Int16Array(operation.take);
        const count = reader.take(frame);
        expect([...frame.subarray(0, count)]).toEqual(queue.splice(0, operation.take));
        position += count;
      }
      expect(reader.position).toBe(position);
      expect(writer.waiting).toBe(queue.length);
    }
  }),
);

test("positions may wrap around 32 bits", () => {
  const memory = SampleRing.memory(64);
  new Int32Array(memory, 0, 2).fill(2 ** 31 - 10);
  const ring = new SampleRing(memory);
  const frame = new Int16Array(20);
  expect(
    ring.write(
      Int16Array.from({ length: 20 }, (_, i) => i),
      20,
    ),
  ).toBe(true);
  expect(ring.waiting).toBe(20);
  expect(ring.take(frame)).toBe(20);
  expect([...frame]).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test("every sample is dropped or read, even concurrently", async () => {
  const memory = SampleRing.memory(1024);
  const result = new SharedArrayBuffer(8);
  const entry = new URL("./taking-thread.ts", import.meta.url);
  const worker = new Worker(entry, { workerData: { memory, result } });
  const workerEnd = new Promise<void>((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("error", reject);
  });
  const ring = new SampleRing(memory);
  const samples = new Int16Array(160);
  let droppedCount = 0;
  const end = performance.now() + 500;
  for (let n = 0; performance.now() < end; ) {
    if (ring.waiting > 480) {
      if (n % 7 !== 0) continue;
      const positionBefore = ring.drop();
      droppedCount += (ring.position - positionBefore) | 0;
    }
    for (let i = 0; i < samples.length; i++) samples[i] = (n + 1) % 30_000;
    if (ring.write(samples, samples.length)) n++;
  }
  const writtenCount = new Int32Array(memory, 0, 1)[0]!;
  const stop = new Int32Array(result);
  while (ring.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  Atomics.store(stop, 1, 1);
  await workerEnd;
  await worker.terminate();
  expect(Atomics.load(stop, 0) + droppedCount).toBe(writtenCount);
  expect(Atomics.load(stop, 0)).toBeGreaterThan(0);
});

test("marks follow their samples around the end; samples after them are plain once the marked ones are taken", () => {
  const memory = SampleRing.memory(64);
  const [writer, reader] = [new SampleRing(memory), new SampleRing(memory)];
  const frame = new Int16Array(20);
  const marks = new Uint8Array(20);
  const marked = new Uint8Array(20).fill(SAMPLE.received).fill(SAMPLE.filledIn, 5, 9);
  for (let round = 0; round < 20; round++) {
    expect(writer.write(frame, 20)).toBe(true);
    expect(reader.isPlain).toBe(true);
    expect(writer.write(frame, 20, marked)).toBe(true);
    expect(reader.isPlain).toBe(false);
    expect(reader.take(frame, marks)).toBe(20);
    expect(marks.every((mark) => mark === SAMPLE.received)).toBe(true);
    expect(writer.write(frame, 20)).toBe(true);
    expect(reader.isPlain).toBe(false);
    expect(reader.take(frame, marks)).toBe(20);
    expect(marks).toEqual(marked);
    expect(reader.isPlain).toBe(true);
    expect(reader.take(frame, marks)).toBe(20);
    expect(marks.every((mark) => mark === SAMPLE.received)).toBe(true);
  }
});
