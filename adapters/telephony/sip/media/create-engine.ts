import { availableParallelism } from "node:os";
import type { Logger } from "../../../../src/ports/logger.ts";
import { realSystem, type System } from "../../../../src/ports/system.ts";
import type { MediaEngine, MediaListener, MediaOptions, MediaSession, SendDeadline } from "./engine.ts";
import { createThreadEngine } from "./thread-engine.ts";
import { createWorkerEngine, type WorkerEngine } from "./worker/worker-engine.ts";

/** Where the audio of calls lives: in the thread that everything else runs in, or in one of its own. */
export type MediaPlace = "thread" | "worker" | "auto";

/** What an engine is made with. */
export interface CreateEngineOptions {
  readonly system: System;
  readonly logger: Logger;
  /** Default: `auto`, a worker where there is more than one processor; without the real clock this thread. */
  readonly place?: MediaPlace | undefined;
  /** What the worker runs; its own file unless given. */
  readonly entry?: URL | undefined;
}

/** The engine that was asked for; in this thread, and a line in the log, where a worker cannot be had, or is no more. */
export async function createEngine({
  system,
  logger,
  place = "auto",
  entry,
}: CreateEngineOptions): Promise<MediaEngine> {
  const alone = availableParallelism() < 2 || system !== realSystem;
  if (place === "thread" || (place === "auto" && alone)) return createThreadEngine({ system });
  try {
    return withFallback(await createWorkerEngine(system, entry), system, logger);
  } catch (fault) {
    warn(logger, fault);
    return createThreadEngine({ system });
  }
}

function withFallback(worker: WorkerEngine, system: System, logger: Logger): MediaEngine {
  let thread: MediaEngine | undefined;
  return {
    async open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession> {
      if (worker.alive) return await worker.open(options, listener, deadlines);
      if (thread === undefined) warn(logger, "it has died");
      thread ??= createThreadEngine({ system });
      return await thread.open(options, listener, deadlines);
    },
    async close(): Promise<void> {
      await Promise.all([worker.close(), thread?.close()]);
    },
  };
}

function warn(logger: Logger, reason: unknown): void {
  logger.warn({ reason }, "SIP audio runs in the thread of the application: its worker cannot be had");
}
