import { decodeWav } from "../../src/audio/wav/wav.ts";
import type { Principal } from "../../src/index.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { answered, heardFile, type ManyCalls, spokenCall, startManyCalls } from "./many-calls.ts";

const OTHER: Principal = { userId: "usr_other" };
const LONG_TEXT = 4_060;
const DIALLED_WITHIN_MS = 5_000;
/** Tolerated extra silence under load, ms: a shorter one is not reported as `message_delayed`. */
const MORE_SILENCE_MS = 200;
/** Quieter than this is silence. */
const SILENT = 160;

/** Effect of one user's long texts on another user's calls. */
export const FAIRNESS: Benchmark = {
  title: "A short message beside long texts of another user",
  method: `One user's calls speak different texts of 4,060 characters, with flite in the workers; all are answered at once. Meanwhile
another user places calls with texts of three sentences, one after the other, none of them spoken before. Counted are the time from the
order to the \`ringing\` event and the longest silence between the first and the last word in what the callee heard; the worst call counts.
The baseline is the same calls, with other texts, before the long ones.`,
  options: {
    long: { meaning: "calls with long texts", value: 24, quick: 8 },
    short: { meaning: "calls with short texts", value: 4, quick: 2 },
  },
  run: ({ long = 0, short = 0 }) => measure(long, short),
};

interface Heard {
  readonly dialledMs: number;
  readonly silenceMs: number;
  readonly delays: number;
  readonly whole: boolean;
}

async function measure(long: number, short: number): Promise<Row[]> {
  const world = await startManyCalls();
  const { ringport } = world;
  try {
    const crowd = await world.link(long);
    const [own = ""] = await world.link(1, OTHER);
    let texts = 0;
    const hear = async (): Promise<Heard> => {
      const asked = Date.now();
      const { id } = await ringport.calls.create(OTHER, spokenCall(own, shortText(texts++)));
      const { outcome } = await ringport.calls.wait(OTHER, id);
      const { events } = await ringport.calls.timeline(OTHER, id);
      const ringing = events.find(({ type }) => type === "ringing")?.timestamp ?? Number.POSITIVE_INFINITY;
      return {
        dialledMs: ringing - asked,
        silenceMs: longestSilence(await recording(world, id)),
        delays: events.filter(({ type }) => type === "message_delayed").length,
        whole: outcome?.reason === "message_played" && outcome.heardRatio === 1,
      };
    };
    await hear(); // engines are loaded and compiled
    progress("short texts alone");
    const alone = worst(await inTurn(short, hear));
    progress(`short texts beside ${long} long ones`);
    const placed = await world.place(crowd.map((instance, n) => spokenCall(instance, longText(n))));
    await Promise.race(placed.map(({ id }) => answered(ringport, id)));
    const beside = worst(await inTurn(short, hear));
    return [
      { what: "from the order to the call, alone", measured: ms(alone.dialledMs) },
      {
        what: "the same beside the long texts",
        measured: `${ms(beside.dialledMs)}, ${(beside.dialledMs / alone.dialledMs).toFixed(1)} of the above`,
        wanted: `≤ ${DIALLED_WITHIN_MS} ms`,
        reached: beside.dialledMs <= DIALLED_WITHIN_MS,
      },
      { what: "longest silence in the message, alone", measured: ms(alone.silenceMs) },
      {
        what: "the same beside the long texts",
        measured: `${ms(beside.silenceMs)}, ${(beside.silenceMs / alone.silenceMs).toFixed(2)} of the above`,
        wanted: `≤ ${MORE_SILENCE_MS} ms more`,
        reached: beside.whole && beside.silenceMs <= alone.silenceMs + MORE_SILENCE_MS,
      },
      {
        what: "`message_delayed` events of them",
        measured: String(beside.delays),
        wanted: "none",
        reached: beside.delays === 0,
      },
    ];
  } finally {
    await world.stop();
  }
}

async function inTurn<T>(times: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < times; n++) results.push(await run());
  return results;
}

function worst(all: readonly Heard[]): Heard {
  return {
    dialledMs: Math.max(...all.map(({ dialledMs }) => dialledMs)),
    silenceMs: Math.max(...all.map(({ silenceMs }) => silenceMs)),
    delays: all.reduce((sum, { delays }) => sum + delays, 0),
    whole: all.every(({ whole }) => whole),
  };
}

/** The audio that the callee heard, as recorded by the simulated network. */
async function recording(world: ManyCalls, callId: string): Promise<Int16Array> {
  const file = await heardFile(world, callId);
  if (!file) throw new Error(`what the callee of ${callId} heard was not recorded`);
  return decodeWav(file).samples;
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
  const line = (at: number) =>
    `This is line ${at} of the long text number ${n}, which somebody wants to be read aloud. `;
  return Array.from({ length: 60 }, (_, at) => line(at))
    .join("")
    .slice(0, LONG_TEXT);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
