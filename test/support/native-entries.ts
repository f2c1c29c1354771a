import { registerHooks } from "node:module";
import { ENTRIES } from "../../.ci/entries.ts";

const ROOT = new URL("../../", import.meta.url);
const sources = new Map<string, string>(Object.entries(ENTRIES));

// The alias of vitest.config.ts for modules that Node itself loads. This module is evaluated once for each worker.
registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = sources.get(specifier);
    return nextResolve(source === undefined ? specifier : new URL(source, ROOT).href, context);
  },
});
