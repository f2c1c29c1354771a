import { ENGINE_REMEDY, enginePackages } from "../../local-models/engine-package.ts";
import { type ModelReleases, SHERPA_RELEASES } from "../../local-models/installation/model-releases.ts";
import type { CommandSpec } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { printJson, printToStderr } from "../terminal/terminal.ts";
import { addArchives, addFromReleases, askInTerminal, type TerminalQuestion } from "./add-models.ts";
import { MODEL_SETTINGS, modelPlace } from "./model-place.ts";

/** `ringport models add`, with sherpa-onnx's releases. */
export const modelsAdd: CommandSpec = modelsAddFrom(SHERPA_RELEASES);

/**
 * `ringport models add`: installs models, from releases or from archives on this machine.
 * @param ask asks a question in the terminal; undefined without a terminal
 */
export function modelsAddFrom(
  releases: ModelReleases,
  ask: () => TerminalQuestion | undefined = askInTerminal,
): CommandSpec {
  return {
    summary: "Installs speech models: downloads them, or uses archives on this machine.",
    details: [
      "MODEL is a language (pt-BR: its recommended voice; pt: a voice and the recogniser), or a name in sherpa-onnx's releases.",
      "A download must have the checksum that its release publishes, or that of --sha256. An interrupted one continues where it stopped. " +
        "HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected. Before the first download it asks whether you accept the licences of the engine.",
      "ringport models add pt-BR                  # the recommended voice",
      "ringport models add pt --yes               # and the recogniser, without a question",
      "ringport models add --from vits-piper-pt_BR-faber-medium.tar.bz2",
      "A running server notices new models within seconds.",
    ].join("\n"),
    operands: [{ name: "MODEL", optional: true, isRepeatable: true, completion: "model" }],
    options: [
      { name: "all", help: "Every known model of the language." },
      {
        name: "from",
        placeholder: "FILE",
        help: "Installs this archive (.tar.bz2, .tar.gz or .tar) and those after it; downloads nothing.",
        completion: "file",
      },
      { name: "sha256", placeholder: "HEX", help: "SHA-256 that the archive must have." },
      { name: "force", help: "Replaces models that are installed." },
      { name: "yes", help: "Accepts the licences of the engine without a question." },
      jsonOption("the added models and the ids of their voices"),
    ],
    settings: MODEL_SETTINGS,
    async run(line) {
      const place = modelPlace(line);
      const { signal, exitCode } = interruption();
      try {
        const added = line.values.has("from")
          ? await addArchives(line, place, signal)
          : await addFromReleases(line, place, { releases, ask: ask(), signal });
        if (line.values.get("json")) printJson({ folder: place.folder, added });
        else if (enginePackages().length === 0) printToStderr(`The engine is missing; ${ENGINE_REMEDY}`);
        return EXIT.done;
      } catch (error) {
        if (!signal.aborted) throw error;
        printToStderr("Interrupted; run the command again to continue.");
        return exitCode();
      }
    },
  };
}
