import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { wavRecordings } from "../../adapters/recordings/wav-recordings.ts";
import type { Recordings } from "../../src/ports/recordings.ts";
import { recordingsContract } from "../../src/testing/recordings-contract.ts";
import { fullDisk } from "../support/full-disk.ts";
import { MemoryRecordings } from "../support/memory-recordings.ts";

const runner = { describe, test, expect };

recordingsContract(
  "WAV files in a folder",
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "ringport-recordings-"));
    const folder = join(parent, "made when needed");
    const otherStores: Recordings[] = [];
    return {
      recordings: wavRecordings({ folder }),
      async reopen() {
        const otherStore = wavRecordings({ folder });
        otherStores.push(otherStore);
        return otherStore;
      },
      full: () => wavRecordings({ folder: join(parent, "full"), open: fullDisk(20_000) }),
      async close() {
        for (const otherStore of otherStores) await otherStore.close();
        rmSync(parent, { recursive: true });
      },
    };
  },
  runner,
);

recordingsContract(
  "recordings in memory",
  async () => ({ recordings: new MemoryRecordings(), close: async () => {} }),
  runner,
  { forgotten: "memory ends with its process", infallible: "memory is not full before the process ends" },
);
