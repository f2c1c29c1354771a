import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { messageOf } from "../rounds/messages.ts";
import built from "../support/built.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { relayTo } from "../support/relay.ts";
import { run, runtimes } from "../support/runtimes.ts";
import { Client, expected, type InstanceView, until } from "../support/server-client.ts";
import { callees, type FarEndCall, startFarEnd } from "../support/sip/far-end.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { median } from "./median.ts";
import { Supervised } from "./supervised.ts";

/** Time without calls after the loss of a database's server. */
export const TAKEOVER: Benchmark = {
  title: "A second server takes over",
  method: `Two \`ringport serve\` on one PostgreSQL, each behind a supervisor: a loop of bash that starts it again 0.2 s after
its end. The first one owns the database, with the lease that is the default (10 s), and talks on a call over SIP; another call to the same
instance waits. Measured from the loss of the first server to the INVITE of the waiting call, which only a server that has taken over can send;
the median. A clean stop is SIGTERM with \`RINGPORT_DRAIN_MS=0\`, and the supervisor stops as well. A cut connection is one that breaks and cannot be made again: the server
lives, hangs up, and ends. After it, and after kill -9, the first server comes back and has to wait. The last row is the longest time for which the phones heard two calls
of the instance at once.`,
  options: { losses: { meaning: "losses of each kind", value: 3, quick: 1 } },
  run: ({ losses = 0 }) => benchTakeover(losses),
};

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const NODE = runtimes.find(({ name }) => name === "node26")!;
const LOCAL_URL = /http:\/\/(127\.0\.0\.1|localhost):\d+/;
const WAITING = /; waiting/;
const PATIENCE_MS = 60_000;
const MESSAGE = { type: "FIXED_AUDIO", tts: undefined, audio: { audioBase64: messageOf(60_000) } };
const WANTED_MS = { "a clean stop": 3_000, "kill -9": 13_000, "a cut connection": 13_000 } as const;
type Loss = keyof typeof WANTED_MS;

/** One loss: how long until the next server dialled, and for how long two calls talked, ms. */
interface Taken {
  readonly ms: number;
  readonly both: number;
}

async function benchTakeover(losses: number): Promise<Row[]> {
  built();
  const source = await findPostgres();
  if (source.missing !== undefined) throw new Error(source.missing);
  const postgres = await source.start();
  try {
    const rows: Row[] = [];
    let both = 0;
    for (const loss of Object.keys(WANTED_MS) as Loss[]) {
      const all: Taken[] = [];
      for (let n = 1; n <= losses; n++) {
        progress(`${loss}, ${n} of ${losses}`);
        all.push(await take(postgres, loss));
      }
      const ms = median(all.map((taken) => taken.ms));
      both = Math.max(both, ...all.map((taken) => taken.both));
      rows.push({
        what: `from ${loss} to the INVITE of the next server`,
        measured: `${(ms / 1000).toFixed(1)} s`,
        wanted: `≤ ${WANTED_MS[loss] / 1000} s`,
        reached: ms <= WANTED_MS[loss],
      });
    }
    rows.push({
      what: "two calls talk at once",
      measured: `${both.toFixed(0)} ms`,
      wanted: "0 ms",
      reached: both === 0,
    });
    return rows;
  } finally {
    await postgres.stop();
  }
}

async function take(postgres: RunningPostgres, loss: Loss): Promise<Taken> {
  const url = await postgres.createDatabase();
  const [relay, phone] = await Promise.all([relayTo(url), startFarEnd({ callees: { "*": callees.answers } })]);
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const env = {
    PORT: "0",
    LOG_LEVEL: "warn",
    RINGPORT_DATA: data,
    RINGPORT_TELEPHONY: "sip",
    RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "bench", server: phone.uri, users: "*" }]),
    RINGPORT_QUEUE: "fifo",
    RINGPORT_DRAIN_MS: "0",
  };
  const first = serve({ ...env, DATABASE_URL: relay.url });
  let second: Supervised | undefined;
  try {
    const base = await first.prints(LOCAL_URL);
    const { stdout } = await run(NODE, PROGRAM, {
      args: ["token", "create", "--user", "bench"],
      env: { ...env, DATABASE_URL: url },
    });
    const client = clientOf(base, stdout.trim());
    const id = await instance(client);
    const talks = await client.call(id, MESSAGE);
    const live = await phone.call(0);
    await heard(live);
    await client.call(id, MESSAGE);
    second = serve({ ...env, DATABASE_URL: url });
    await second.prints(WAITING);

    const before = first.printed.length;
    const lostAt = performance.now();
    if (loss === "a cut connection") await relay.cut();
    else if (loss === "kill -9") process.kill(first.pid, "SIGKILL");
    else first.end("SIGTERM");
    const next = await until(
      () => phone.calls[1]!,
      (call) => call !== undefined,
      PATIENCE_MS,
      "the next server to dial",
      1,
    );
    const ms = next.requests[0]!.at - lostAt;
    await heard(next);
    if (loss === "a cut connection") await relay.mend();
    // A killed server returns before its lease has expired, and may regain it.
    const address = await Promise.any([second.prints(LOCAL_URL), first.prints(LOCAL_URL, before)]);
    const other = clientOf(address, stdout.trim());
    if (loss !== "a clean stop") await first.prints(WAITING, before);
    const { status, outcome } = await other.readCall(talks.id);
    if (status !== "FAILED" || outcome?.reason !== "interrupted")
      throw new Error(`the call of the first server is ${status}/${outcome?.reason}`);
    if (phone.calls.length !== 2) throw new Error(`${phone.calls.length} calls came instead of 2`);
    return { ms, both: Math.max(0, lastAt(live) - next.voice!.packets[0]!.at) };
  } finally {
    first.end("SIGKILL");
    second?.end("SIGKILL");
    await Promise.all([relay.cut(), phone.close()]);
    await rm(data, { recursive: true, force: true });
  }
}

const serve = (env: Readonly<Record<string, string>>): Supervised =>
  new Supervised([...NODE.command, PROGRAM, "serve"], env);

const clientOf = (base: string, token: string): Client => new Client({ base, document: undefined, output: "" }, token);

async function instance(client: Client): Promise<string> {
  const body = { name: "Front desk", provider: "sip/bench" };
  const { id } = expected(201, await client.post("/v1/instances", body)).json<InstanceView>();
  await client.waitForInstance(id, "ACTIVE");
  return id;
}

function heard(call: FarEndCall): Promise<unknown> {
  return until(
    () => call.voice?.packets.length ?? 0,
    (packets) => packets > 25,
    PATIENCE_MS,
    "audio of the call",
  );
}

const lastAt = (call: FarEndCall): number => call.voice?.packets.at(-1)?.at ?? 0;
