import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { ENGINE_FOLDER, missingEngine, recognise } from "../support/neural.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, type Server, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { STREAMS, streamCall } from "../support/stream-calls.ts";
import { spokenTones, toneModels } from "../support/tone-models.ts";

const TEXT = "ola mundo. sua senha mudou";
const WORDS = "ola mundo sua senha mudou";

describe.skipIf(missingEngine !== undefined)("natural voices and transcripts on this machine", () => {
  describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
    const models = toneModels();
    const server = useServer(target, {
      env: {
        ...STREAMS,
        RINGPORT_SPEECH_MODELS: models,
        RINGPORT_TRANSCRIPTION_ENGINE: "local",
        RINGPORT_TRANSCRIPTION_SPEAKERS: "both",
      },
      cwd: ENGINE_FOLDER,
      permissions: ["--allow-run"],
    });

    test("a call in a natural voice is heard word by word", async () => {
      const client = await server.as("ada");
      const voices = expected(200, await client.get("/v1/voices?language=pt-BR&quality=natural")).json<unknown[]>();
      expect(voices).toEqual([expect.objectContaining({ id: "pt-BR-1", alias_of: "pt-BR-50", engine: "neural" })]);
      const { id } = await client.call((await client.activeInstance()).id, { tts: { text: TEXT, voiceId: "pt-BR-1" } });
      expect(await client.waitForCall(id)).toMatchObject({ status: "COMPLETED", outcome: { heard_ratio: 1 } });
      expect(await recognise(models, await client.heard(id))).toBe(WORDS);
    });

    test.skipIf(process.platform !== "linux")("only the speech process has the engine in its memory", async () => {
      const client = await server.as("ada");
      const { id } = await client.call((await client.activeInstance()).id, {
        tts: { text: "onde mora o motor", voiceId: "pt-BR-50" },
      });
      expect(await client.waitForCall(id)).toMatchObject({ status: "COMPLETED", outcome: { heard_ratio: 1 } });
      expect(speechProcesses(server).map(engineFiles)).toEqual([expect.arrayContaining([expect.any(String)])]);
      expect(engineFiles(server.pid)).toEqual([]);
    });

    test("a message and the next one survive a kill of the speech process", async () => {
      const client = await server.as("ada");
      const instance = await client.activeInstance();
      const speak = (text: string) => client.call(instance.id, { tts: { text, voiceId: "pt-BR-50" } });
      const first = await speak("um texto de aquecimento");
      expect(await client.waitForCall(first.id)).toMatchObject({ status: "COMPLETED" });
      const text = "um texto que ainda vai ser dito";
      const interruptedSpeech = await speak(text);
      for (const pid of speechProcesses(server)) process.kill(pid, "SIGKILL");
      expect(await client.waitForCall(interruptedSpeech.id)).toMatchObject({ status: "COMPLETED" });
      expect(await recognise(models, await client.heard(interruptedSpeech.id))).toBe(text);
      const next = await speak(TEXT);
      expect(await client.waitForCall(next.id)).toMatchObject({ status: "COMPLETED" });
      expect(await recognise(models, await client.heard(next.id))).toBe(WORDS);
    });

    test("both sides of a live stream are transcribed", async () => {
      const { call, client, open, dial } = await streamCall(server, { to: "+12025550105" });
      const stream = await open();
      await dial();
      await stream.event("answered");
      await stream.write(spokenTones("bom dia", 16_000));
      const details = await until(
        async () =>
          expected(200, await client.get(`/v1/calls/${call.id}?expand=transcript`)).json<{
            transcript: readonly { readonly speaker: string; readonly text: string }[] | null;
          }>(),
        ({ transcript }) => transcript !== null,
        20_000,
        "a transcript",
      );
      stream.sendMessage({ type: "hangup" });
      await stream.closed();
      expect(details.transcript).toContainEqual(expect.objectContaining({ speaker: "caller", text: "bom dia" }));
    });
  });
});

function speechProcesses({ pid }: Server): number[] {
  return execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number);
}

/** Files of the engine in the memory of a process. */
function engineFiles(pid: number): string[] {
  const files = readFileSync(`/proc/${pid}/maps`, "utf8").match(/\/\S*(?:sherpa|onnxruntime)\S*$/gm) ?? [];
  return [...new Set(files)];
}
