import { basename } from "node:path";
import process from "node:process";

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
const PARENT_CHECK_MS = 500;

/**
 * Resolves with the first SIGINT or SIGTERM; the second one ends the process at once. A SIGTERM to the npm process that
 * started this program (`npm start`) counts too.
 */
export function firstSignal(): Promise<keyof typeof NUMBERS> {
  return new Promise((resolve) => {
    let isSignalled = false;
    const resolveWith = (name: keyof typeof NUMBERS): void => {
      isSignalled = true;
      resolve(name);
    };
    for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[])
      process.on(name, () => {
        if (isSignalled) process.exit(128 + NUMBERS[name]);
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
  let code = 128 + NUMBERS.SIGINT;
  void firstSignal().then((name) => {
    code = 128 + NUMBERS[name];
    controller.abort();
  });
  return { signal: controller.signal, exitCode: () => code };
}

/** npm passes SIGTERM to its shell only, and the shell exits: this process just gets another parent. */
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
