// `node .ci/side-by-side.ts COMMAND…`: runs commands at the same time, each as one argument, and prints what each has printed
// when it is over. Ends with 1 if one of them failed.
import { spawn } from "node:child_process";
import process from "node:process";

async function succeeds(command: string): Promise<boolean> {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => printed.push(piece));
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  process.stdout.write(`> ${command}\n${Buffer.concat(printed)}`);
  return code === 0;
}

const verdicts = await Promise.all(process.argv.slice(2).map(succeeds));
process.exitCode = verdicts.every(Boolean) ? 0 : 1;
