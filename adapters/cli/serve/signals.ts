import { basename } from "node:path";
import process from "node:process";

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
const PARENT_CHECK_MS = 500;

/**
 * Resolves with the first SIGINT or SIGTERM; the second one ends the process immediately. A SIGTERM to the npm process
 * that started this program (`npm start`) counts too.
 */
export function firstSignal(): Promise<keyof typeof SIGNAL_NUMBERS> {
  return new Promise((resolve) => {
    let isSignalled = false;
    const resolveWith = (name: keyof typeof SIGNAL_NUMBERS): void => {
      isSignalled = true;
      resolve(name);
    };
    for (const name of Object.keys(SIGNAL_NUMBERS) as (keyof typeof SIGNAL_NUMBERS)[])
      process.on(name, () => {
        if (isSignalled) process.exit(128 + SIGNAL_NUMBERS[name]);
        resolveWith(name);
      });
    // Ctrl-C also ends the shell; that does not count as a second signal.
    whenNpmExits(() => resolveWith("SIGTERM"));
  });
}

/** Handling of Ctrl-C and SIGTERM in a command that cleans up before it exits. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Exit code of an interrupted command: 130 after Ctrl-C. */
  exitCode(): number;
}

/** Listens for {@link firstSignal}. */
export function interruption(): Interruption {
  const controller = new AbortController();
  let code = 128 + SIGNAL_NUMBERS.SIGINT;
  void firstSignal().then((name) => {
    code = 128 + SIGNAL_NUMBERS[name];
    controller.abort();
  });
  return { signal: controller.signal, exitCode: () => code };
}

/**
 * Calls `run` when the npm process that started this program ends. npm passes SIGTERM only to its shell, which exits:
 * this process merely gets another parent.
 */
function whenNpmExits(run: () => void): void {
  const isScriptOfNpm = process.env.npm_lifecycle_script?.includes(basename(process.argv[1] ?? "?"));
  if (!isScriptOfNpm) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    run();
  }, PARENT_CHECK_MS);
  timer.unref();
}
