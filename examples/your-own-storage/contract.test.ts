// Every sentence that a storage promises, as tests. With vitest: `import { describe, expect, test } from "vitest"`.
import { describe, expect, test } from "bun:test";
import { storageContract } from "ringport/testing";
import { memoryStorage } from "./memory-storage.ts";

storageContract(
  "A storage in memory",
  async () => {
    const storage = memoryStorage();
    return { storage, reopen: async () => storage, close: () => storage.close() };
  },
  { describe, expect, test },
  "memory ends with its process",
);
