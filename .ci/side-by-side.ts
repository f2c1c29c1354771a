// `node .ci/side-by-side.ts COMMAND… [--live COMMAND]`: runs commands (one argument each) at the same time, and prints
// each one's output when it has finished, failures last. The live command's output is printed as it arrives, before all
// others. Exits with 1 if one of them failed.
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";

const {
  positionals: commands,
  values: { live },
} = parseArgs({ allowPositionals: true, options: { live: { type: "string" } } });
const failedCommands: string[] = [];

/** The exit code; null if the command was killed or could not start. */
function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
}

async function run(command: string, liveEnded: Promise<void>): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => pieces.push(piece));
  const code = await exitCodeOf(child);
  const output = `> ${command}\n${Buffer.concat(pieces)}`;
  await liveEnded;
  if (code === 0) process.stdout.write(output);
  else failedCommands.push(output);
}

async function runLive(command: string): Promise<void> {
  const code = await exitCodeOf(spawn(command, { shell: true, stdio: ["ignore", "inherit", "inherit"] }));
  if (code !== 0) failedCommands.push(`> ${command}\nfailed: see above\n`);
}

const liveEnded = live === undefined ? Promise.resolve() : runLive(live);
await Promise.all([liveEnded, ...commands.map((command) => run(command, liveEnded))]);
process.stdout.write(failedCommands.join(""));
process.exitCode = failedCommands.length > 0 ? 1 : 0;
