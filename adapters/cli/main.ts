#!/usr/bin/env node
import * as module from "node:module";
import process from "node:process";

keepCompiledCode();
const { run } = await import("./run.ts"); // only now, so that it is found there
process.exit(await run(process.argv.slice(2)));

/**
 * Lets Node cache compiled code in its default folder, which halves the time of the next start; the
 * workers find it by the variable. Other runtimes, and older versions of Node, go without.
 */
function keepCompiledCode(): void {
  const directory = module.enableCompileCache?.().directory;
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
