import { createSocket } from "node:dgram";
import { parentPort, Worker, workerData } from "node:worker_threads";

/** An RTP packet received by the remote end. */
export interface Arrival {
  /** Arrival time, ms of a monotonic clock. */
  readonly at: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** A remote end in a separate thread, which records and echoes packets regardless of this thread. */
export interface FarEnd {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Packets received so far. */
  arrivals(): Promise<readonly Arrival[]>;
  close(): Promise<void>;
}

export async function startFarEnd(): Promise<FarEnd> {
  const worker = new Worker(new URL(import.meta.url), { workerData: "far end" });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  const port = await next<number>();
  return {
    port,
    async arrivals() {
      const reply = next<readonly Arrival[]>();
      worker.postMessage("arrivals");
      return await reply;
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** The remote end itself, if this file runs in a worker. */
function runFarEnd(post: (message: unknown) => void, listen: (onRequest: () => void) => void): void {
  const arrivals: Arrival[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (bytes, from) => {
    if (bytes.length < 12 || (bytes[1]! >= 200 && bytes[1]! <= 204)) return; // RTCP
    arrivals.push({
      at: performance.now(),
      sequence: bytes.readUInt16BE(2),
      payload: Uint8Array.from(bytes.subarray(12)),
    });
    socket.send(bytes, from.port, from.address);
  });
  socket.on("error", () => {}); // the echo may have no receiver
  socket.bind(0, "127.0.0.1", () => post(socket.address().port));
  listen(() => post(arrivals));
}

if (workerData === "far end" && parentPort !== null) {
  const port = parentPort;
  runFarEnd(
    (message) => port.postMessage(message),
    (onRequest) => port.on("message", onRequest),
  );
}
