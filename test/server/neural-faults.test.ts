import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { FLUTE } from "../support/archives.ts";
import { ENGINE_FOLDER, missingEngine, recognise } from "../support/neural.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { type Client, expected, until } from "../support/server-client.ts";
import { STREAMS, streamCall } from "../support/stream-calls.ts";
import { spokenTones, toneModels } from "../support/tone-models.ts";

/** Time in which a server notices a change to its models on a busy machine, ms. */
const DETECTION_MS = 30_000;
const RATE = 16_000;

interface Line {
  readonly speaker: string;
  readonly text: string;
}

describe.skipIf(missingEngine !== undefined)("a server with speech models", { timeout: 120_000 }, () => {
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

    /** The text that a message's callee understands. */
    async function understoodText(client: Client, instanceId: string, voiceId: string, text: string): Promise<string> {
      const { id } = await client.call(instanceId, { tts: { text, voiceId } });
      expect(await client.waitForCall(id)).toMatchObject({ status: "COMPLETED", outcome: { heard_ratio: 1 } });
      return recognise(models, await client.heard(id));
    }

    /** Waits until the server lists the Portuguese voice, or no longer does. */
    async function waitUntilListed(client: Client, isListed: boolean): Promise<void> {
      await until(
        async () => expected(200, await client.get("/v1/voices?quality=natural&variants=true")).text,
        (text) => text.includes('"pt-BR-50"') === isListed,
        DETECTION_MS,
        `the voice to be ${isListed ? "listed" : "gone"}`,
        500,
      );
    }

    /** The refusal of a call in the lost voice. */
    async function refusalText(client: Client, instanceId: string): Promise<string> {
      await waitUntilListed(client, false);
      return expected(400, await client.postCall(instanceId, { tts: { text: "um recado", voiceId: "pt-BR-50" } })).text;
    }

    test("two simultaneous calls in two languages are transcribed without mixing their words", async () => {
      const client = await server.as("ada");
      const words = {
        "pt-BR": ["bom dia aqui fala anna", "a consulta mudou", "ate amanha"],
        "en-US": ["good morning this is bella", "your table is free", "see you soon"],
      };
      const calls = await Promise.all(
        Object.values(words).map(async (sentences) => {
          const call = await streamCall(server, { client });
          const stream = await call.open();
          await call.dial();
          await stream.event("answered");
          return { ...call, stream, sentences };
        }),
      );
      for (const number of [0, 1, 2]) {
        await Promise.all(calls.map(({ stream, sentences }) => stream.write(spokenTones(sentences[number]!, RATE))));
        await Promise.all(
          calls.map(({ stream, sentences }) =>
            stream.message(
              ({ type, final, text }) => type === "transcript" && final === true && text === sentences[number],
              `the transcript "${sentences[number]}"`,
              30_000,
            ),
          ),
        );
      }
      for (const { call, stream, sentences } of calls) {
        stream.sendMessage({ type: "hangup" });
        await stream.closed();
        const { transcript } = expected(200, await client.get(`/v1/calls/${call.id}?expand=transcript`)).json<{
          transcript: readonly Line[];
        }>();
        expect(transcript.map(({ speaker, text }) => [speaker, text])).toEqual(
          sentences.map((text) => ["caller", text]),
        );
        const texts = stream.messages.filter(({ type, final }) => type === "transcript" && final === true);
        expect(texts.map(({ text }) => text)).toEqual(sentences);
      }
    });

    test("a voice whose model disappears is refused until the model is back; other voices work", async () => {
      const client = await server.as("ada");
      const { id } = await client.activeInstance();
      expect(await understoodText(client, id, "pt-BR-50", "primeiro recado")).toBe("primeiro recado");
      const [model, otherFolder] = [join(models, FLUTE), join(models, ".elsewhere")];
      renameSync(model, otherFolder);
      expect(await refusalText(client, id)).toContain(
        `${FLUTE} is missing or damaged in the folder ${basename(models)}`,
      );
      expect(await understoodText(client, id, "en-US-50", "another voice")).toBe("another voice");
      renameSync(otherFolder, model);
      await waitUntilListed(client, true);
      expect(await understoodText(client, id, "pt-BR-50", "segundo recado")).toBe("segundo recado");
    });

    test("the whole model folder may disappear and come back", async () => {
      const client = await server.as("ada");
      const { id } = await client.activeInstance();
      await waitUntilListed(client, true);
      const otherFolder = `${models}-elsewhere`;
      renameSync(models, otherFolder);
      try {
        expect(await refusalText(client, id)).toContain(`in the folder ${basename(models)}`);
        const { outcome } = await client.waitForCall((await client.call(id)).id);
        expect(outcome).toMatchObject({ reason: "message_played" });
      } finally {
        renameSync(otherFolder, models);
      }
      await waitUntilListed(client, true);
      expect(await understoodText(client, id, "pt-BR-50", "de volta")).toBe("de volta");
    });

    test("a half-written model is refused until it is complete; other models work", async () => {
      const client = await server.as("ada");
      const { id } = await client.activeInstance();
      await waitUntilListed(client, true);
      const file = join(models, FLUTE, "pt_BR-flauta-low.onnx");
      const completeModel = readFileSync(file);
      writeFileSync(file, completeModel.subarray(0, completeModel.length >> 1));
      expect(await refusalText(client, id)).toContain(`${FLUTE} is missing or damaged`);
      expect(await understoodText(client, id, "en-US-51", "still here")).toBe("still here");
      writeFileSync(file, completeModel);
      await waitUntilListed(client, true);
      expect(await understoodText(client, id, "pt-BR-50", "agora inteiro")).toBe("agora inteiro");
    });
  });
});
