#!/usr/bin/env node
import * as module from "node:module";
import process from "node:process";

enableCompileCache();
const { run } = await import("./run.ts"); // imported after the cache is enabled, so that its code is loaded from there
process.exit(await run(process.argv.slice(2)));

/**
 * Enables Node's cache for compiled code in its default folder, which halves the time of the next start; workers get
 * the folder from the variable. Other runtimes, and older versions of Node, have no such cache.
 */
function enableCompileCache(): void {
  const directory = module.enableCompileCache?.().directory;
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
