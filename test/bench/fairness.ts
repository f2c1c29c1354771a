import { decodeWav } from "../../src/audio/wav/wav.ts";
import type { Principal } from "../../src/index.ts";
import { atMost, benchmark, ms, progress, row } from "./harness/benchmark.ts";
import { answered, heardFile, type SimulatedWorld, simulatedWorld, spokenCall } from "./harness/world.ts";

const OTHER: Principal = { userId: "usr_other" };
const LONG_TEXT = 4_060;
const MAX_DIALLING_MS = 5_000;
/** Maximum additional silence beside the load, ms: below this there is no `message_delayed`. */
const MORE_SILENCE_MS = 200;
/** Samples up to this one are silence. */
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
      const crowd = await world.link(long);
      const [instance = ""] = await world.link(1, OTHER);
      let texts = 0;
      const worst = async (count: number): Promise<Heard> => {
        const all: Heard[] = [];
        for (let n = 0; n < count; n++) all.push(await hear(world, instance, shortText(texts++)));
        return {
          dialledMs: Math.max(...all.map(({ dialledMs }) => dialledMs)),
          silenceMs: Math.max(...all.map(({ silenceMs }) => silenceMs)),
          delays: all.reduce((sum, { delays }) => sum + delays, 0),
          isWhole: all.every(({ isWhole }) => isWhole),
        };
      };
      await worst(1); // engines are loaded and compiled
      progress("short texts alone");
      const alone = await worst(short);
      progress(`short texts beside ${long} long ones`);
      const placed = await world.place(crowd.map((id, n) => spokenCall(id, longText(n))));
      await Promise.race(placed.map((call) => answered(world, [call])));
      const beside = await worst(short);
      const dialled = `${ms(beside.dialledMs, 0)}, ${(beside.dialledMs / alone.dialledMs).toFixed(1)} of the above`;
      const silence = `${ms(beside.silenceMs, 0)}, ${(beside.silenceMs / alone.silenceMs).toFixed(2)} of the above`;
      const isHeard = beside.isWhole && beside.silenceMs <= alone.silenceMs + MORE_SILENCE_MS;
      return [
        row("from the order to the call, alone", ms(alone.dialledMs, 0)),
        atMost("the same beside the long texts", beside.dialledMs, MAX_DIALLING_MS, "ms", dialled),
        row("longest silence in the message, alone", ms(alone.silenceMs, 0)),
        row("the same beside the long texts", silence, `≤ ${MORE_SILENCE_MS} ms more`, isHeard),
        row("`message_delayed` events of them", String(beside.delays), "none", beside.delays === 0),
      ];
    } finally {
      await world.stop();
    }
  },
});

interface Heard {
  readonly dialledMs: number;
  readonly silenceMs: number;
  readonly delays: number;
  readonly isWhole: boolean;
}

/** Places a call, and examines the audio that its callee heard. */
async function hear(world: SimulatedWorld, instance: string, text: string): Promise<Heard> {
  const { calls } = world.ringport;
  const from = Date.now();
  const { id } = await calls.create(OTHER, spokenCall(instance, text));
  const { outcome } = await calls.wait(OTHER, id);
  const { events } = await calls.timeline(OTHER, id);
  const file = await heardFile(world, id);
  if (!file) throw new Error(`the audio that the callee of ${id} heard was not recorded`);
  return {
    dialledMs: (events.find(({ type }) => type === "ringing")?.timestamp ?? Number.POSITIVE_INFINITY) - from,
    silenceMs: longestSilence(decodeWav(file).samples),
    delays: events.filter(({ type }) => type === "message_delayed").length,
    isWhole: outcome?.reason === "message_played" && outcome.heardRatio === 1,
  };
}

/** The longest silence between the beginning and the last sound, ms. */
function longestSilence(heard: Int16Array): number {
  let [longest, run] = [0, 0];
  for (const sample of heard) {
    if (Math.abs(sample) <= SILENT) run++;
    else {
      longest = Math.max(longest, run);
      run = 0;
    }
  }
  return longest / 16;
}

function shortText(n: number): string {
  return `Your order number ${n} has left our house. It arrives tomorrow before noon. Somebody should be at home, please, to take it in.`;
}

function longText(n: number): string {
  const lines = Array.from(
    { length: 60 },
    (_, at) => `This is line ${at} of the long text number ${n}, which a caller wants to be read aloud. `,
  );
  return lines.join("").slice(0, LONG_TEXT);
}
