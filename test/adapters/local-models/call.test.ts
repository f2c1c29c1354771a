import { describe, expect, test } from "vitest";
import { enginePackages } from "../../../adapters/local-models/engine-package.ts";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import { simulator } from "../../../adapters/telephony/simulator/index.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { ENGINE_FOLDER, missingEngine, recognise, testProcesses } from "../../support/neural.ts";
import { type CallView, type Client, expected } from "../../support/server-client.ts";
import { spokenTones, toneModels } from "../../support/tone-models.ts";

const RATE = 16_000;
/** The callee of this number says a sentence after the answer. */
const GREETING_NUMBER = "+12025550106";
/** The callee of this number replies to each sentence. */
const ANSWERING_NUMBER = "+12025550120";

/** Words that the callees speak instead of those in the number plan. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["Hello, this is the simulated phone speaking.", "leave your name"],
  ["Yes, that is right.", "screening service yes"],
  ["On Monday, please.", "bom dia aqui fala anna"],
]);

describe.skipIf(missingEngine !== undefined)("a call on a server that transcribes locally", { timeout: 60_000 }, () => {
  const folder = toneModels();
  const processes = testProcesses({ packages: () => enginePackages(ENGINE_FOLDER) });
  // The voice detector needs a moment of silence before tones that are equally loud.
  const say = async (text: string, sampleRate: number) =>
    concatPcm([new Int16Array(sampleRate / 4), spokenTones(WORDS.get(text) ?? "", sampleRate)]);
  const server = useLocalServer(
    {},
    {
      speech: neuralSpeech({ folder, processes }),
      transcription: neuralTranscription(processes, { folder }),
      telephony: simulator({ say, timeScale: 0.1, sampleRate: RATE }),
    },
  );

  async function endedCall(
    to: string,
    input: object,
  ): Promise<{ client: Client; call: CallView & { outcome: unknown } }> {
    const client = await server.as("ada");
    const { id: instanceId } = await client.activeInstance();
    const { id } = await client.call(instanceId, { target: { phoneNumber: to }, ...input });
    return { client, call: await client.waitForCall(id) };
  }

  async function verdicts(client: Client, { id }: CallView): Promise<unknown[]> {
    const events = await client.timeline(id);
    return events.filter(({ type }) => type === "answered_by").map(({ data }) => data);
  }

  test("recognises a voicemail box by its words", async () => {
    const instructions = ["Ask visit: do you come", "If yes: say: good"];
    const { client, call } = await endedCall(GREETING_NUMBER, {
      type: "DYNAMIC_AGENT",
      agent: { instructions, onMachine: "hang_up" },
    });
    expect(call.outcome).toMatchObject({ reason: "machine_hung_up", answered_by: "machine" });
    expect(await verdicts(client, call)).toEqual([
      expect.objectContaining({ answered_by: "machine", reason: "words" }),
    ]);
  });

  test("introduces itself to a screening assistant, and speaks to the person behind it", async () => {
    const { client, call } = await endedCall(ANSWERING_NUMBER, {
      tts: { text: "a table is free", voiceId: "en-US-1" },
      onScreening: { say: "this is bella" },
    });
    expect(call.outcome).toMatchObject({ reason: "message_played", answered_by: "human", heard_ratio: 1 });
    expect(await verdicts(client, call)).toEqual([
      expect.objectContaining({ answered_by: "screening", reason: "words" }),
      expect.objectContaining({ answered_by: "human", reason: "words" }),
    ]);
    expect(await recognise(folder, await client.heard(call.id))).toMatch(/this is bella *a table is free$/);
  });

  test("has a transcript with the words and times from its recording", async () => {
    const { client, call } = await endedCall(ANSWERING_NUMBER, {
      type: "DYNAMIC_AGENT",
      agent: { instructions: ["Ask visit: do you come", "If yes: say: good"] },
      recording: true,
    });
    const response = await client.get(`/v1/calls/${call.id}?expand=transcript,result`);
    const { transcript, result } = expected(200, response).json<{
      readonly transcript: readonly { speaker: string; text: string; start_ms: number; end_ms: number }[];
      readonly result: unknown;
    }>();
    expect(result).toEqual({ visit: "yes" });
    const line = transcript.find(({ speaker }) => speaker === "callee");
    expect(line?.text).toBe("screening service yes");
    const samples = rightChannel(expected(200, await client.get(`/v1/calls/${call.id}/recording`)).body);
    expect(await recognise(folder, { sampleRate: RATE, samples })).toBe(line?.text);
    const loudMs = [...samples].flatMap((sample, at) => (Math.abs(sample) > 500 ? [(at * 1_000) / RATE] : []));
    // Times are accurate to within a chunk of the model.
    expect(Math.abs(line!.start_ms - loudMs[0]!)).toBeLessThan(300);
    expect(Math.abs(line!.end_ms - loudMs.at(-1)!)).toBeLessThan(300);
  });
});

/** The callee's side of a recording. */
function rightChannel(wav: Buffer): Int16Array {
  const header = 44;
  return Int16Array.from({ length: (wav.length - header) >> 2 }, (_, i) => wav.readInt16LE(header + 4 * i + 2));
}
