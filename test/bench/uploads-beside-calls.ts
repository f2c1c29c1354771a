import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serverAdapter } from "../../adapters/cli/serve/server-adapter.ts";
import { runtimes } from "../support/runtimes.ts";
import { progress } from "./benchmark.ts";
import { answered, ME, pause, spokenCall, startManyCalls } from "./many-calls.ts";
import type { Measurable } from "./under-runtime.ts";
import type { UploaderStart } from "./uploader.ts";

const TEXT = "Every callee hears this one message while files of 10 MiB are uploaded. ".repeat(60).slice(0, 4000);
/** Instances that the uploads take turns on; a call before may still be ending. */
const UPLOADED_TO = 5;
const WORST_MS = 20;

/** Runs calls, then uploads files sequentially, and compares the frames of both windows. */
export const measure: Measurable["measure"] = async ({ calls = 0, uploads = 0 }) => {
  const world = await startManyCalls({ more: { authenticate: async () => ME } });
  const { serve } = await serverAdapter();
  const listening = await serve(world.ringport, { port: 0 });
  try {
    const instances = await world.link(calls + UPLOADED_TO);
    for (const { id } of await world.place(instances.slice(UPLOADED_TO).map((id) => spokenCall(id, TEXT))))
      await answered(world.ringport, id);
    const { lateness } = world.network.clock;
    // The code that every upload runs is compiled by the first ones.
    const upload = (count: number) =>
      uploaded({ url: listening.url, instances: instances.slice(0, UPLOADED_TO), uploads: count });
    await upload(2);
    await pause(1_000);
    progress(`${calls} calls talk; ${uploads} uploads`);
    lateness.reset();
    const startedAt = performance.now();
    const good = await upload(uploads);
    const seconds = (performance.now() - startedAt) / 1000;
    const beside = { p99: lateness.p99, max: lateness.max };
    lateness.reset();
    await pause(seconds * 1000);
    return [
      { what: "uploads answered 201", measured: `${good} of ${uploads}`, wanted: "all", reached: good === uploads },
      { what: "uploads per second, each called and hung up", measured: (uploads / seconds).toFixed(1) },
      { what: "lateness p99 while they came", measured: ms(beside.p99) },
      {
        what: "lateness max while they came",
        measured: ms(beside.max),
        wanted: `≤ ${WORST_MS} ms`,
        reached: beside.max <= WORST_MS,
      },
      { what: "lateness max as long without them", measured: ms(lateness.max) },
    ];
  } finally {
    await world.stop();
    await listening.close();
  }
};

/** Runs the uploader in a separate process, on Node. */
async function uploaded(start: UploaderStart): Promise<number> {
  const [node = "", ...flags] = runtimes.find(({ name }) => name === "node26")?.command ?? [];
  const uploader = fileURLToPath(new URL("./uploader.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(node, [...flags, uploader, JSON.stringify(start)]);
  return Number(stdout);
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;
