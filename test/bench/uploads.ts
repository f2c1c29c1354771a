import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { serverAdapter } from "../../adapters/cli/serve/server-adapter.ts";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { createRingport } from "../../src/index.ts";
import { type Runtime, type ServerProcess, start } from "../support/runtimes.ts";
import { toneWav } from "../support/server-sound.ts";
import { allOf, atMost, benchmark, ms, progress, type Row, row } from "./harness/benchmark.ts";
import {
  ALL_RUNTIMES,
  commandOf,
  insideEach,
  type Measure,
  output,
  runtimeNamed,
  serverScript,
  underEach,
} from "./harness/programs.ts";
import { inFolder } from "./harness/stored-data.ts";
import { ME, pause, simulatedWorld, spokenCall, waitUntilAllAnswered } from "./harness/world.ts";
import type { UploaderStart } from "./uploader.ts";

const MIB = 2 ** 20;
const TEXT = "Every callee hears this one message while files of 10 MiB are uploaded. ".repeat(60).slice(0, 4000);
/** Instances that the uploads rotate through; the previous call may still be ending. */
const UPLOAD_INSTANCES = 5;
const OPEN_UPLOAD_BYTES = 16 * MIB;
const TIMEOUT_MS = 60_000;
/** After an early response a server continues to read for two seconds. */
const SETTLE_MS = 3_000;

/** Effect of large uploads on live calls and on the memory of the process. */
export const UPLOADS = benchmark({
  options: {
    calls: { meaning: "calls in progress", value: 100 },
    uploads: { meaning: "uploads", value: 20, quick: 5 },
    held: { meaning: "unfinished uploads", value: 350, quick: 50 },
  },
  run: async ({ calls, uploads, held }) => [
    ...(await insideEach(ALL_RUNTIMES, import.meta.url, { calls, uploads })),
    ...(await underEach(ALL_RUNTIMES, (runtime) => measureOpenUploads(runtime, held))),
  ],
});

/** Uploads files in succession during calls, and compares the frames with those of a window without uploads. */
export const measure: Measure<{ calls: number; uploads: number }> = async ({ calls, uploads }) => {
  const world = await simulatedWorld({ options: { authenticate: async () => ME } });
  const { serve } = await serverAdapter();
  const { url, close } = await serve(world.ringport, { port: 0 });
  try {
    const instanceIds = await world.link(calls + UPLOAD_INSTANCES);
    const [instances, callers] = [instanceIds.slice(0, UPLOAD_INSTANCES), instanceIds.slice(UPLOAD_INSTANCES)];
    await waitUntilAllAnswered(world, await world.place(callers.map((id) => spokenCall(id, TEXT))));
    const { lateness } = world.network.clock;
    const upload = async (count: number): Promise<number> => {
      const uploader = new URL("./uploader.ts", import.meta.url).href;
      const options: UploaderStart = { url, instances, uploads: count };
      return Number(await output(commandOf(runtimeNamed("node26"), uploader, [JSON.stringify(options)])));
    };
    await upload(2); // compiles the code of uploads
    await pause(1_000);
    progress(`${calls} calls in progress; ${uploads} uploads`);
    lateness.reset();
    const startedAt = performance.now();
    const acceptedCount = await upload(uploads);
    const seconds = (performance.now() - startedAt) / 1000;
    const duringUploads = { p99: lateness.p99, max: lateness.max };
    lateness.reset();
    await pause(seconds * 1000);
    return [
      allOf("uploads accepted with 201", acceptedCount, uploads),
      row("uploads per second, each called and hung up", (uploads / seconds).toFixed(1)),
      row("lateness p99 during the uploads", ms(duringUploads.p99)),
      atMost("lateness max during the uploads", duringUploads.max, 20, "ms"),
      row("lateness max in the same time without uploads", ms(lateness.max)),
    ];
  } finally {
    await world.stop();
    await close();
  }
};

/** Keeps one token's uploads unfinished, and observes the memory and another user's upload. */
function measureOpenUploads(runtime: Runtime, connections: number): Promise<Row[]> {
  progress(`${runtime.name}: ${connections} unfinished uploads of one token`);
  return inFolder(async (data) => {
    const ringport = createRingport({ data });
    const issue = async (userName: string) => (await ringport.tokens.issue({ userName, label: "bench" })).token;
    const [firstToken, secondToken] = [await issue("one"), await issue("other")];
    await ringport.stop();
    const server = await start(runtime, serverScript("ringport"), { args: [data] });
    try {
      await upload(server, secondToken);
      const peakBefore = peakMemory(server);
      const { refusedCount, release } = await openUploads(server, firstToken, connections);
      const status = await upload(server, secondToken);
      const growthMiB = (peakMemory(server) - peakBefore) / MIB;
      release();
      const size = `${growthMiB.toFixed(0)} MiB`;
      const budget = DEFAULT_LIMITS.allBodiesBytes / MIB;
      return [
        row("held uploads refused with 503", `${refusedCount} of ${connections}`),
        atMost("growth of peak memory since the first upload", growthMiB, budget, "MiB", size),
        row("another user's upload in the meantime", String(status), "201", status === 201),
      ];
    } finally {
      await server.stop();
    }
  });
}

/**
 * Opens connections that send an upload without its last byte; resolves when each has been refused or has sent the
 * rest.
 */
async function openUploads(server: ServerProcess, token: string, count: number) {
  const { hostname, port } = new URL(server.url);
  const head = `POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${OPEN_UPLOAD_BYTES}\r\n\r\n`;
  const body = Buffer.alloc(OPEN_UPLOAD_BYTES - 1, " ");
  let refusedCount = 0;
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const sendPromises = sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.on("error", () => {}).once("close", resolve);
        socket.once("data", (response) => {
          if (response.toString("latin1").startsWith("HTTP/1.1 503")) refusedCount++;
          socket.destroy();
        });
        socket.write(head);
        socket.write(body, () => resolve());
      }),
  );
  await Promise.race([Promise.all(sendPromises), pause(TIMEOUT_MS)]);
  await pause(SETTLE_MS);
  return { refusedCount, release: () => sockets.forEach((socket) => void socket.destroy()) };
}

/** A call with a file of 10 MiB; returns the status. */
async function upload({ url }: ServerProcess, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = (path: string, value: unknown) =>
    fetch(url + path, { method: "POST", headers, body: JSON.stringify(value) });
  const { id } = (await (await post("/v1/instances", { name: "bench" })).json()) as { id: string };
  const audioBase64 = toneWav({ ms: 327_000 }).toString("base64");
  const target = { phoneNumber: "+12025550100" };
  return (await post("/v1/calls", { instanceId: id, type: "FIXED_AUDIO", target, audio: { audioBase64 } })).status;
}

function peakMemory({ pid }: ServerProcess): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
