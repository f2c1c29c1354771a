import type { SpeechWorkers } from "../../adapters/speech/speech-jobs.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { progress } from "./benchmark.ts";
import { ME, spokenCall, startManyCalls } from "./many-calls.ts";

const TEXT = "Dear customer, your order has left our house today.";
const DEPTH = 10;

/** Number of renderings of the same message to many numbers. */
export const SPOKEN_ONCE: Benchmark = {
  title: "One text to 10,000 numbers",
  method: `Each number gets a \`FIXED_TTS\` call with the same text, ${DEPTH} calls waiting on each instance, and hears all of it. Counted is how
often the speech engine was given that text.`,
  options: { numbers: { meaning: "numbers to be called", value: 10_000, quick: 200 } },
  run: ({ numbers = 0 }) => measure(numbers),
};

async function measure(numbers: number): Promise<Row[]> {
  let rendered = 0;
  const counting = (workers: SpeechWorkers): SpeechWorkers => ({
    run(job, options) {
      if ("text" in job && job.text === TEXT) rendered++;
      return workers.run(job, options);
    },
  });
  const world = await startManyCalls({
    queue: { kind: "fifo", depth: DEPTH },
    timeScale: 0.1,
    workers: counting,
  });
  try {
    const instances = await world.link(Math.ceil(numbers / DEPTH));
    progress(`calling ${numbers} numbers`);
    const calls = Array.from({ length: numbers }, (_, n) =>
      spokenCall(instances[n % instances.length] ?? "", TEXT, `+1303${String(5_550_000 + n)}`),
    );
    const began = performance.now();
    const placed = await world.place(calls);
    const ended = await Promise.all(placed.map(({ id }) => world.ringport.calls.wait(ME, id)));
    const heard = ended.filter(
      ({ outcome }) => outcome?.reason === "message_played" && outcome.heardRatio === 1,
    ).length;
    return [
      { what: "speech rendered", measured: times(rendered), wanted: "once", reached: rendered === 1 },
      {
        what: "numbers that heard all of it",
        measured: `${heard} of ${numbers}`,
        wanted: "all",
        reached: heard === numbers,
      },
      {
        what: "from the first POST to the last hang-up",
        measured: `${((performance.now() - began) / 1000).toFixed(0)} s`,
      },
    ];
  } finally {
    await world.stop();
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
