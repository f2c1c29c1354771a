import { allOf, benchmark, progress, row } from "./harness/benchmark.ts";
import { ended, simulatedWorld, spokenCall } from "./harness/world.ts";

const TEXT = "Dear customer, your order has left our house today.";
const DEPTH = 10;

/** Number of times that one message to many numbers is spoken. */
export const SPOKEN_ONCE = benchmark({
  options: { numbers: { meaning: "numbers to be called", value: 10_000, quick: 200 } },
  async run({ numbers }) {
    let rendered = 0;
    const world = await simulatedWorld({
      more: { queue: { kind: "fifo", depth: DEPTH } },
      timeScale: 0.1,
      workers: (pool) => ({
        run(job, options) {
          if ("text" in job && job.text === TEXT) rendered++;
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
      const began = performance.now();
      const outcomes = (await ended(world, await world.place(calls))).map(({ outcome }) => outcome);
      const seconds = (performance.now() - began) / 1000;
      const whole = outcomes.filter((outcome) => outcome?.reason === "message_played" && outcome.heardRatio === 1);
      return [
        row("speech rendered", rendered === 1 ? "once" : `${rendered} times`, "once", rendered === 1),
        allOf("numbers that heard all of it", whole.length, numbers),
        row("from the first POST to the last hang-up", `${seconds.toFixed(0)} s`),
      ];
    } finally {
      await world.stop();
    }
  },
});
