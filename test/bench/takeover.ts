import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findPostgres } from "../support/postgres.ts";
import { type Relay, relayTo } from "../support/relay.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { median } from "./median.ts";

const SERVER = fileURLToPath(new URL("./servers/owner.ts", import.meta.url));

/** How long nobody is dialled when the server of a database is gone and another one waits. */
export const TAKEOVER: Benchmark = {
  title: "Takeover of a PostgreSQL database by a server that waits",
  method: `Two processes with one database: the first owns it, with a live call and another one that waits behind it, the second is a standby.
The figure is the time from the end of the first one (a clean stop, \`kill -9\`, or its connections to the database cut for good) until the
second one dials the call that waits, in seconds and in lengths of the lease: the median of the rounds. Cut off, the first server must have hung up
before that.`,
  options: {
    rounds: { says: "rounds of each", value: 3, quick: 1 },
    lease: { says: "length of the lease, s", value: 10, quick: 3 },
  },
  run: ({ rounds = 0, lease = 0 }) => benchTakeover(rounds, lease * 1000),
};

const ENDS = {
  "a clean stop": { mostMs: () => 2_500, end: ({ first }: Pair) => void first.child.send("stop") },
  "kill -9": { mostMs: (leaseMs: number) => 1.3 * leaseMs, end: ({ first }: Pair) => void first.child.kill("SIGKILL") },
  "a cut connection": { mostMs: (leaseMs: number) => 1.3 * leaseMs, end: ({ relay }: Pair) => void relay.cut() },
} as const;

async function benchTakeover(rounds: number, leaseMs: number): Promise<Row[]> {
  const source = await findPostgres();
  if (source.missing !== undefined) throw new Error(source.missing);
  const postgres = await source.start();
  const rows: Row[] = [];
  const margins: number[] = [];
  try {
    for (const [name, { mostMs, end }] of Object.entries(ENDS)) {
      const taken: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        progress(`${name}, round ${round} of ${rounds}`);
        const pair = await Pair.start(await postgres.createDatabase(), leaseMs);
        try {
          const from = performance.now();
          end(pair);
          const dialledAt = await pair.second.told("dialled");
          taken.push(dialledAt - from);
          if (name === "a cut connection") margins.push(dialledAt - (await pair.first.told("hung up")));
        } finally {
          await pair.end();
        }
      }
      rows.push(rowOf(name, median(taken), leaseMs, mostMs(leaseMs)));
    }
  } finally {
    await postgres.stop();
  }
  const margin = Math.min(...margins);
  return [
    ...rows,
    {
      what: "from the last hang-up of a server that is cut off until another one dials, at least",
      measured: `${(margin / 1000).toFixed(1)} s`,
      wanted: "> 0 s",
      reached: margin > 0,
    },
  ];
}

function rowOf(name: string, ms: number, leaseMs: number, mostMs: number): Row {
  return {
    what: `from ${name} until the next server dials`,
    measured: `${(ms / 1000).toFixed(1)} s (${(ms / leaseMs).toFixed(2)} leases)`,
    wanted: `≤ ${mostMs / 1000} s`,
    reached: ms <= mostMs,
  };
}

/** A server in a process of its own, and when it told what (ms of this process). */
class Owner {
  readonly child: ChildProcess;
  readonly #told = new Map<string, number>();
  readonly #gone: Promise<void>;
  #look: () => void = () => {};

  constructor(databaseUrl: string, leaseMs: number) {
    this.child = fork(SERVER, [databaseUrl, String(leaseMs)]);
    this.#gone = new Promise((resolve) => this.child.once("exit", () => resolve()));
    this.child.on("message", (message) => {
      this.#told.set(String(message), performance.now());
      this.#look();
    });
  }

  /** When it told this for the last time; waits for the first. */
  async told(what: string): Promise<number> {
    for (;;) {
      const at = this.#told.get(what);
      if (at !== undefined) return at;
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  async end(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#gone;
  }
}

/** The server that owns the database by way of a relay, talking, and the one that waits. */
class Pair {
  readonly relay: Relay;
  readonly first: Owner;
  readonly second: Owner;

  private constructor(relay: Relay, first: Owner, second: Owner) {
    this.relay = relay;
    this.first = first;
    this.second = second;
  }

  static async start(databaseUrl: string, leaseMs: number): Promise<Pair> {
    const relay = await relayTo(databaseUrl);
    const first = new Owner(relay.url, leaseMs);
    await first.told("running");
    const second = new Owner(databaseUrl, leaseMs);
    first.child.send("fill");
    await first.told("dialled");
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // the second one has met the lease, and waits
    return new Pair(relay, first, second);
  }

  async end(): Promise<void> {
    await Promise.all([this.first.end(), this.second.end()]);
    await this.relay.cut();
  }
}
