import { afterEach, describe, expect, it, vi } from "vitest";
import { type EnginePackage, engineObstacle } from "../../../adapters/local-models/engine-package.ts";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import { transcriptionFault } from "../../../adapters/local-models/usable-recogniser.ts";
import { testProcesses } from "../../support/neural.ts";
import { toneModels } from "../../support/tone-models.ts";

const INSTALLED: readonly EnginePackage[] = [{ name: "sherpa-onnx-node", path: "" }];
const NEVER_ABORTED = new AbortController().signal;
const FIX = "start Deno with --allow-run=deno, or -A";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Makes this program look like Deno, with its permission to start itself in this state. */
function imitateDeno(state: "granted" | "prompt" | "denied"): void {
  vi.stubGlobal("Deno", { permissions: { querySync: () => ({ state }) } });
}

describe("the model engine", () => {
  it("has no obstacle if it is installed, and may be started", () => {
    expect(engineObstacle(INSTALLED)).toBeUndefined();
    imitateDeno("granted");
    expect(engineObstacle(INSTALLED)).toBeUndefined();
  });

  it("names the package if it is not installed", () => {
    expect(engineObstacle([])).toEqual({
      reason: "is not installed",
      fix: expect.stringMatching(/^run: npm install --prefix \.\/data sherpa-onnx-node/),
    });
  });

  it.each(["prompt", "denied"] as const)("names Deno's permission if it is %s", (state) => {
    imitateDeno(state);
    expect(engineObstacle(INSTALLED)).toEqual({
      reason: expect.stringContaining("Deno needs --allow-run=deno"),
      fix: FIX,
    });
  });
});

describe("without Deno's permission", () => {
  it("no voice is listed, and a call is refused with the fix", async () => {
    imitateDeno("prompt");
    const processes = testProcesses({ packages: () => INSTALLED });
    const speech = neuralSpeech({ folder: toneModels(), processes });
    expect(await speech.voices()).toEqual([]);
    await expect(speech.voice("pt-BR-50")).rejects.toMatchObject({
      message: "the model of voice pt-BR-50 cannot speak: the engine cannot be started: Deno needs --allow-run=deno",
      remedy: FIX,
    });
    expect(processes.count).toBe(0);
  });

  it("no transcription opens, and the error has the fix", async () => {
    imitateDeno("prompt");
    const transcription = neuralTranscription(testProcesses({ packages: () => INSTALLED }), { folder: toneModels() });
    const options = { callId: "call_1", speaker: "callee", sampleRate: 8_000 } as const;
    await expect(transcription.open(options, NEVER_ABORTED)).rejects.toThrow(FIX);
    await expect(transcription.check?.()).rejects.toThrow(FIX);
  });
});

it("the check for a transcription finds a missing recogniser without a process", async () => {
  const processes = testProcesses({ packages: () => INSTALLED });
  await expect(neuralTranscription(processes, { folder: "/nowhere" }).check?.()).rejects.toThrow(
    "there is no recogniser in /nowhere",
  );
  await expect(neuralTranscription(processes, { folder: toneModels() }).check?.()).resolves.toBeUndefined();
  expect(processes.count).toBe(0);
});

it("a folder without a recogniser, and a missing engine, are both named", async () => {
  const fault = await transcriptionFault("/nowhere", undefined);
  expect(fault).toMatch(
    /^there is no recogniser in \/nowhere \(recognisers: none\); .* the engine is not installed; to fix it, run: npm/,
  );
});
