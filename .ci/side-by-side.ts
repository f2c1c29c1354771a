// `node .ci/side-by-side.ts COMMAND…`: runs commands at the same time, each as one argument, and prints the output of each
// when it has finished, failures last. Exits with 1 if one of them failed.
import { spawn } from "node:child_process";
import process from "node:process";

const failed: string[] = [];

async function run(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => pieces.push(piece));
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  const printed = `> ${command}\n${Buffer.concat(pieces)}`;
  if (code === 0) process.stdout.write(printed);
  else failed.push(printed);
}

await Promise.all(process.argv.slice(2).map(run));
process.stdout.write(failed.join(""));
process.exitCode = failed.length > 0 ? 1 : 0;
