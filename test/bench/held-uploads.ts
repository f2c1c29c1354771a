import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { createRingport } from "../../src/index.ts";
import { type Runtime, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { toneWav } from "../support/server-sound.ts";
import { progress, type Row } from "./benchmark.ts";

const HELD_BYTES = 16 * 2 ** 20;
const PATIENCE_MS = 60_000;
/** After an early response, a server continues reading for two seconds. */
const SETTLED_MS = 3_000;
const SERVER = fileURLToPath(new URL("./servers/ringport.ts", import.meta.url));

/** Holds uploads of one token on each runtime, and looks at the memory and at another user's upload. */
export async function heldUploads(held: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of runtimes.filter(({ name, missing }) => name !== "node22" && missing === undefined))
    for (const row of await onRuntime(runtime, held)) rows.push({ ...row, what: `${runtime.name}: ${row.what}` });
  return rows;
}

async function onRuntime(runtime: Runtime, held: number): Promise<Row[]> {
  progress(`${runtime.name}: ${held} held uploads of one token`);
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const [one, other] = await twoTokens(data);
  const server = await start(runtime, SERVER, { args: [data] });
  try {
    await upload(server, other);
    const before = peakMemory(server);
    const { refused, release } = await hold(server, one, held);
    const status = await upload(server, other);
    const grown = (peakMemory(server) - before) / 2 ** 20;
    release();
    const budget = DEFAULT_LIMITS.allBodiesBytes / 2 ** 20;
    return [
      { what: `held uploads refused with 503`, measured: `${refused} of ${held}` },
      {
        what: "memory at its peak, above that after one upload",
        measured: `${grown.toFixed(0)} MiB`,
        wanted: `≤ ${budget} MiB`,
        reached: grown <= budget,
      },
      {
        what: "another user's upload meanwhile",
        measured: `answered ${status}`,
        wanted: "201",
        reached: status === 201,
      },
    ];
  } finally {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  }
}

async function twoTokens(data: string): Promise<[string, string]> {
  const ringport = createRingport({ data });
  const issue = async (userName: string) => (await ringport.tokens.issue({ userName, label: "bench" })).token;
  const tokens: [string, string] = [await issue("one"), await issue("other")];
  await ringport.stop();
  return tokens;
}

/** Opens connections that send all of an upload but its last byte; resolves when each is refused or has sent it. */
async function hold(server: ServerProcess, token: string, count: number) {
  const { hostname, port } = new URL(server.url);
  const head = `POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${HELD_BYTES}\r\n\r\n`;
  const body = Buffer.alloc(HELD_BYTES - 1, " ");
  let refused = 0;
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const settled = sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.on("error", () => {}).once("close", resolve);
        socket.once("data", (answer) => {
          if (answer.toString("latin1").startsWith("HTTP/1.1 503")) refused++;
          socket.destroy();
        });
        socket.write(head);
        socket.write(body, () => resolve());
      }),
  );
  await Promise.race([Promise.all(settled), pause(PATIENCE_MS)]);
  await pause(SETTLED_MS);
  return { refused, release: () => sockets.forEach((socket) => void socket.destroy()) };
}

/** A call with a file of 10 MiB; answers the status. */
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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
