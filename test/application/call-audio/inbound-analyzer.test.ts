import { describe, expect, test } from "vitest";
import { babble } from "../../../adapters/telephony/simulator/voice.ts";
import { CallTaps } from "../../../src/application/call-audio/call-tap.ts";
import { InboundAnalyzer } from "../../../src/application/call-audio/inbound-analyzer.ts";
import { dtmfTones } from "../../../src/audio/dtmf.ts";
import { concatPcm } from "../../../src/audio/pcm.ts";
import { tone } from "../../../src/audio/tone.ts";
import { Vad } from "../../../src/audio/vad.ts";
import { SAMPLE } from "../../../src/ports/media.ts";

interface Heard {
  keys: string;
  speech: { startMs: number; endMs: number }[];
  beeps: { hz: number; atMs: number }[];
}

function listen(samples: Int16Array, sampleRate: number): Heard {
  const heard: Heard = { keys: "", speech: [], beeps: [] };
  const voiceActivity = (rate: number) => new Vad(rate);
  const ear = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity },
    {
      firstAudio() {},
      lineTone() {},
      suspicious() {},
      beep: (hz, atMs) => void heard.beeps.push({ hz, atMs }),
      digit: (digit) => {
        heard.keys += digit;
      },
      speech: (startMs, endMs) => void heard.speech.push({ startMs, endMs }),
    },
  );
  const frame = sampleRate / 50;
  for (let at = 0; at + frame <= samples.length; at += frame) ear.inbound(samples.subarray(at, at + frame));
  ear.finish();
  return heard;
}

describe.each([8000, 16_000])("an inbound analyzer at %i Hz", (sampleRate) => {
  const silence = (ms: number) => new Int16Array((sampleRate * ms) / 1000);
  const keys = dtmfTones("1234#", { sampleRate });
  const words = babble("Hello, this is somebody who answers the phone.", sampleRate);

  test("detects keys as keys, not as speech", () => {
    expect(listen(concatPcm([silence(500), keys, silence(500)]), sampleRate)).toEqual({
      keys: "1234#",
      speech: [],
      beeps: [],
    });
  });

  test("detects speech as speech, not as keys", () => {
    const heard = listen(concatPcm([silence(500), words, silence(500)]), sampleRate);
    expect(heard.keys).toBe("");
    expect(heard.speech.length).toBeGreaterThan(0);
    expect(heard.speech[0]?.startMs).toBeGreaterThanOrEqual(450);
    expect(heard.speech[0]?.startMs).toBeLessThan(800);
  });

  test("detects the beep of a voicemail box as a beep, not as speech", () => {
    const beep = tone(950, 400, sampleRate, 9_000);
    const heard = listen(concatPcm([silence(500), beep, silence(1_000)]), sampleRate);
    expect(heard).toMatchObject({ keys: "", speech: [], beeps: [{}] });
    expect(Math.abs(heard.beeps[0]!.hz - 950)).toBeLessThanOrEqual(4);
    expect(Math.abs(heard.beeps[0]!.atMs - 500)).toBeLessThanOrEqual(40);
    const greeted = listen(concatPcm([silence(500), words, beep, silence(1_000)]), sampleRate);
    expect(greeted.beeps.length).toBe(1);
    expect(greeted.speech.at(-1)!.endMs).toBeLessThanOrEqual(500 + (words.length * 1000) / sampleRate + 120);
  });

  test("detects speech after keys", () => {
    const heard = listen(concatPcm([silence(500), keys, silence(600), words, silence(500)]), sampleRate);
    expect(heard.keys).toBe("1234#");
    expect(heard.speech.length).toBeGreaterThan(0);
    expect(heard.speech.every(({ startMs }) => startMs >= 500 + 1000)).toBe(true);
  });
});

test("conclusions need received samples: what a leg has filled in begins nothing", () => {
  const sampleRate = 8_000;
  const noticed: string[] = [];
  const analyzer = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity: (rate) => new Vad(rate) },
    {
      firstAudio: () => void noticed.push("first audio"),
      beep: () => void noticed.push("beep"),
      lineTone: () => void noticed.push("line tone"),
      suspicious: () => void noticed.push("suspicious"),
      digit: (digit) => void noticed.push(digit),
      speech: () => void noticed.push("speech"),
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
  expect([analyzer.frames, analyzer.speaking]).toEqual([0, false]);
  play(new Int16Array(sampleRate));
  play(concatPcm(sounds), filledIn);
  analyzer.finish();
  expect(noticed).toEqual(["first audio"]);
  expect(analyzer.speaking).toBe(false);
});
