import { allOf, benchmark, progress, row } from "./harness/benchmark.ts";
import { simulatedWorld, spokenCall, waitUntilAllEnded } from "./harness/world.ts";

const TEXT = "Dear customer, your order has left our house today.";
const DEPTH = 10;

/** Number of times that one message to many numbers is spoken. */
export const SPOKEN_ONCE = benchmark({
  options: { numbers: { meaning: "numbers to be called", value: 10_000, quick: 200 } },
  async run({ numbers }) {
    let renderCount = 0;
    const world = await simulatedWorld({
      options: { queue: { kind: "fifo", depth: DEPTH } },
      timeScale: 0.1,
      workers: (pool) => ({
        run(job, options) {
          if ("text" in job && job.text === TEXT) renderCount++;
          return pool.run(job, options);
        },
      }),
    });
    try {
      const instances = await world.link(Math.ceil(numbers / DEPTH));
      progress(`calling ${numbers} numbers`);
      const calls = Array.from({ length: numbers }, (_, n) =>
        spokenCall(instances[n % instances.length]!, TEXT, `+1303${String(5_550_000 + n)}`),
      );
      const startedAt = performance.now();
      const outcomes = (await waitUntilAllEnded(world, await world.place(calls))).map(({ outcome }) => outcome);
      const seconds = (performance.now() - startedAt) / 1000;
      const completeOutcomes = outcomes.filter(
        (outcome) => outcome?.reason === "message_played" && outcome.heardRatio === 1,
      );
      return [
        row("speech rendered", renderCount === 1 ? "once" : `${renderCount} times`, "once", renderCount === 1),
        allOf("numbers that heard all of it", completeOutcomes.length, numbers),
        row("from the first POST to the last hang-up", `${seconds.toFixed(0)} s`),
      ];
    } finally {
      await world.stop();
    }
  },
});
