import type { EspeakWorker } from "@echogarden/espeak-ng-emscripten";

let engine: Promise<EspeakWorker> | undefined;

/**
 * The eSpeak NG of this thread, started once (60 to 600 ms). It does one thing at a time. Throws when the package is not
 * installed.
 */
export function espeakInstance(): Promise<EspeakWorker> {
  engine ??= import("@echogarden/espeak-ng-emscripten").then(async ({ default: init }) => {
    const { eSpeakNGWorker: Engine } = await init();
    return new Engine();
  });
  return engine;
}
