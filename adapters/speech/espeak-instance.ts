import type { EspeakWorker } from "@echogarden/espeak-ng-emscripten";

let instance: Promise<EspeakWorker> | undefined;

/**
 * The eSpeak NG of this thread, started once (60 to 600 ms). It speaks one text at a time. Throws if the package is not
 * installed.
 */
export function espeakInstance(): Promise<EspeakWorker> {
  instance ??= import("@echogarden/espeak-ng-emscripten").then(async ({ default: init }) => {
    const { eSpeakNGWorker: Worker } = await init();
    return new Worker();
  });
  return instance;
}
