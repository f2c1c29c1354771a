// Loaded by each server before its program, which then finds no speech engine. No round speaks a text, and loading the
// engines takes processor time that the rounds need.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!specifier.startsWith("@echogarden/")) return nextResolve(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
