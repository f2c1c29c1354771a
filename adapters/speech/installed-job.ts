import { espeakInstance } from "./espeak-job.ts";
import { flitePath } from "./flite-job.ts";
import type { EspeakLanguage, InstalledEngines, SpeechJobContext } from "./speech-jobs.ts";

/** Reports the installed engines and their languages. An engine that cannot be loaded is reported as missing. */
export async function installedJob(_input: object, context: SpeechJobContext<InstalledEngines>): Promise<void> {
  context.emit({ flite: hasFlite(), espeak: await espeakLanguages() });
}

function hasFlite(): boolean {
  try {
    flitePath();
    return true;
  } catch {
    return false;
  }
}

async function espeakLanguages(): Promise<EspeakLanguage[] | undefined> {
  try {
    const engine = await espeakInstance();
    return engine.list_voices().map(({ identifier, name, languages }) => ({
      identifier,
      name: name.trim(),
      tags: languages.map(({ name: tag, priority }) => ({ tag: tag.toLowerCase(), priority })),
    }));
  } catch {
    return undefined;
  }
}
