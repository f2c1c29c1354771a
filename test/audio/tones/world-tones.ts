import { msToSamples, toSample } from "../../../src/audio/samples/pcm.ts";

/** Expected verdict on a tone. */
export type ToneVerdict = "fax" | "special_information" | "busy" | "continuous" | "ringback" | "beep" | "nothing";

/**
 * A tone as `frequency/ms, 0/ms, …`: `480+620` is two frequencies together, `400*25` is modulated by 25 Hz, `2100~450`
 * reverses its phase every 450 ms. The pattern repeats.
 */
export interface WorldTone {
  readonly name: string;
  readonly tone: string;
  readonly expected: ToneVerdict;
}

const busy = (name: string, tone: string): WorldTone => ({ name, tone, expected: "busy" });
const ring = (name: string, tone: string): WorldTone => ({ name, tone, expected: "ringback" });
const dial = (name: string, tone: string): WorldTone => ({ name, tone, expected: "continuous" });
const beep = (name: string, tone: string): WorldTone => ({ name, tone, expected: "beep" });
const info = (name: string, tone: string): WorldTone => ({ name, tone, expected: "special_information" });

/** ITU-T E.180, supplement 2: tones that repeat. */
export const NETWORK_TONES: readonly WorldTone[] = [
  busy("busy, Austria", "420/400,0/400"),
  busy("congestion, Austria", "420/200,0/200"),
  busy("busy, Australia", "425/375,0/375"),
  busy("number unobtainable, Australia", "425/2500,0/500"),
  busy("busy, Brazil", "425/250,0/250"),
  busy("congestion, Brazil", "425/250,0/250,425/750,0/250"),
  busy("congestion, Belgium", "425/167,0/167"),
  busy("busy, Switzerland", "425/500,0/500"),
  busy("busy, Chile", "400/500,0/500"),
  busy("congestion, Chile", "400/200,0/200"),
  busy("busy, China", "450/350,0/350"),
  busy("congestion, China", "450/700,0/700"),
  busy("busy, Czechia", "425/330,0/330"),
  busy("congestion, Czechia", "425/165,0/165"),
  busy("busy, Germany", "425/480,0/480"),
  busy("congestion, Germany", "425/240,0/240"),
  busy("busy, Finland", "425/300,0/300"),
  busy("congestion, Spain", "425/200,0/200,425/200,0/200,425/200,0/600"),
  busy("busy, France", "440/500,0/500"),
  busy("congestion, France", "440/250,0/250"),
  busy("busy, Israel", "414/500,0/500"),
  busy("busy, India", "400/750,0/750"),
  busy("busy, Japan", "400/500,0/500"),
  busy("busy, Korea", "480+620/500,0/500"),
  busy("congestion, Korea", "480+620/300,0/200"),
  busy("busy, Argentina", "425/300,0/200"),
  busy("congestion, Sweden", "425/250,0/750"),
  busy("congestion, Turkey", "450/200,0/200,450/200,0/200,450/200,0/200,450/600,0/200"),
  busy("busy, United Kingdom", "400/375,0/375"),
  busy("congestion, United Kingdom", "400/400,0/350,400/225,0/525"),
  busy("busy, United States", "480+620/500,0/500"),
  busy("reorder, United States", "480+620/250,0/250"),
  busy("information, New Zealand", "400/750,0/100,400/750,0/100,400/750,0/100,400/750,0/400"),
  ring("ringing, Germany", "425/1000,0/4000"),
  ring("ringing, Spain", "425/1500,0/3000"),
  ring("ringing, France", "440/1500,0/3500"),
  ring("ringing, Hungary", "425/1250,0/3750"),
  ring("ringing, Russia", "425/800,0/3200"),
  ring("ringing, China", "450/1000,0/4000"),
  ring("ringing, Malaysia", "425/400,0/200,425/400,0/2000"),
  ring("ringing, United Kingdom", "400+450/400,0/200,400+450/400,0/2000"),
  ring("ringing, United States", "440+480/2000,0/4000"),
  ring("ringing, Hong Kong", "440+480/400,0/200,440+480/400,0/3000"),
  dial("number unobtainable, United Kingdom", "400/9000"),
  dial("dial tone, most of Europe", "425/9000"),
  dial("dial tone, China", "450/9000"),
  dial("dial tone, United States", "350+440/9000"),
  // A switchboard's ringing in these networks is neither a voice nor a beep.
  { name: "ringing, India", tone: "400*25/400,0/200,400*25/400,0/2000", expected: "nothing" },
  { name: "ringing, Japan", tone: "400*16/1000,0/2000", expected: "nothing" },
  { name: "ringing, Australia", tone: "413+438/400,0/200,413+438/400,0/2000", expected: "nothing" },
];

/** Special information tones (E.180, E.182; the segments of Telcordia GR-674), and data tones. */
export const CERTAIN_TONES: readonly WorldTone[] = [
  info("special information, ITU", "950/330,1400/330,1800/330,0/4000"),
  info("special information with pauses", "950/330,0/30,1400/330,0/30,1800/330,0/4000"),
  info("special information, Austria", "950/330,1450/330,1850/330,0/4000"),
  info("special information, Belgium", "900/330,1400/330,1800/330,0/4000"),
  info("special information, Israel", "1000/330,1400/330,1800/330,0/4000"),
  info("intercept", "913.8/276,1370.6/276,1776.7/380,0/4000"),
  info("vacant circuit", "985.2/380,1370.6/276,1776.7/380,0/4000"),
  info("reorder, within the area", "913.8/276,1428.5/380,1776.7/380,0/4000"),
  info("no circuit", "985.2/380,1428.5/380,1776.7/380,0/4000"),
  { name: "CED", tone: "2100/2600,0/4000", expected: "fax" },
  { name: "CED, 15 Hz too low", tone: "2085/4000,0/4000", expected: "fax" },
  { name: "CED, 15 Hz too high", tone: "2115/4000,0/4000", expected: "fax" },
  { name: "ANS with phase reversals", tone: "2100~450/3300,0/4000", expected: "fax" },
  { name: "ANSam (V.8)", tone: "2100~450*15/4000,0/4000", expected: "fax" },
  { name: "CNG", tone: "1100/500,0/3000", expected: "fax" },
];

/** Voicemail beeps: once, after a greeting. */
export const BEEPS: readonly WorldTone[] = [
  beep("1000 Hz, 400 ms", "1000/400"),
  beep("1004 Hz, 500 ms", "1004/500"),
  beep("1400 Hz, 500 ms (recorder)", "1400/500"),
  beep("1400 Hz, 200 ms", "1400/200"),
  beep("440 Hz, 500 ms", "440/500"),
  beep("440 Hz, 900 ms", "440/900"),
  beep("425 Hz, 300 ms", "425/300"),
  beep("425 Hz, 500 ms", "425/500"),
  beep("425 Hz, 1 s", "425/1000"),
  beep("440 Hz, 1.5 s", "440/1500"),
  beep("a double beep like ringing", "425/400,0/200,425/400"),
  beep("450 Hz, 250 ms", "450/250"),
  beep("500 Hz, 600 ms", "500/600"),
  beep("620 Hz, 300 ms", "620/300"),
  beep("660 Hz, 1 s", "660/1000"),
  beep("800 Hz, 180 ms", "800/180"),
  beep("850 Hz, 1 s", "850/1000"),
  beep("950 Hz, 330 ms", "950/330"),
  beep("1100 Hz, 500 ms", "1100/500"),
  beep("1209 Hz, 250 ms", "1209/250"),
  beep("1500 Hz, 1.5 s", "1500/1500"),
  beep("1800 Hz, 330 ms", "1800/330"),
  beep("2000 Hz, 700 ms", "2000/700"),
  beep("2100 Hz, 1 s", "2100/1000"),
  beep("2200 Hz, 250 ms", "2200/250"),
  beep("a double beep", "1000/200,0/100,1000/200"),
  beep("a double beep at a network's frequency", "425/200,0/200,425/200"),
  beep("a triple beep at a network's frequency", "440/180,0/180,440/180,0/180,440/180"),
  beep("two notes", "800/250,1200/250"),
];

/** Distortion of a tone in transmission. */
export interface ToneLine {
  readonly sampleRate: number;
  /** Peak of each frequency, dB of full scale. */
  readonly levelDb: number;
  /** Relative error of all frequencies. */
  readonly detune: number;
}

/** Returns the samples of a tone, repeated to fill `ms`. */
export function worldTone({ tone }: Pick<WorldTone, "tone">, ms: number, line: ToneLine): Int16Array {
  const { sampleRate, levelDb, detune } = line;
  const amplitude = 32_767 * 10 ** (levelDb / 20);
  const samples = new Int16Array(msToSamples(ms, sampleRate));
  const parts = tone.split(",").map((part) => part.split("/") as [string, string]);
  for (let at = 0, next = 0; at < samples.length; next++) {
    const [sound, length] = parts[next % parts.length]!;
    const end = Math.min(samples.length, at + msToSamples(Number(length), sampleRate));
    const [carriers, modulation] = sound.split("*");
    const voices = carriers!.split("+").map((voice) => voice.split("~").map(Number) as [number, number | undefined]);
    for (let i = at; i < end; i++) {
      const seconds = (i - at) / sampleRate;
      let value = 0;
      for (const [hz, reversalMs] of voices) {
        const isReversed = reversalMs !== undefined && Math.floor((1_000 * seconds) / reversalMs) % 2 === 1;
        value += (isReversed ? -1 : 1) * Math.sin(2 * Math.PI * hz * (1 + detune) * seconds);
      }
      // ANSam is modulated by 20 %, a network's ringing almost completely.
      const depth = modulation === undefined ? 0 : modulation === "15" ? 0.2 : 0.9;
      const envelope = 1 + depth * Math.sin(2 * Math.PI * Number(modulation ?? 0) * seconds);
      samples[i] = toSample(amplitude * value * (modulation === undefined || depth < 0.5 ? envelope : envelope / 2));
    }
    at = end;
  }
  return samples;
}
