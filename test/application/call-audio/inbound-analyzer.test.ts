import { describe, expect, test } from "vitest";
import { babble } from "../../../adapters/telephony/simulator/voice.ts";
import { CallTaps } from "../../../src/application/call-audio/call-tap.ts";
import { InboundAnalyzer } from "../../../src/application/call-audio/inbound-analyzer.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import { SAMPLE } from "../../../src/ports/media.ts";

interface AnalyzerReport {
  keys: string;
  speech: { startMs: number; endMs: number }[];
  beeps: { hz: number; atMs: number }[];
}

function analyze(samples: Int16Array, sampleRate: number): AnalyzerReport {
  const report: AnalyzerReport = { keys: "", speech: [], beeps: [] };
  const voiceActivity = (rate: number) => new Vad(rate);
  const analyzer = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity },
    {
      onFirstAudio() {},
      onLineTone() {},
      onSuspicionChange() {},
      onBeep: (hz, atMs) => void report.beeps.push({ hz, atMs }),
      onDigit: (digit) => {
        report.keys += digit;
      },
      onSpeech: (startMs, endMs) => void report.speech.push({ startMs, endMs }),
    },
  );
  const frame = sampleRate / 50;
  for (let at = 0; at + frame <= samples.length; at += frame) analyzer.inbound(samples.subarray(at, at + frame));
  analyzer.finish();
  return report;
}

describe.each([8000, 16_000])("an inbound analyzer at %i Hz", (sampleRate) => {
  const silence = (ms: number) => new Int16Array((sampleRate * ms) / 1000);
  const keys = dtmfTones("1234#", { sampleRate });
  const words = babble("Hello, this is somebody who answers the phone.", sampleRate);

  test("detects keys as keys, not as speech", () => {
    expect(analyze(concatPcm([silence(500), keys, silence(500)]), sampleRate)).toEqual({
      keys: "1234#",
      speech: [],
      beeps: [],
    });
  });

  test("detects speech as speech, not as keys", () => {
    const report = analyze(concatPcm([silence(500), words, silence(500)]), sampleRate);
    expect(report.keys).toBe("");
    expect(report.speech.length).toBeGreaterThan(0);
    expect(report.speech[0]?.startMs).toBeGreaterThanOrEqual(450);
    expect(report.speech[0]?.startMs).toBeLessThan(800);
  });

  test("detects the beep of a voicemail box as a beep, not as speech", () => {
    const beep = tone(950, 400, sampleRate, 9_000);
    const report = analyze(concatPcm([silence(500), beep, silence(1_000)]), sampleRate);
    expect(report).toMatchObject({ keys: "", speech: [], beeps: [{}] });
    expect(Math.abs(report.beeps[0]!.hz - 950)).toBeLessThanOrEqual(4);
    expect(Math.abs(report.beeps[0]!.atMs - 500)).toBeLessThanOrEqual(40);
    const greetingReport = analyze(concatPcm([silence(500), words, beep, silence(1_000)]), sampleRate);
    expect(greetingReport.beeps.length).toBe(1);
    expect(greetingReport.speech.at(-1)!.endMs).toBeLessThanOrEqual(500 + (words.length * 1000) / sampleRate + 120);
  });

  test("detects speech after keys", () => {
    const report = analyze(concatPcm([silence(500), keys, silence(600), words, silence(500)]), sampleRate);
    expect(report.keys).toBe("1234#");
    expect(report.speech.length).toBeGreaterThan(0);
    expect(report.speech.every(({ startMs }) => startMs >= 500 + 1000)).toBe(true);
  });
});

/** Tones detected in sounds, parts of which a leg has filled in. */
function tonesIn(sounds: readonly { samples: Int16Array; received: boolean }[], sampleRate: number): string[] {
  const detectedTones: string[] = [];
  const analyzer = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity: (rate) => new Vad(rate) },
    {
      onFirstAudio() {},
      onSuspicionChange() {},
      onDigit() {},
      onSpeech() {},
      onBeep: () => void detectedTones.push("beep"),
      onLineTone: ({ tone }) => void detectedTones.push(tone),
    },
  );
  const taps = new CallTaps(sampleRate, [analyzer]);
  const frame = sampleRate / 50;
  const samples = concatPcm(sounds.map((sound) => sound.samples));
  const marks = Uint8Array.from(
    sounds.flatMap(({ samples, received }) =>
      new Array<number>(samples.length).fill(received ? SAMPLE.received : SAMPLE.filledIn),
    ),
  );
  for (let at = 0; at + frame <= samples.length; at += frame)
    taps.write(samples.subarray(at, at + frame), marks.subarray(at, at + frame));
  return detectedTones;
}

describe.each([8_000, 16_000])("a tone with gaps that a leg fills in, at %i Hz", (sampleRate) => {
  /** A tone in alternating parts: received, filled in, received …, ms; silence around it. */
  const toneWithGaps = (hz: number, parts: readonly number[], offsetMs = 500): string[] => {
    const totalMs = parts.reduce((total, ms) => total + ms);
    const wholeTone = tone(hz, totalMs, sampleRate, 9_000);
    const silence = (ms: number) => ({ samples: new Int16Array((sampleRate * ms) / 1000), received: true });
    let at = 0;
    const pieces = parts.map((ms, i) => {
      const samples = wholeTone.subarray((at * sampleRate) / 1000, ((at + ms) * sampleRate) / 1000);
      at += ms;
      return { samples, received: i % 2 === 0 };
    });
    // No samples are received for a moment after a tone that ends in a gap.
    const tail = parts.length % 2 === 0 ? { ...silence(60), received: false } : silence(60);
    return tonesIn([silence(offsetMs), ...pieces, tail, silence(1_440)], sampleRate);
  };

  test.each(
    [
      [60, 100],
      [80, 80],
      [100, 80],
      [120, 80],
      [60, 80, 20],
      [80, 60, 20, 80],
      [20, 80, 20, 80, 20, 80, 20],
    ].map((parts) => ({ parts })),
  )("is not a beep if too little of it was received: $parts", ({ parts }) => {
    for (const offsetMs of [500, 507, 513]) expect(toneWithGaps(950, parts, offsetMs), `${offsetMs}`).toEqual([]);
  });

  test.each(
    [[400], [200, 80], [200, 60, 140], [100, 20, 100, 20, 100, 20], [160, 20, 160]].map((parts) => ({ parts })),
  )("is one beep if enough of it was received: $parts", ({ parts }) => {
    expect(toneWithGaps(950, parts)).toEqual(["beep"]);
  });

  test("is a fax tone once enough of it has arrived", () => {
    expect(toneWithGaps(2_100, [2_000, 200])).not.toContain("fax");
    expect(toneWithGaps(2_100, [1_000, 100, 1_000, 80])).not.toContain("fax");
    expect(toneWithGaps(2_100, [1_200, 80, 1_200])).toContain("fax");
  });

  test("is not a ringing tone if hardly any of it was received", () => {
    expect(
      toneWithGaps(
        425,
        new Array<number>(21).fill(20).flatMap((ms) => [ms, 60]),
      ),
    ).toEqual([]);
  });
});

test("detection needs received samples, not concealed ones", () => {
  const sampleRate = 8_000;
  const notices: string[] = [];
  const analyzer = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity: (rate) => new Vad(rate) },
    {
      onFirstAudio: () => void notices.push("first audio"),
      onBeep: () => void notices.push("beep"),
      onLineTone: () => void notices.push("line tone"),
      onSuspicionChange: () => void notices.push("suspicious"),
      onDigit: (digit) => void notices.push(digit),
      onSpeech: () => void notices.push("speech"),
    },
  );
  const taps = new CallTaps(sampleRate, [analyzer]);
  const filledIn = new Uint8Array(160).fill(SAMPLE.filledIn);
  const sounds = [
    dtmfTones("159", { sampleRate }),
    tone(950, 400, sampleRate, 9_000),
    babble("Hello, this is somebody who answers the phone.", sampleRate),
    new Int16Array(sampleRate),
  ];
  const play = (samples: Int16Array, marks?: Uint8Array): void => {
    for (let at = 0; at + 160 <= samples.length; at += 160) taps.write(samples.subarray(at, at + 160), marks);
  };
  play(concatPcm(sounds), filledIn);
  expect([analyzer.frames, analyzer.isSpeech]).toEqual([0, false]);
  play(new Int16Array(sampleRate));
  play(concatPcm(sounds), filledIn);
  analyzer.finish();
  expect(notices).toEqual(["first audio"]);
  expect(analyzer.isSpeech).toBe(false);
});
