import type { ContractRunner } from "../contract-runner.ts";
import type { TranscriptionClause } from "../transcription-contract.ts";
import { until } from "../waiting.ts";
import { listen, type ScriptedListening } from "./listening.ts";
import { isSaid, type Saying } from "./saying.ts";
import { ScriptedSpeaker } from "./scripted-speaker.ts";

/** Maximum time until a transcript arrives, ms. */
const TRANSCRIPT_MS = 10_000;
/** Tolerance for timestamps, ms: engines measure in chunks. */
const TOLERANCE_MS = 100;

/** An engine's transcripts and their timestamps. */
export function textsContract(clause: TranscriptionClause, expect: ContractRunner["expect"]): void {
  const untilTranscribed = ({ texts }: ScriptedListening, saying: Saying): Promise<void> =>
    until(TRANSCRIPT_MS, `"${saying.text}" is transcribed`, () => isSaid(texts, saying));

  clause("has a name and distinct telephony rates", async ({ transcription }) => {
    const { sampleRates } = transcription.capabilities;
    expect(transcription.name === "").toBe(false);
    expect(sampleRates.length).toBeGreaterThanOrEqual(1);
    expect(new Set(sampleRates).size).toBe(sampleRates.length);
    for (const rate of sampleRates) {
      expect(Number.isInteger(rate)).toBe(true);
      expect(rate).toBeGreaterThanOrEqual(8_000);
      expect(rate).toBeLessThanOrEqual(48_000);
    }
  });

  clause("transcribes speech with timestamps at every rate, from a reused array", async (subject) => {
    const { transcription, sayings } = subject;
    for (const sampleRate of transcription.capabilities.sampleRates) {
      const listening = await listen(transcription, { sampleRate });
      const speaker = new ScriptedSpeaker(transcription, listening.session, sampleRate);
      const fromMs = speaker.atMs;
      speaker.say(sayings[0]);
      await untilTranscribed(listening, sayings[0]);
      await listening.close();
      expect(isSaid(listening.texts, sayings[0])).toBe(true); // and nothing twice
      expect(listening.errors).toEqual([]);
      for (const { startMs = fromMs, endMs = speaker.atMs, confidence = 1 } of listening.finals) {
        expect(startMs).toBeGreaterThanOrEqual(fromMs - TOLERANCE_MS);
        expect(endMs).toBeGreaterThanOrEqual(startMs);
        expect(endMs).toBeLessThanOrEqual(speaker.atMs + TOLERANCE_MS);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
      }
    }
  });

  clause("emits partial texts before the final text only if its capabilities state that", async (subject) => {
    const { transcription, sayings } = subject;
    const { partial } = transcription.capabilities;
    const listening = await listen(transcription);
    new ScriptedSpeaker(transcription, listening.session).say(sayings[0]);
    await untilTranscribed(listening, sayings[0]);
    await listening.close();
    const types = listening.events.map(({ type }) => type);
    expect(types.includes("partial")).toBe(partial);
    if (partial) expect(types.indexOf("partial")).toBeLessThanOrEqual(types.indexOf("final"));
  });

  clause("orders utterances by timestamp, or by event order without timestamps", async (subject) => {
    const { transcription, sayings } = subject;
    const listening = await listen(transcription);
    const speaker = new ScriptedSpeaker(transcription, listening.session);
    speaker.say(sayings[0]);
    const secondMs = speaker.atMs;
    speaker.say(sayings[1]);
    await listening.close();
    const finals = [...listening.finals].sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));
    expect(
      isSaid(
        finals.map(({ text }) => text),
        ...sayings,
      ),
    ).toBe(true);
    const { startMs = secondMs } = finals.at(-1) ?? {};
    expect(startMs).toBeGreaterThanOrEqual(secondMs - TOLERANCE_MS);
  });

  clause("emits no text for a turn without speech", async ({ transcription }) => {
    const listening = await listen(transcription);
    listening.session.commit();
    listening.session.commit();
    await listening.close();
    expect(isSaid(listening.texts)).toBe(true);
    expect(listening.errors).toEqual([]);
  });

  clause("keeps the two speakers of a call apart", async ({ transcription, sayings }) => {
    const callee = await listen(transcription, { speaker: "callee" });
    const caller = await listen(transcription, { speaker: "caller" });
    new ScriptedSpeaker(transcription, callee.session).say(sayings[0]);
    new ScriptedSpeaker(transcription, caller.session).say(sayings[1]);
    await Promise.all([untilTranscribed(callee, sayings[0]), untilTranscribed(caller, sayings[1])]);
    await Promise.all([callee.close(), caller.close()]);
    expect(isSaid(callee.texts, sayings[0])).toBe(true);
    expect(isSaid(caller.texts, sayings[1])).toBe(true);
  });
}
