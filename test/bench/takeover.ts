import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { messageOf } from "../chaos/messages.ts";
import assertBuilt from "../support/built.ts";
import type { RunningPostgres } from "../support/postgres.ts";
import { relayTo } from "../support/relay.ts";
import { endWithThisProcess, run } from "../support/runtimes.ts";
import { Client, expected, type InstanceView, until } from "../support/server-client.ts";
import { callees, type FarEndCall, startFarEnd } from "../support/sip/far-end.ts";
import { benchmark, median, progress, type Row, row } from "./harness/benchmark.ts";
import { withPostgres } from "./harness/postgres.ts";
import { runtimeNamed } from "./harness/programs.ts";
import { inFolder } from "./harness/stored-data.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const NODE = runtimeNamed("node26");
/** Runs a program in a loop, and prints the process id of each run. */
const LOOP = 'while :; do "$@" & echo "pid $!"; wait $!; sleep 0.2; done';
const LOCAL_URL = /http:\/\/(127\.0\.0\.1|localhost):\d+/;
const WAITING = /; waiting/;
const TIMEOUT_MS = 60_000;
const MESSAGE = { type: "FIXED_AUDIO", tts: undefined, audio: { audioBase64: messageOf(60_000) } };
const MAX_MS = { "a clean stop": 3_000, "kill -9": 13_000, "a cut connection": 13_000 } as const;
type Loss = keyof typeof MAX_MS;

/** Time without calls after the server that is using a database is lost. */
export const TAKEOVER = benchmark({
  options: { losses: { meaning: "losses of each kind", value: 3, quick: 1 } },
  run: ({ losses }) => {
    assertBuilt();
    return withPostgres(async (postgres) => {
      const rows: Row[] = [];
      let overlapMs = 0;
      for (const loss of Object.keys(MAX_MS) as Loss[]) {
        const times: number[] = [];
        for (let n = 1; n <= losses; n++) {
          progress(`${loss}, ${n} of ${losses}`);
          const takeover = await measureTakeover(postgres, loss);
          times.push(takeover.ms);
          overlapMs = Math.max(overlapMs, takeover.overlapMs);
        }
        const [ms, max] = [median(times), MAX_MS[loss]];
        const figure = `from ${loss} to the INVITE of the next server`;
        rows.push(row(figure, `${(ms / 1000).toFixed(1)} s`, `≤ ${max / 1000} s`, ms <= max));
      }
      return [...rows, row("two calls talk at once", `${overlapMs.toFixed(0)} ms`, "0 ms", overlapMs === 0)];
    });
  },
});

/** One loss: time until the next server dialled, and overlap of the calls of two servers, ms. */
function measureTakeover(
  postgres: RunningPostgres,
  loss: Loss,
): Promise<{ readonly ms: number; readonly overlapMs: number }> {
  return inFolder(async (data) => {
    const url = await postgres.createDatabase();
    const [relay, phone] = await Promise.all([relayTo(url), startFarEnd({ callees: { "*": callees.answers } })]);
    const env = {
      PORT: "0",
      LOG_LEVEL: "warn",
      RINGPORT_DATA: data,
      RINGPORT_TELEPHONY: "sip",
      RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "bench", server: phone.uri, users: "*" }]),
      RINGPORT_QUEUE: "fifo",
      RINGPORT_DRAIN_MS: "0",
    };
    const first = new SupervisedServer({ ...env, DATABASE_URL: relay.url });
    let second: SupervisedServer | undefined;
    try {
      const base = await first.untilPrinted(LOCAL_URL);
      const args = ["token", "create", "--user", "bench"];
      const { stdout } = await run(NODE, PROGRAM, { args, env: { ...env, DATABASE_URL: url } });
      const clientAt = (address: string): Client =>
        new Client({ base: address, document: undefined, output: "" }, stdout.trim());
      const client = clientAt(base);
      const body = { name: "Front desk", provider: "sip/bench" };
      const { id } = expected(201, await client.post("/v1/instances", body)).json<InstanceView>();
      await client.waitForInstance(id, "ACTIVE");
      const firstCall = await client.call(id, MESSAGE);
      const firstLeg = await phone.call(0);
      await untilHeard(firstLeg);
      await client.call(id, MESSAGE);
      second = new SupervisedServer({ ...env, DATABASE_URL: url });
      await second.untilPrinted(WAITING);

      const printedBefore = first.lines.length;
      const lostAt = performance.now();
      if (loss === "a cut connection") await relay.cut();
      else if (loss === "kill -9") process.kill(first.pid, "SIGKILL");
      else first.end("SIGTERM");
      const secondLeg = await until(
        () => phone.calls[1]!,
        (call) => call !== undefined,
        TIMEOUT_MS,
        "the next server to dial",
        1,
      );
      const ms = secondLeg.requests[0]!.at - lostAt;
      await untilHeard(secondLeg);
      if (loss === "a cut connection") await relay.repair();
      // A killed server returns before its lease has expired, and may reacquire it.
      const address = await Promise.any([second.untilPrinted(LOCAL_URL), first.untilPrinted(LOCAL_URL, printedBefore)]);
      if (loss !== "a clean stop") await first.untilPrinted(WAITING, printedBefore);
      const { status, outcome } = await clientAt(address).readCall(firstCall.id);
      if (status !== "FAILED" || outcome?.reason !== "interrupted")
        throw new Error(`the call of the first server is ${status}/${outcome?.reason}`);
      if (phone.calls.length !== 2) throw new Error(`${phone.calls.length} calls arrived instead of 2`);
      const lastAt = firstLeg.voice?.packets.at(-1)?.at ?? 0;
      return { ms, overlapMs: Math.max(0, lastAt - secondLeg.voice!.packets[0]!.at) };
    } finally {
      first.end("SIGKILL");
      second?.end("SIGKILL");
      await Promise.all([relay.cut(), phone.close()]);
    }
  });
}

function untilHeard(call: FarEndCall): Promise<unknown> {
  return until(
    () => call.voice?.packets.length ?? 0,
    (packets) => packets > 25,
    TIMEOUT_MS,
    "audio of the call",
  );
}

/** A server behind a supervisor: a Bash loop that restarts it. */
class SupervisedServer {
  readonly #loop: ChildProcess;
  /** All lines printed so far. */
  readonly lines: string[] = [];

  constructor(env: Readonly<Record<string, string>>) {
    this.#loop = spawn("bash", ["-c", LOOP, "supervisor", ...NODE.command, PROGRAM, "serve"], {
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    endWithThisProcess(this.#loop);
    for (const input of [this.#loop.stdout!, this.#loop.stderr!])
      createInterface({ input }).on("line", (line) => this.lines.push(line));
  }

  /** Process id of the current run. */
  get pid(): number {
    return Number(this.lines.findLast((line) => line.startsWith("pid "))?.slice(4));
  }

  /** The first match. @param skip number of lines to skip */
  async untilPrinted(pattern: RegExp, skip = 0): Promise<string> {
    const find = () => this.lines.slice(skip).flatMap((line) => pattern.exec(line)?.[0] ?? [])[0];
    return (await until(find, (match) => match !== undefined, TIMEOUT_MS, `a line like ${pattern}`))!;
  }

  /** Ends the server and its supervisor; may be called twice. */
  end(signal: "SIGTERM" | "SIGKILL"): void {
    this.#loop.kill("SIGKILL");
    try {
      process.kill(this.pid, signal);
    } catch {} // it has ended
  }
}
