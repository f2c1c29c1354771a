import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fliteJob } from "../../../adapters/speech/flite-job.ts";
import { concatPcm, msToSamples, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { loudness } from "../../support/server-sound.ts";
import { recognise } from "../recogniser.ts";
import { APPOINTMENT, type Sentence } from "../sentences.ts";
import { run, withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";
import { ADA, startTrunkLine } from "./trunk-line.ts";

const GREETING =
  "Hello, you have reached Anna. I am either away from my desk or on the other line. Please leave your name, your number and a message after the tone.";
const [PAUSE_MS, BEEP_MS] = [1_000, 400];
const INTRODUCTION: Sentence = {
  heard: "this is an automated call",
  words: [["this", "these"], ["is", "was"], ["an"], ["automated", "animated"], ["call", "fall", "wall"]],
};
const SENTENCES = [INTRODUCTION, APPOINTMENT];

/** Creates a file with the greeting, a beep and silence; also returns the time when the beep ends, ms. */
async function createMachineFile(stage: Stage): Promise<{ readonly path: string; readonly beepEndMs: number }> {
  const pieces: PcmChunk[] = [];
  await fliteJob(
    { text: GREETING, voice: "slt" },
    { emit: (piece) => void pieces.push(piece), isCancelled: () => false },
  );
  const { sampleRate } = pieces[0]!;
  const silence = (ms: number) => new Int16Array(msToSamples(ms, sampleRate));
  const greeting = [
    ...pieces.map(({ samples }) => samples),
    silence(PAUSE_MS),
    tone(1_000, BEEP_MS, sampleRate, 8_000),
  ];
  const beepEndMs = (1_000 * concatPcm(greeting).length) / sampleRate;
  const samples = concatPcm([...greeting, silence(40_000)]);
  const folder = stage.folder("machine");
  const [mono, path] = [join(folder, "mono.wav"), join(folder, "machine.wav")];
  writeFileSync(mono, Buffer.concat([wavHeader({ sampleRate, samples: samples.length }), pcmToBytes(samples)]));
  run("sox", "-D", mono, "-r", "48000", "-c", "2", path);
  return { path, beepEndMs };
}

withTools("a softphone that greets like a machine", ["baresip", "openssl", "sox", "pocketsphinx_batch"], () => {
  const stage = new Stage();
  let softphone: Baresip;
  let beepEndMs: number;
  let ringport: Ringport;
  let instanceId: string;
  beforeAll(async () => {
    const { path, ...times } = await createMachineFile(stage);
    ({ beepEndMs } = times);
    softphone = await startBaresip(stage, makeCertificates(stage.folder("keys")), path);
    const trunk = { server: `sip:127.0.0.1:${softphone.port}` };
    ({ ringport, instanceId } = await startTrunkLine(stage, { trunk }));
  });

  /** Places a call; resolves with its outcome and the softphone's recording. */
  const placeCall = async (input: CallMessageInput) => {
    const target = { phoneNumber: NUMBERS.pcmu };
    const call = await ringport.calls.create(ADA, { instanceId, target, ...input });
    const { status, outcome } = await ringport.calls.wait(ADA, call.id);
    const lines = (await ringport.calls.transcripts(ADA, [call])).get(call.id) ?? [];
    return {
      callResult: [status, outcome?.reason, outcome?.answeredBy],
      lines,
      recordingFile: await softphone.heardFile(),
    };
  };

  test("is hung up on during its greeting", async () => {
    const { callResult, recordingFile } = await placeCall({
      type: "FIXED_TTS",
      tts: { text: APPOINTMENT.text, voiceId: "en-US-1" },
      onMachine: "hang_up",
    });
    expect(callResult).toEqual(["COMPLETED", "machine_hung_up", "machine"]);
    const { sound } = await monoOf(recordingFile);
    expect((sound.samples.length * 1_000) / sound.sampleRate).toBeLessThan(beepEndMs - BEEP_MS);
  });

  test("records an agent's whole message after its beep, and silence before it", async () => {
    const { callResult, lines, recordingFile } = await placeCall({
      type: "DYNAMIC_AGENT",
      agent: { instructions: [`Say: ${APPOINTMENT.text}`], onMachine: "leave_message" },
    });
    expect(callResult).toEqual(["COMPLETED", "agent_finished", "machine"]);

    const { path, sound } = await monoOf(recordingFile);
    const part = (fromMs: number, toMs: number) => {
      const [from, to] = [msToSamples(fromMs, sound.sampleRate), msToSamples(toMs, sound.sampleRate)];
      return { ...sound, samples: sound.samples.subarray(from, to) };
    };
    // The greeting counts as a machine's after 6 s.
    expect(loudness(part(7_000, beepEndMs))).toBeLessThan(10);
    const message = lines.filter(({ startMs }) => startMs > beepEndMs);
    const heardTexts = message.map(({ startMs, endMs }, index) => {
      const recording = path.replace(/\.wav$/, `-${index}.wav`);
      run("sox", path, recording, "trim", String(startMs / 1_000 - 0.1), `=${endMs / 1_000 + 0.4}`);
      return recognise(recording, ...SENTENCES.map(({ words }) => words));
    });
    expect(heardTexts).toEqual(SENTENCES.map(({ heard }) => heard));
  });
});
