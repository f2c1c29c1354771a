import { nodeSqlite } from "./node-sqlite.ts";

/** Commits after which a worker moves the WAL into the database: SQLite itself would at about as many. */
const CHECKPOINT_COMMITS = 100;
/**
 * Pages of the WAL, 4,096 bytes each, at which SQLite moves it during a commit, which then blocks the event loop for
 * tens of milliseconds: more than workers leave, large audio files included, unless all of them are busy.
 */
export const MAX_WAL_PAGES = 4_000;
const JOB_TIMEOUT_MS = 60_000;
/** Time to wait for another checkpoint, ms. */
const BUSY_MS = 2_000;

/** The part of a worker pool that checkpoints use, such as `WorkerPool`. */
export interface CheckpointWorkers {
  run(
    job: { readonly kind: "checkpoint" } & CheckpointJobs["checkpoint"]["input"],
    options: { readonly timeoutMs: number },
  ): AsyncIterable<never>;
}

/** The job of {@link WalCheckpoints}. */
export interface CheckpointJobs {
  checkpoint: { readonly input: { readonly path: string }; readonly piece: never };
}

/** Moves commits from the WAL into the database, away from the thread that carries audio. */
export class WalCheckpoints {
  readonly #workers: CheckpointWorkers;
  readonly #path: string;
  #commits = 0;
  #running: Promise<void> | undefined;

  constructor(workers: CheckpointWorkers, path: string) {
    this.#workers = workers;
    this.#path = path;
  }

  /** Called after each commit. */
  onCommit(): void {
    if (++this.#commits < CHECKPOINT_COMMITS || this.#running) return;
    this.#commits = 0;
    this.#running = this.#run();
  }

  /** Resolves when no checkpoint is running. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      const job = { kind: "checkpoint", path: this.#path } as const;
      for await (const _ of this.#workers.run(job, { timeoutMs: JOB_TIMEOUT_MS }));
    } catch {
      // Nothing is lost: a later checkpoint moves these commits too.
    } finally {
      this.#running = undefined;
    }
  }
}

/** Moves as much of the WAL as no reader or writer still needs, without waiting for either. */
export async function checkpointJob({ path }: CheckpointJobs["checkpoint"]["input"]): Promise<void> {
  const { DatabaseSync } = await nodeSqlite();
  const database = new DatabaseSync(path);
  try {
    database.exec(`pragma busy_timeout = ${BUSY_MS}; pragma wal_autocheckpoint = 0`);
    database.prepare("pragma wal_checkpoint(passive)").get();
  } finally {
    database.close();
  }
}
