import { decodeWav } from "../../src/audio/wav/wav.ts";
import type { Principal } from "../../src/index.ts";
import { atMost, benchmark, ms, progress, row } from "./harness/benchmark.ts";
import { heardFile, type SimulatedWorld, simulatedWorld, spokenCall, waitUntilAllAnswered } from "./harness/world.ts";

const OTHER_USER: Principal = { userId: "usr_other" };
const LONG_TEXT = 4_060;
const MAX_DIALLING_MS = 5_000;
/** Maximum additional silence under load, ms; shorter silence causes no `message_delayed`. */
const MAX_EXTRA_SILENCE_MS = 200;
/** Maximum amplitude of silence. */
const SILENT = 160;

/** Effect of one user's long texts on another user's calls. */
export const FAIRNESS = benchmark({
  options: {
    long: { meaning: "calls with long texts", value: 24, quick: 8 },
    short: { meaning: "calls with short texts", value: 4, quick: 2 },
  },
  async run({ long, short }) {
    const world = await simulatedWorld();
    try {
      const crowdIds = await world.link(long);
      const [instance = ""] = await world.link(1, OTHER_USER);
      let texts = 0;
      const worstOf = async (count: number): Promise<HeardCall> => {
        const results: HeardCall[] = [];
        for (let n = 0; n < count; n++) results.push(await placeAndExamine(world, instance, shortText(texts++)));
        return {
          dialledMs: Math.max(...results.map(({ dialledMs }) => dialledMs)),
          silenceMs: Math.max(...results.map(({ silenceMs }) => silenceMs)),
          delays: results.reduce((sum, { delays }) => sum + delays, 0),
          hasAllAudio: results.every(({ hasAllAudio: isWhole }) => isWhole),
        };
      };
      await worstOf(1); // loads and compiles the engines
      progress("short texts alone");
      const baseline = await worstOf(short);
      progress(`short texts alongside ${long} long ones`);
      const longCalls = await world.place(crowdIds.map((id, n) => spokenCall(id, longText(n))));
      await Promise.race(longCalls.map((call) => waitUntilAllAnswered(world, [call])));
      const underLoad = await worstOf(short);
      const dialledText = `${ms(underLoad.dialledMs, 0)}, ${(underLoad.dialledMs / baseline.dialledMs).toFixed(1)} of the above`;
      const silenceText = `${ms(underLoad.silenceMs, 0)}, ${(underLoad.silenceMs / baseline.silenceMs).toFixed(2)} of the above`;
      const isHeard = underLoad.hasAllAudio && underLoad.silenceMs <= baseline.silenceMs + MAX_EXTRA_SILENCE_MS;
      return [
        row("from the request to the call, alone", ms(baseline.dialledMs, 0)),
        atMost("the same alongside the long texts", underLoad.dialledMs, MAX_DIALLING_MS, "ms", dialledText),
        row("longest silence in the message, alone", ms(baseline.silenceMs, 0)),
        row("the same alongside the long texts", silenceText, `≤ ${MAX_EXTRA_SILENCE_MS} ms more`, isHeard),
        row("`message_delayed` events", String(underLoad.delays), "none", underLoad.delays === 0),
      ];
    } finally {
      await world.stop();
    }
  },
});

interface HeardCall {
  readonly dialledMs: number;
  readonly silenceMs: number;
  readonly delays: number;
  readonly hasAllAudio: boolean;
}

/** Places a call, and examines the audio that its callee heard. */
async function placeAndExamine(world: SimulatedWorld, instance: string, text: string): Promise<HeardCall> {
  const { calls } = world.ringport;
  const startedAt = Date.now();
  const { id } = await calls.create(OTHER_USER, spokenCall(instance, text));
  const { outcome } = await calls.wait(OTHER_USER, id);
  const { events } = await calls.timeline(OTHER_USER, id);
  const file = await heardFile(world, id);
  if (!file) throw new Error(`the audio that the callee of ${id} heard was not recorded`);
  return {
    dialledMs: (events.find(({ type }) => type === "ringing")?.timestamp ?? Number.POSITIVE_INFINITY) - startedAt,
    silenceMs: longestSilence(decodeWav(file).samples),
    delays: events.filter(({ type }) => type === "message_delayed").length,
    hasAllAudio: outcome?.reason === "message_played" && outcome.heardRatio === 1,
  };
}

/** The longest silence between the beginning and the last sound, ms. */
function longestSilence(heard: Int16Array): number {
  let [longestRun, run] = [0, 0];
  for (const sample of heard) {
    if (Math.abs(sample) <= SILENT) run++;
    else {
      longestRun = Math.max(longestRun, run);
      run = 0;
    }
  }
  return longestRun / 16;
}

function shortText(n: number): string {
  return `Your order number ${n} has been shipped. It arrives tomorrow before noon. Please make sure that you are at home to receive it.`;
}

function longText(n: number): string {
  const lines = Array.from(
    { length: 60 },
    (_, i) => `This is line ${i} of the long text number ${n}, which a caller wants to be read aloud. `,
  );
  return lines.join("").slice(0, LONG_TEXT);
}
