import type { Benchmark } from "../benchmark.ts";
import { measureUnder } from "../under-runtime.ts";

const CONVERSATIONS = `Calls by the cascade on the whole stack: simulated legs of 8 kHz, all audio coded and decoded as G.711, transcription,
completions and speech (24 kHz) over HTTP from a provider on loopback that answers at once (\`test/bench/agents/provider.ts\`). The callees
(\`test/bench/agents/conversing-network.ts\`) answer each reply with a spoken sentence, or interrupt it.`;

const module = (name: string): string => new URL(name, import.meta.url).href;

/** The benchmarks of agents, by name. */
export const AGENT_BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  "agent-latency": {
    title: "What Ringport adds to the latency of an agent",
    method: `${CONVERSATIONS} The provider runs in the same process here, so that one clock measures everything.

- own overhead: from the moment at which the provider hands the first byte of speech to its socket to the moment at which the
  leg has read the first audible frame; a leg reads every 20 ms, so this is 10 ms on average even when nothing takes time
- turn gap: from the moment at which the leg hands the callee's last 20 ms of voice to the core to the first audible frame, minus the 500 ms
  that end a turn, minus what the provider needed for text, reply and the first byte of speech. The loopback is part of the figure
- interruption: from the beginning of the callee's voice to the last audible frame of the agent, with the threshold of 200 ms`,
    options: {
      calls: { meaning: "calls at once", value: 10, quick: 5 },
      seconds: { meaning: "length of the window", value: 60, quick: 15 },
    },
    run: (options) => measureUnder(["node26", "bun", "deno"], module("./latency.ts"), options),
  },
  "agent-calls": {
    title: "Agent calls at once in one process",
    method: `${CONVERSATIONS} Every third reply is interrupted. The provider is a process of its own on the other core. Lateness: how much
later than its place on the absolute 20 ms schedule a frame was exchanged with a leg, both directions. Node runs with
\`--max-semi-space-size=8\`, as \`npm start\` and the files of [deploy](deploy.md#size) have it: without it, collecting garbage stops all calls for up to 20 ms. The rule of the best-known open
framework for voice agents is 25 calls on four cores, about 6 per core; its figure includes WebRTC, Opus and a neural voice detector, which this one does not.`,
    options: {
      calls: { meaning: "calls at once", value: 150, quick: 40 },
      seconds: { meaning: "length of the window", value: 60, quick: 10 },
    },
    run: (options) => measureUnder(["node26", "bun", "deno"], module("./load.ts"), options),
  },
};
