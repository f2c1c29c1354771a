import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import type { RuntimeName } from "../support/runtimes.ts";
import { runtimes } from "../support/runtimes.ts";
import { loudPart, toneShare, toneWav } from "../support/server-sound.ts";
import { Consumer, type Installer } from "./support/consumer.ts";
import { entriesOf } from "./support/entries.ts";

const packed = inject("packed");
const WHERE: readonly (readonly [Installer, readonly RuntimeName[]])[] = [
  ["npm", ["node22", "node26"]],
  ["bun", ["bun"]],
  ["deno", ["deno"]],
];

for (const [installer, names] of WHERE) {
  const present = runtimes.filter(({ name }) => names.includes(name));
  describe.skipIf(present.some(({ missing }) => missing))(`installed by ${installer} in an empty folder`, () => {
    const consumer = new Consumer(installer);
    beforeAll(() => consumer.install(packed));

    describe.each(names)("%s", (name) => {
      test("imports every entry, and finds all that its types promise", async () => {
        const entries = entriesOf(packed.folder);
        const found = await consumer.run(name, "import-all.ts", ...entries.map(({ specifier }) => specifier));
        expect(found).toEqual(Object.fromEntries(entries.map(({ specifier, values }) => [specifier, values])));
      });

      test("places a call, and the callee hears the whole message", async () => {
        const file = toneWav({ hz: 1000, ms: 1500, sampleRate: 16_000 });
        consumer.write(
          "message.json",
          JSON.stringify({ type: "FIXED_AUDIO", audio: { audioBase64: file.toString("base64") } }),
        );
        expect(await consumer.run(name, "place-call.ts")).toEqual({
          status: "COMPLETED",
          reason: "message_played",
          heardRatio: 1,
        });
        const heard = consumer.heard();
        const { from, to } = loudPart(heard);
        const tone = { sampleRate: heard.sampleRate, samples: heard.samples.subarray(from, to) };
        expect(Math.abs((tone.samples.length / tone.sampleRate) * 1000 - 1500)).toBeLessThan(20);
        expect(toneShare(tone, 1000)).toBeGreaterThan(0.99);
      });
    });

    test("has no optional peer installed", () => {
      const { peerDependencies } = JSON.parse(readFileSync(join(packed.folder, "package.json"), "utf8"));
      for (const peer of Object.keys(peerDependencies))
        expect(() => readFileSync(join(consumer.folder, "node_modules", peer, "package.json"))).toThrow(/ENOENT/);
    });
  });
}
