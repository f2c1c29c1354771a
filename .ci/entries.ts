/**
 * The package's entries and their source files. tsup, vitest and the package tests read this table; a test compares
 * `package.json`, `jsr.json` and `tsconfig.json` with it.
 */
export const ENTRIES = {
  ringport: "src/index.ts",
  "ringport/client": "src/client/index.ts",
  "ringport/node": "adapters/server/node.ts",
  "ringport/bun": "adapters/server/bun.ts",
  "ringport/deno": "adapters/server/deno.ts",
  "ringport/sqlite": "adapters/storage/sqlite/sqlite-storage.ts",
  "ringport/postgres": "adapters/storage/postgres/postgres-storage.ts",
  "ringport/kysely": "adapters/storage/kysely-storage.ts",
  "ringport/sip": "adapters/telephony/sip/index.ts",
  "ringport/whatsapp": "adapters/telephony/whatsapp/index.ts",
  "ringport/agent": "adapters/agent/index.ts",
  "ringport/transcription": "adapters/transcription/index.ts",
  "ringport/console": "adapters/console/index.ts",
  "ringport/testing": "src/testing/index.ts",
} as const;

/** The key of an entry in `exports`: "." or "./client". */
export function exportKey(specifier: string): string {
  return specifier === "ringport" ? "." : `./${builtName(specifier)}`;
}

/** The name of an entry's file in `dist`, without its extension: "index" or "client". */
export function builtName(specifier: string): string {
  return specifier === "ringport" ? "index" : specifier.slice("ringport/".length);
}
