import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimes } from "../../support/runtimes.ts";
import { progress } from "../benchmark.ts";
import { answered, ME, pause } from "../many-calls.ts";
import type { Measurable } from "../under-runtime.ts";
import { agentCall, startAgents } from "./agent-world.ts";

/** Measures many agent calls at once in this process; their provider is another one. */
export const measure: Measurable["measure"] = async ({ calls = 0, seconds = 0 }) => {
  const provider = await providerProcess();
  const { world, conversations } = await startAgents({ baseUrl: provider.baseUrl, interruptsEvery: 3 });
  const { ringport, network } = world;
  try {
    progress(`linking ${calls} numbers`);
    const instances = await world.link(calls);
    progress(`placing ${calls} calls`);
    const placed = await world.place(instances.map(agentCall));
    for (const { id } of placed) await answered(ringport, id);
    await pause(10_000);
    progress(`all converse; measuring for ${seconds} s`);
    const { lateness } = network.clock;
    lateness.reset();
    const before = conversations.turns.length;
    const used = process.cpuUsage();
    await pause(seconds * 1_000);
    const { user, system } = process.cpuUsage(used);
    const { frames, p50, p99, max, size } = { ...figures(lateness), size: network.clock.size };
    const turns = conversations.turns.length - before;
    const cpu = (user + system) / 1e6 / seconds;
    for (const { id } of placed) await ringport.calls.hangUp(ME, id);
    const due = calls * seconds * 50;
    return [
      {
        what: "agent calls at once",
        measured: `${size} of ${calls}`,
        wanted: "≥ 150, all of them",
        reached: size === calls && calls >= 150,
      },
      {
        what: "lateness p99 of the frames",
        measured: `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms, max ${max.toFixed(1)} ms)`,
        wanted: "≤ 10 ms",
        reached: p99 <= 10,
      },
      {
        what: "frames exchanged in the window, of those due",
        measured: `${((100 * frames) / due).toFixed(1)} %`,
        wanted: "≥ 99 %",
        reached: frames >= 0.99 * due,
      },
      { what: "turns of the conversations", measured: `${(turns / seconds).toFixed(1)}/s` },
      {
        what: "processor in the window",
        measured: `${(cpu * 100).toFixed(0)} % of one core, ${((cpu * 1e6) / (calls * 50)).toFixed(1)} µs per call and frame`,
      },
      { what: "process memory", measured: `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB` },
    ];
  } finally {
    await world.stop();
    provider.stop();
  }
};

function figures({ frames, p50, p99, max }: { frames: number; p50: number; p99: number; max: number }) {
  return { frames, p50, p99, max };
}

async function providerProcess(): Promise<{ readonly baseUrl: string; stop(): void }> {
  const script = fileURLToPath(new URL("./provider-process.ts", import.meta.url));
  const [program = "", ...flags] = runtimes.find(({ name }) => name === "node26")?.command ?? [];
  const child = spawn(program, [...flags, script], { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    printed += piece;
    if (printed.includes("\n")) break;
  }
  return { baseUrl: printed.trim(), stop: () => child.stdin.end() };
}
