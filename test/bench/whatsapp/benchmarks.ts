import type { Benchmark } from "../benchmark.ts";
import { measureUnder } from "../under-runtime.ts";

/** The WhatsApp adapter's benchmarks, by name. */
export const WHATSAPP_BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  "whatsapp-setup": {
    title: "Call set-ups over linked WhatsApp numbers",
    method: `The whole stack in one process: use cases, SQLite, dispatcher, sessions, speech, the adapter and a scripted WhatsApp
(\`FakeWhatsApp\`) that responds without delay. \`FIXED_TTS\` calls are placed open-loop, on a fixed schedule, each to a number that was
not called before, so each number is looked up and its devices are asked for. The callees answer after 200 ms, hear the message and
hang up after another 400 ms. One call before the schedule hears the whole text, so that the speech is compiled and stored. The wait
runs from the call of \`calls.create\` (what \`POST /v1/calls\` calls) to the offer at the network; the pace and the warm-up are off.`,
    remarks: `The waits are of a run of 60 s on a machine at rest; the first seconds and the calls that were heard are of a run of 20 s, beside other
work on both cores, which took p99 to 86 ms on Node and 26 ms on Bun. Two durable commits lie between the order and the offer.`,
    options: {
      rate: { meaning: "calls placed per second", value: 20 },
      seconds: { meaning: "length of the window", value: 60, quick: 10 },
    },
    run: (options) => measureUnder(["node26", "bun"], new URL("./set-ups.ts", import.meta.url).href, options),
  },
};
