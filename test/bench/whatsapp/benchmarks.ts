import type { Benchmark } from "../benchmark.ts";
import { measureUnder } from "../under-runtime.ts";

/** The WhatsApp adapter's benchmarks, by name. */
export const WHATSAPP_BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  "whatsapp-setup": {
    title: "Call set-ups over linked WhatsApp numbers",
    method: `The whole stack in one process: use cases, SQLite, dispatcher, sessions, speech, the adapter and a scripted WhatsApp
(\`FakeWhatsApp\`) that responds without delay. \`FIXED_TTS\` calls are placed open-loop, on a fixed schedule, each to a number that was
not called before, so each number is looked up and its devices are asked for. The callees answer, hear the message and hang up. The wait
runs from the call of \`calls.create\` (what \`POST /v1/calls\` calls) to the offer at the network; the pace and the warm-up are off.`,
    options: {
      rate: { meaning: "calls placed per second", value: 20 },
      seconds: { meaning: "length of the window", value: 60, quick: 10 },
    },
    run: (options) => measureUnder(["node26", "bun"], new URL("./set-ups.ts", import.meta.url).href, options),
  },
};
