import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { archiveOf, FLUTE, modelEntries } from "../support/archives.ts";
import { ENGINE_FOLDER, missingEngine } from "../support/neural.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Time in which a server notices a model, ms. */
const DETECTION_MS = 20_000;

describe.skipIf(missingEngine !== undefined)("models that are added while the server runs", () => {
  describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
    const models = join(temporaryFolder("models"), "not", "there", "yet");
    const server = useServer(target, {
      env: { RINGPORT_SPEECH_MODELS: models },
      cwd: ENGINE_FOLDER,
      permissions: ["--allow-run"],
    });

    test("can be used within seconds, and disappear within seconds of their removal", async () => {
      const client = await server.as("ada");
      const naturalIds = async (): Promise<string[]> => {
        const voices = expected(200, await client.get("/v1/voices?quality=natural&variants=true")).json<
          { id: string }[]
        >();
        return voices.map(({ id }) => id);
      };
      expect(await naturalIds()).toEqual([]);
      const archive = join(temporaryFolder("archive"), "flute.tar.bz2");
      writeFileSync(archive, await archiveOf(modelEntries(FLUTE), "tar.bz2"));
      const addition = await server.cli("models", "add", "--from", archive, "--speech-models", models);
      expect([addition.code, addition.stdout]).toEqual([0, expect.stringContaining("pt-BR-50")]);
      await until(naturalIds, (ids) => ids.includes("pt-BR-50"), DETECTION_MS, "the new voice");
      const call = await client.call((await client.activeInstance()).id, { tts: { text: "ola", voiceId: "pt-BR-1" } });
      expect(await client.waitForCall(call.id)).toMatchObject({ status: "COMPLETED", outcome: { heard_ratio: 1 } });
      const removal = await server.cli("models", "remove", FLUTE, "--speech-models", models);
      expect(removal.code).toBe(0);
      await until(naturalIds, (ids) => ids.length === 0, DETECTION_MS, "the removal of the voice");
    });
  });
});
