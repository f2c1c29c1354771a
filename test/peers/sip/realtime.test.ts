import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { realtimeAgent } from "../../../adapters/agent/realtime/realtime-agent.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { type OpenaiServer, openaiServer } from "../../support/openai-server.ts";
import { type Sound, toneShare } from "../../support/server-sound.ts";
import { understandTones } from "../../support/understand-tones.ts";
import { run, withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";
import { ADA, startTrunkLine } from "./trunk-line.ts";

/** Tone and length of the model's speech. */
const VOICES: Readonly<Record<string, readonly [hz: number, ms: number]>> = {
  "Good morning.": [440, 1_000],
  "I have heard you. Goodbye.": [600, 1_500],
};
const [GREETING, GOODBYE] = Object.keys(VOICES) as [string, string];

/** Creates a file with one of the callee's words in a long silence. */
function createCalleeFile(stage: Stage): string {
  const sampleRate = 48_000;
  const silence = (ms: number) => new Int16Array(ms * 48);
  const samples = concatPcm([silence(3_000), tone(880, 800, sampleRate, 8_000), silence(30_000)]);
  const folder = stage.folder("callee");
  const [mono, path] = [join(folder, "mono.wav"), join(folder, "callee.wav")];
  writeFileSync(mono, Buffer.concat([wavHeader({ sampleRate, samples: samples.length }), pcmToBytes(samples)]));
  run("sox", "-D", mono, "-c", "2", path);
  return path;
}

withTools("an audio model on a call to a softphone", ["baresip", "openssl", "sox"], () => {
  const stage = new Stage();
  let softphone: Baresip;
  let fake: OpenaiServer;
  let ringport: Ringport;
  let instanceId: string;
  beforeAll(async () => {
    fake = await openaiServer({
      understand: understandTones,
      conversation: {
        answer: ({ last }) =>
          last === "user: tone 880"
            ? { text: GOODBYE, calls: [{ name: "hang_up", arguments: {} }] }
            : { text: GREETING },
        speak: async (text) => {
          const [hz, ms] = VOICES[text]!;
          return { sampleRate: 8_000, samples: tone(hz, ms, 8_000, 8_000) };
        },
      },
    });
    stage.add(fake, (it) => it.close());
    softphone = await startBaresip(stage, makeCertificates(stage.folder("keys")), createCalleeFile(stage));
    const trunk = { server: `sip:127.0.0.1:${softphone.port}` };
    const agent = realtimeAgent({ baseUrl: fake.baseUrl, model: "some-model" });
    ({ ringport, instanceId } = await startTrunkLine(stage, { trunk, agent }));
  });

  test("hears the callee, and is heard in full in the softphone's recording", async () => {
    const call = await ringport.calls.create(ADA, {
      instanceId,
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: NUMBERS.pcmu },
      agent: { instructions: ["Greet the callee and hang up when they have spoken."] },
    });
    const { status, outcome } = await ringport.calls.wait(ADA, call.id);
    expect([status, outcome?.reason]).toEqual(["COMPLETED", "agent_finished"]);
    const [conversation] = fake.conversations;
    expect(conversation!.session.audio).toMatchObject({
      input: { format: { type: "audio/pcmu" } },
      output: { format: { type: "audio/pcmu" } },
    });
    expect(conversation!.history).toContain("user: tone 880");

    const { sound } = await monoOf(await softphone.heardFile(), 8_000);
    const lines = (await ringport.calls.transcripts(ADA, [call])).get(call.id) ?? [];
    expect(lines.map(({ text }) => text)).toEqual([GREETING, GOODBYE]);
    for (const { text } of lines) {
      const [hz, ms] = VOICES[text]!;
      expect(Math.abs(toneMs(sound, hz) - ms), text).toBeLessThanOrEqual(40);
    }
  });
});

/** Length of a tone as heard, ms. */
function toneMs({ sampleRate, samples }: Sound, hz: number): number {
  const frame = sampleRate / 50;
  let frames = 0;
  for (let offset = 0; offset + frame <= samples.length; offset += frame) {
    const part = { sampleRate, samples: samples.subarray(offset, offset + frame) };
    if (part.samples.some((sample) => Math.abs(sample) > 2_000) && toneShare(part, hz) > 0.9) frames++;
  }
  return frames * 20;
}
