import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { run } from "./tools.ts";

/**
 * The sentence that pocketsphinx recognises in a WAV file (16 kHz, 16-bit, mono, a header of 44 bytes). The grammar is
 * a list of places, each with the right word among near misses; other words cannot be recognised, so a test is only as
 * good as its wrong alternatives.
 * @param sentences the candidates
 */
export function recognise(wav: string, ...sentences: readonly (readonly (readonly string[])[])[]): string {
  const dir = dirname(wav);
  const name = basename(wav, ".wav");
  const pathOf = (extension: string) => join(dir, `${name}.${extension}`);
  const sequences = sentences.map((places) => places.map((choices) => `( ${choices.join(" | ")} )`).join(" "));
  writeFileSync(
    pathOf("gram"),
    `#JSGF V1.0;\ngrammar sentence;\npublic <sentence> = ${sequences.map((sequence) => `( ${sequence} )`).join(" | ")} ;\n`,
  );
  writeFileSync(pathOf("ctl"), `${name}\n`);
  run(
    "pocketsphinx_batch",
    ...["-hmm", join(models(), "en-us"), "-dict", join(models(), "cmudict-en-us.dict"), "-jsgf", pathOf("gram")],
    ...[
      "-adcin",
      "yes",
      "-adchdr",
      "44",
      "-cepdir",
      dir,
      "-cepext",
      ".wav",
      "-ctl",
      pathOf("ctl"),
      "-hyp",
      pathOf("hyp"),
    ],
    ...["-remove_noise", "no", "-remove_silence", "no", "-silprob", "0.3", "-logfn", "/dev/null"],
  );
  return readFileSync(pathOf("hyp"), "utf8").replace(/\s*\([^)]*\)\s*$/, "");
}

/** Folder of the distribution's American English models. */
function models(): string {
  const mdef = run("dpkg", "-L", "pocketsphinx-en-us")
    .split("\n")
    .find((path) => path.endsWith("en-us/mdef"));
  if (!mdef) throw new Error("pocketsphinx-en-us has no acoustic model");
  return dirname(dirname(mdef));
}
