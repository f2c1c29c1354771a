import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { until } from "../../support/server-client.ts";

const ADDRESS = "127.0.0.1";
/** Below what the system gives out by itself, and below the ports of our audio: nobody takes one in between. */
const [FIRST, LAST] = [10_000, 16_000];
let next = FIRST + (process.pid % 290) * 20;

/** The first of `count` neighbouring ports, even, free for UDP and TCP; none is given out twice. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = next;
    next = first + count + (count % 2);
    if (next > LAST) next = FIRST;
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(first + i)));
    if (free.every(Boolean)) return first;
  }
}

/** Waits until a program listens at this port. Linux only; asks the kernel, and does not touch the port. */
export async function listening(port: number, transport: "udp" | "tcp", withinMs = 5_000): Promise<void> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  await until(
    () =>
      readFileSync(`/proc/net/${transport}`, "utf8")
        .split("\n")
        .map((line) => line.trim().split(" ")[1] ?? ""),
    (all) => all.some((address) => `${address} `.endsWith(local)),
    withinMs,
    `something to listen at ${transport} ${port}`,
  ).catch((fault: Error) => {
    throw new Error(fault.message.split(";")[0]);
  });
}

async function isFree(port: number): Promise<boolean> {
  const udp = await new Promise<boolean>((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => resolve(false));
    socket.bind(port, ADDRESS, () => socket.close(() => resolve(true)));
  });
  const tcp = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, ADDRESS, () => server.close(() => resolve(true)));
  });
  return udp && tcp;
}
