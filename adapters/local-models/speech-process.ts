import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { DENO_OBSTACLE, ENGINE_REMEDY, type EnginePackage } from "./engine-package.ts";
import type { FromHost, ToHost } from "./messages.ts";

/** Time to load the engine on a busy machine, ms. */
const START_MS = 60_000;
/** Time to wait for the last output of a process that has exited, ms. */
const OUTPUT_GRACE_MS = 500;
/** Time to wait for the exit of a process whose channel has closed, ms. */
const EXIT_MS = 2_000;
/** Number of last characters of the engine's output that are kept. */
const KEPT_BYTES = 2_048;
const MAX_QUOTED = 200;

/**
 * The program that a speech process runs. In the source tree, `speech-host.ts` is next to this file; the build bundles
 * this file into a chunk directly under `dist/`, next to the entry `speech-host.js`, so this module's extension
 * decides.
 */
const HOST = new URL(
  new URL(import.meta.url).pathname.endsWith(".ts") ? "./speech-host.ts" : "./speech-host.js",
  import.meta.url,
);

/** The end of a process. */
export interface ProcessEnd {
  /** Completes the sentence "the speech process …". */
  readonly reason: string;
  /** True if any other process would fail too: the engine is not installed, or no process can be started. */
  readonly isPermanent: boolean;
  /** True if the engine ended the process because of a model or a text; false if a signal from outside did. */
  readonly isEngineFault: boolean;
  /** Fix for the fault, as the end of the sentence "to fix it, …". */
  readonly fix?: string | undefined;
}

/**
 * A process that runs the engine. Native code may end it at any time, and the server only notices it afterwards.
 *
 * It lives from its construction until `onEnd`, which is called once, and never by `send`. Until then, its owner may
 * send; work sent to a process that is already dead ends with it. Only a signal from outside can stop the process,
 * because the engine reads no messages while it computes. The process does not keep the server alive.
 */
export class SpeechProcess {
  readonly #child: ChildProcess | undefined;
  readonly #onEnd: (end: ProcessEnd) => void;
  #startTimer: ReturnType<typeof setTimeout> | undefined;
  #exitTimer: ReturnType<typeof setTimeout> | undefined;
  #output = "";
  #hasEnded = false;

  constructor(
    packages: readonly EnginePackage[],
    { onMessage, onEnd }: { onMessage(message: FromHost): void; onEnd(end: ProcessEnd): void },
  ) {
    this.#onEnd = onEnd;
    try {
      const child = fork(fileURLToPath(HOST), [JSON.stringify(packages)], {
        // Sends samples without converting them to JSON.
        serialization: "advanced",
        // The engine logs to the pipes, even texts that it speaks; the WebAssembly build logs to standard output.
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        execArgv: [],
      });
      this.#child = child;
      child.on("message", (message: FromHost) => {
        if (this.#hasEnded) return;
        if (message.type === "ready") clearTimeout(this.#startTimer);
        if (message.type === "unavailable") this.#handleUnavailable(message.message);
        else onMessage(message);
      });
      child.on("error", (error) => {
        // Once the process has started, errors come from sending.
        if (child.pid === undefined) this.#handleStartFailure(error);
        else this.#handleClosedChannel();
      });
      child.on("disconnect", () => this.#handleClosedChannel());
      // The last output may arrive after the exit.
      child.on("close", (code, signal) => this.#handleExit(code, signal));
      child.on("exit", (code, signal) => setTimeout(() => this.#handleExit(code, signal), OUTPUT_GRACE_MS));
      for (const output of [child.stdout, child.stderr])
        output?.on("data", (text) => {
          this.#output = `${this.#output}${text}`.slice(-KEPT_BYTES);
        });
      // On Bun, only the child itself can be unreferenced.
      if (child.pid !== undefined)
        for (const handle of [child, child.channel, child.stdout, child.stderr])
          (handle as { unref?(): void } | null)?.unref?.();
      this.#startTimer = setTimeout(() => this.kill(`did not start within ${START_MS / 1_000} s`), START_MS);
      this.#startTimer.unref?.();
    } catch (error) {
      // The owner does not expect `onEnd` before the constructor returns.
      queueMicrotask(() => this.#handleStartFailure(error as Error));
    }
  }

  /** Process id; undefined if the process could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  send(message: ToHost): void {
    if (this.#hasEnded) return;
    try {
      this.#child?.send(message);
    } catch {
      this.#handleClosedChannel();
    }
  }

  /** Ends the process immediately. Idempotent. @param reason completes the sentence "the speech process …" */
  kill(reason: string): void {
    // Reports the end first: the channel of a killed process still accepts messages, but loses them.
    this.#end({ reason, isPermanent: false, isEngineFault: false });
    this.#child?.kill("SIGKILL");
  }

  #handleStartFailure(error: Error): void {
    this.#end({ ...failureOf(error), isPermanent: true, isEngineFault: false });
  }

  /**
   * A closed channel is noticed before the exit, which names the cause. A process that continues without its channel is
   * killed.
   */
  #handleClosedChannel(): void {
    if (this.#hasEnded) return;
    this.#exitTimer ??= setTimeout(() => this.kill("closed its channel"), EXIT_MS);
  }

  #handleUnavailable(message: string): void {
    const reason = `cannot load its engine: ${message}`;
    this.#end({ reason, fix: ENGINE_REMEDY, isPermanent: true, isEngineFault: false });
    this.#child?.kill("SIGKILL");
  }

  #handleExit(code: number | null, signal: NodeJS.Signals | null): void {
    // The process exits with 0 if its channel has closed.
    const isEngineFault =
      (signal === null && code !== 0) || signal === "SIGABRT" || signal === "SIGSEGV" || signal === "SIGILL";
    const lastOutput = isEngineFault ? lastOutputLine(this.#output) : "";
    const reason = `ended (${signal ?? code})${lastOutput === "" ? "" : `: ${lastOutput}`}`;
    this.#end({ reason, isPermanent: false, isEngineFault });
  }

  #end(end: ProcessEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#startTimer);
    clearTimeout(this.#exitTimer);
    this.#onEnd(end);
  }
}

/** The reason why no process could be started, with a fix if one is known. */
export function failureOf({ message }: Error): Pick<ProcessEnd, "reason" | "fix"> {
  return /run access|--allow-run/i.test(message) ? DENO_OBSTACLE : { reason: `cannot be started: ${message}` };
}

/** The last line of the engine's output, without its source location. */
function lastOutputLine(output: string): string {
  const line = output.split("\n").findLast((line) => line.trim() !== "") ?? "";
  return line
    .replace(/^\S+:\w+:\d+\s+/, "")
    .replace(/^\S+\.(?:cc|h):\S+\s+/, "")
    .trim()
    .slice(0, MAX_QUOTED);
}
