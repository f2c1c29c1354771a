import { availableParallelism } from "node:os";
import { type Logger, realSystem, type System } from "../ports.ts";
import type { MediaEngine } from "./engine.ts";
import { createThreadEngine } from "./thread-engine.ts";
import { MediaThreads } from "./worker/media-threads.ts";

/** The thread that carries the audio of calls: the main thread, or separate workers. */
export type MediaPlace = "thread" | "worker" | "auto";

/** Options of {@link createEngine}. */
export interface CreateEngineOptions {
  readonly system: System;
  readonly logger: Logger;
  /** Default: `auto`, workers if there is more than one processor and the clock is real; otherwise this thread. */
  readonly place?: MediaPlace | undefined;
  /** Maximum number of workers. Default: one fewer than the processors, at least 1. */
  readonly threads?: number | undefined;
  /** Time without a call after which all workers but one end, ms. Default: 300,000. */
  readonly idleMs?: number | undefined;
  /** Entry of the workers. Default: its own file. */
  readonly entry?: URL | undefined;
}

/** Creates the engine; its first worker takes calls. */
export async function createEngine({
  system,
  logger,
  place = "auto",
  threads: maxThreads = availableParallelism() - 1,
  idleMs,
  entry,
}: CreateEngineOptions): Promise<MediaEngine> {
  const prefersThread = availableParallelism() < 2 || system !== realSystem;
  if (place === "thread" || (place === "auto" && prefersThread)) {
    return createThreadEngine({ system, refusesWhenLate: true });
  }
  const threads = new MediaThreads({ system, logger, maxThreads, idleMs, entry });
  await threads.start();
  return threads;
}
