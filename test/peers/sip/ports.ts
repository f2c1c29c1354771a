import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { until } from "../../support/server-client.ts";

const ADDRESS = "127.0.0.1";
/** Below the system's ephemeral ports and below our audio ports, so that no other program uses one. */
const [FIRST, LAST] = [10_000, 16_000];
/** Number of ports that suffices for all programs that one file of tests starts. */
const RANGE = 750;
let range: Promise<number> | undefined;
let nextOffset = 2;

/**
 * The first of `count` neighbouring ports, even, free for UDP and TCP. They are in a range that only this process uses: another process would also find them free until a program has bound them.
 */
export async function freePorts(count: number): Promise<number> {
  range ??= reserveRange();
  const start = await range;
  for (;;) {
    const offset = nextOffset + count > RANGE ? 2 : nextOffset;
    nextOffset = offset + count + (count % 2);
    const results = await Promise.all(Array.from({ length: count }, (_, i) => isFree(start + offset + i)));
    if (results.every(Boolean)) return start + offset;
  }
}

/** The first port of a range that no other process uses: the process that listens there owns it until its end. */
async function reserveRange(): Promise<number> {
  for (let start = FIRST; start + RANGE <= LAST; start += RANGE) {
    const server = await listen(start);
    if (!server) continue;
    server.unref();
    return start;
  }
  throw new Error(`all ranges of ports from ${FIRST} to ${LAST} are in use; end the test runs that are left over`);
}

/** Waits until a program listens at this port. Linux only; reads the kernel's tables, and does not touch the port. */
export async function untilListening(port: number, transport: "udp" | "tcp", withinMs = 5_000): Promise<void> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  await until(
    () =>
      readFileSync(`/proc/net/${transport}`, "utf8")
        .split("\n")
        .map((line) => line.trim().split(" ")[1] ?? ""),
    (addresses) => addresses.some((address) => `${address} `.endsWith(local)),
    withinMs,
    `a program to listen at ${transport} ${port}`,
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
  const server = await listen(port);
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  return udp && server !== undefined;
}

/** A server at this port; undefined if another process has it. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, ADDRESS, () => resolve(server));
  });
}
