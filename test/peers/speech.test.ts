import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { loudness, readWav, type Sound } from "../support/server-sound.ts";
import { recognise } from "./recogniser.ts";
import { APPOINTMENT, SAMPLE } from "./sentences.ts";
import { folder, run, withTools } from "./tools.ts";

describeEach([ON_NODE], (target) => {
  const server = useServer(target);
  const files = folder();

  /** File with the audio of a text, as the callee heard it. */
  const playText = async (text: string, voiceId: string): Promise<{ path: string; sound: Sound; heardMs: number }> => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { tts: { text, voiceId } });
    const endedCall = await client.waitForCall(id);
    expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
    const wav = expected(200, await client.get(`/simulator/calls/${id}/heard.wav`)).body;
    const path = join(files, `${voiceId}-${id}.wav`);
    writeFileSync(path, wav);
    return { path, sound: readWav(wav), heardMs: endedCall.outcome!.heard_ms! };
  };

  withTools("a spoken message", ["pocketsphinx_batch", "soxi", "ffprobe"], () => {
    test.for(["en-US-1", "en-US-2", "en-US-3", "en-GB-1"])(
      "by %s is understood word by word by a recogniser",
      async (voice) => {
        const { path } = await playText(APPOINTMENT.text, voice);
        expect(recognise(path, APPOINTMENT.words)).toBe(APPOINTMENT.heard);
      },
    );

    test("with other words is understood as those words, so the recogniser really listens", async () => {
      const { path } = await playText("Our apartment is cancelled for Friday at four fifty.", "en-US-1");
      expect(recognise(path, APPOINTMENT.words)).not.toBe(APPOINTMENT.heard);
      const otherFile = await playText("Our account is cancelled for Friday at four fifteen.", "en-US-1");
      expect(recognise(otherFile.path, APPOINTMENT.words)).toBe("our account is cancelled for friday at four fifteen");
    });

    test("keeps its first and its last word", async () => {
      const { path } = await playText("Seven, two, nine, four.", "en-US-1");
      const digit = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
      expect(recognise(path, [digit, digit, digit, digit])).toBe("seven two nine four");
    });

    test.for(["en-US-2", "en-US-3", "en-GB-1"])("by %s reads a code digit by digit", async (voice) => {
      const { path } = await playText("482913.", voice);
      const digit = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
      const number = [["four"], ["hundred"], ["eighty"], ["two"], ["thousand"], ["nine"], ["hundred"], ["thirteen"]];
      expect(recognise(path, Array(6).fill(digit), number)).toBe("four eight two nine one three");
    });

    test("by en-US-2 reads an amount as a number", async () => {
      const { path } = await playText("2500 dollars.", "en-US-2");
      const digits = [["two"], ["five"], ["zero"], ["zero"], ["dollars"]];
      const number = [["two"], ["thousand"], ["five"], ["hundred"], ["dollars"]];
      expect(recognise(path, digits, number)).toBe("two thousand five hundred dollars");
    });

    test("from a voice's sample is also understood", async () => {
      const path = join(files, "sample.wav");
      writeFileSync(path, expected(200, await (await server.as("ada")).get("/v1/voices/en-US-1/sample.wav")).body);
      expect(recognise(path, SAMPLE.words)).toBe(SAMPLE.heard);
    });

    test("is a 16-bit mono 16 kHz WAV file to sox and ffprobe", async () => {
      const { path, heardMs } = await playText(APPOINTMENT.text, "en-US-1");
      const soxInfo = (option: string) => run("soxi", option, path).trim();
      expect([soxInfo("-t"), soxInfo("-r"), soxInfo("-c"), soxInfo("-b"), soxInfo("-e")]).toEqual([
        "wav",
        "16000",
        "1",
        "16",
        "Signed Integer PCM",
      ]);
      const fields = "stream=codec_name,sample_rate,channels,bits_per_sample,duration";
      const [stream] = JSON.parse(run("ffprobe", "-v", "error", "-show_entries", fields, "-of", "json", path)).streams;
      expect(stream).toMatchObject({ codec_name: "pcm_s16le", sample_rate: "16000", channels: 1, bits_per_sample: 16 });
      const seconds = Number(stream.duration);
      expect(Math.abs(seconds * 1000 - heardMs - 300)).toBeLessThanOrEqual(100); // the tail
      expect(Math.abs(Number(soxInfo("-D")) - seconds)).toBeLessThan(0.001);
    });
  });

  withTools("a message in another language", ["sox"], () => {
    test("by pt-BR-1 reads a code digit by digit, and an amount as a number", async () => {
      const seconds = async (text: string) => (await playText(text, "pt-BR-1")).heardMs / 1_000;
      // As one number it takes over a second longer.
      expect(await seconds("Seu código é 482913.")).toBeCloseTo(
        await seconds("Seu código é quatro oito dois, nove um três."),
        0.5,
      );
      expect(await seconds("São 1250 euros.")).toBeCloseTo(await seconds("São mil duzentos e cinquenta euros."), 0.5);
    });

    test.for([
      ["pt-BR-1", "Sua consulta está confirmada para segunda-feira às nove horas."],
      ["es-ES-1", "Su cita está confirmada para el lunes a las nueve."],
    ] as const)("by %s sounds like speech", async ([voice, text]) => {
      const { sound, path } = await playText(text, voice);
      const seconds = sound.samples.length / sound.sampleRate;
      const perSecond = text.length / seconds;
      expect(perSecond).toBeGreaterThan(7);
      expect(perSecond).toBeLessThan(25);
      const { rises, share } = rhythm(sound);
      expect(rises / seconds).toBeGreaterThan(1); // syllables and pauses, not a tone
      expect(share).toBeGreaterThan(0.4);
      expect(share).toBeLessThan(0.98);
      // Most of a voice's energy is below 4 kHz, and little of it is hum.
      const filtered = (band: string): number => {
        const out = join(files, `${voice}-filtered.wav`);
        run("sox", path, out, "sinc", band);
        return loudness(readWav(readFileSync(out)));
      };
      expect(filtered("80-4000")).toBeGreaterThan(0.8 * loudness(sound));
      expect(filtered("-80")).toBeLessThan(0.2 * loudness(sound));
    });
  });
});

/** Number of rises from quiet to loud, and the share that is not quiet, in windows of 20 ms. */
function rhythm({ samples, sampleRate }: Sound): { rises: number; share: number } {
  const size = sampleRate / 50;
  const levels: number[] = [];
  for (let offset = 0; offset + size <= samples.length; offset += size)
    levels.push(
      Math.sqrt(samples.subarray(offset, offset + size).reduce((sum, sample) => sum + sample * sample, 0) / size),
    );
  const loudWindows = levels.map((level) => level > 0.1 * Math.max(...levels));
  return {
    rises: loudWindows.filter((isLoud, i) => isLoud && !loudWindows[i - 1]).length,
    share: loudWindows.filter(Boolean).length / loudWindows.length,
  };
}
