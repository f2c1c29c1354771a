import fc from "fast-check";
import { expect, test } from "vitest";
import { ListenerRing } from "../../../../src/application/call-audio/listeners/listener-ring.ts";

const pieces = fc.array(fc.oneof(fc.record({ write: fc.nat(30) }), fc.record({ read: fc.nat(30) })), { maxLength: 60 });

test("a ring hands out the latest samples in order, and counts lost ones", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), pieces, (capacity, steps) => {
      const ring = new ListenerRing(capacity);
      let writtenSamples = 0;
      let next = 0;
      for (const step of steps) {
        if ("write" in step) {
          const left = Int16Array.from({ length: step.write }, (_, i) => writtenSamples + i);
          ring.write(
            left,
            left.map((sample) => -sample),
            step.write,
          );
          writtenSamples += step.write;
        } else {
          next += ring.takeLost();
          const samples = ring.read(step.read);
          for (let i = 0; i < samples.length; i += 2) {
            expect([samples[i], samples[i + 1]]).toEqual([next, -next || 0]);
            next++;
          }
        }
        expect(ring.availableSamples).toBeLessThanOrEqual(capacity);
      }
      expect(next + ring.takeLost() + ring.availableSamples).toBe(writtenSamples);
    }),
  );
});
