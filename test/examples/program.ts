import { type ChildProcess, spawn } from "node:child_process";
import { endWithThisProcess, type Runtime } from "../support/runtimes.ts";

/** A started program. */
export interface Program {
  /** Output so far on both streams. */
  output(): string;
  /** Output of the program after a successful end; otherwise rejects with an Error that shows the output. */
  readonly finalOutput: Promise<string>;
  /** Ends the program immediately. */
  end(): void;
}

/** Starts a script in a folder without waiting for its end. */
export function startProgram(
  runtime: Runtime,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Program {
  const [program, ...flags] = runtime.command;
  if (program === undefined) throw new Error(`${runtime.name} cannot be started: ${runtime.missing}`);
  const child: ChildProcess = spawn(program, [...flags, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithThisProcess(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const finalOutput = new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${args.join(" ")} ended with ${code} and printed:\n${output}`));
    });
  });
  finalOutput.catch(() => {}); // callers await it if they need to
  return { output: () => output, finalOutput: finalOutput, end: () => void child.kill("SIGKILL") };
}
