import { execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A process that echoes every datagram to its source. */
export interface Echo {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Its programming language. */
  readonly language: "C" | "JavaScript";
  stop(): Promise<void>;
}

/** Starts an echo in a separate process: in C if there is a compiler, otherwise in JavaScript on this runtime. */
export async function startEcho(): Promise<Echo> {
  const folder = await mkdtemp(join(tmpdir(), "ringport-echo-"));
  const program = join(folder, "echo");
  const source = fileURLToPath(new URL("./echo.c", import.meta.url));
  const compiled = await promisify(execFile)("cc", ["-O2", "-o", program, source]).then(
    () => true,
    () => false,
  );
  const self = fileURLToPath(import.meta.url);
  const [command, args] = compiled ? [program, []] : [process.execPath, [...process.execArgv, self]];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(Number(line)));
    child.once("error", reject);
    void exited.then(() => reject(new Error("the echo ended before it began")));
  });
  return {
    port,
    language: compiled ? "C" : "JavaScript",
    async stop() {
      child.stdin.end();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The echo itself, if this file is the program. */
function echo(): void {
  const socket = createSocket("udp4");
  socket.on("message", (packet, from) => socket.send(packet, from.port, from.address));
  socket.bind(0, "127.0.0.1", () => console.log(socket.address().port));
  process.stdin.on("end", () => process.exit(0)).resume();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) echo();
