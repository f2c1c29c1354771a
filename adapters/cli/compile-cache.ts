import * as module from "node:module";
import process from "node:process";

/**
 * Lets Node keep what it has compiled for the next start, which then takes half as long, in its own place for that; the
 * workers find it by the variable. Other runtimes, and older versions of Node, go without.
 */
export function keepCompiledCode(): void {
  const directory = module.enableCompileCache?.().directory;
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
