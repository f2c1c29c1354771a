import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { type RuntimeName, runtimes } from "../support/runtimes.ts";
import { Consumer, type Installer } from "./support/consumer.ts";
import { entriesOf } from "./support/entries.ts";
import { expectHeardCall } from "./support/heard-call.ts";

const packed = inject("packed");
const INSTALLERS: readonly (readonly [Installer, readonly RuntimeName[]])[] = [
  ["npm", ["node22", "node26"]],
  ["bun", ["bun"]],
  ["deno", ["deno"]],
];

for (const [installer, names] of INSTALLERS) {
  const presentRuntimes = runtimes.filter(({ name }) => names.includes(name));
  describe.skipIf(presentRuntimes.some(({ missing }) => missing))(
    `installed by ${installer} in an empty folder`,
    () => {
      const consumer = new Consumer(installer);
      beforeAll(() => consumer.install(packed));

      describe.each(names)("%s", (name) => {
        test("imports every entry with all exports of its types", async () => {
          const entries = entriesOf(packed.folder);
          const exportedNames = await consumer.run(name, "import-all.ts", ...entries.map(({ specifier }) => specifier));
          expect(exportedNames).toEqual(
            Object.fromEntries(entries.map(({ specifier, values }) => [specifier, values])),
          );
        });

        test("places a call that is audible to the end", () => expectHeardCall(consumer, name));
      });

      test("has no optional peer installed", () => {
        const { peerDependencies } = JSON.parse(readFileSync(join(packed.folder, "package.json"), "utf8"));
        for (const peer of Object.keys(peerDependencies))
          expect(() => readFileSync(join(consumer.folder, "node_modules", peer, "package.json"))).toThrow(/ENOENT/);
      });
    },
  );
}
