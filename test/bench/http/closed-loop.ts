import type { Socket } from "node:net";
import { processorSeconds } from "../processor-time.ts";
import { openConnection } from "./connection.ts";

/** Result of a server under load. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  /** Processor time of the server's process for one request, µs; undefined if the system does not report it. */
  readonly processorMicros: number | undefined;
}

export interface ClosedLoop {
  readonly url: string;
  readonly pid: number;
  readonly connections: number;
  readonly ms: number;
  /** Makes the bytes of the next request; undefined ends the load early. */
  next(): Buffer | undefined;
  /** The status that every response has to have. */
  readonly status: number;
}

/** Each connection sends its next request as soon as it has read a response. @throws {Error} an unexpected response */
export async function closedLoop({ url, pid, connections, ms, next, status }: ClosedLoop): Promise<Load> {
  const sockets: Socket[] = [];
  let requests = 0;
  let running = 0;
  let over = false;
  let finish: (error?: Error) => void = () => {};
  const finished = new Promise<void>((resolve, reject) => {
    finish = (error) => (error ? reject(error) : resolve());
  });

  const send = (socket: Socket): void => {
    const bytes = over ? undefined : next();
    if (bytes) socket.write(bytes);
    else if (--running === 0) finish();
  };
  for (let n = 0; n < connections; n++) {
    const socket: Socket = await openConnection(
      url,
      (got) => {
        requests++;
        if (got !== status) finish(new Error(`${url} answered ${got} instead of ${status}`));
        send(socket);
      },
      (error) => finish(error),
    );
    sockets.push(socket);
  }

  const processorBefore = processorSeconds(pid);
  const from = performance.now();
  running = sockets.length;
  for (const socket of sockets) send(socket);
  const timer = setTimeout(() => {
    over = true;
  }, ms);
  try {
    await finished;
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
  const seconds = (performance.now() - from) / 1000;
  const processor = processorSeconds(pid);
  return {
    requests,
    perSecond: requests / seconds,
    processorMicros:
      processor === undefined || processorBefore === undefined
        ? undefined
        : ((processor - processorBefore) / requests) * 1e6,
  };
}
