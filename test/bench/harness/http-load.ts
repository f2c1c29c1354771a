import { connect, type Socket } from "node:net";
import { type TimeSpent, timeSpent } from "./resources.ts";

/** A request as the bytes on the wire; a body is sent as JSON. */
export function requestBytes(method: string, path: string, token?: string, body?: unknown): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost"];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  const text = body === undefined ? "" : JSON.stringify(body);
  if (body !== undefined) lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${text}`);
}

/**
 * A keep-alive connection to a server. A bare socket needs a fifth of the processor time of a load generator from npm,
 * and the load shares two cores with the server.
 * @param onResponse called with the status of each response, in the order of the requests
 */
export async function openConnection(
  url: string,
  onResponse: (status: number) => void,
  onLost: (error: Error) => void,
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", onLost);
  socket.on("end", () => onLost(new Error(`${url} ended a connection`)));
  let unreadBytes: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    unreadBytes = unreadBytes.length === 0 ? chunk : Buffer.concat([unreadBytes, chunk]);
    for (;;) {
      const headEnd = unreadBytes.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const head = unreadBytes.toString("latin1", 0, headEnd);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (length === undefined) return onLost(new Error(`a response has no Content-Length:\n${head}`));
      const end = headEnd + 4 + Number(length);
      if (unreadBytes.length < end) return;
      unreadBytes = unreadBytes.subarray(end);
      onResponse(Number(head.slice(9, 12)));
    }
  });
  return socket;
}

/** Load of a server. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  /** Processor time of the server's process for one request, µs; undefined if the system does not report it. */
  readonly processorMicros: number | undefined;
}

/** Processor time of one request if the system reports it, else time, µs. */
export function costOf({ processorMicros, perSecond }: Load): number {
  return processorMicros ?? 1e6 / perSecond;
}

export interface ClosedLoop {
  readonly url: string;
  readonly pid: number;
  readonly connections: number;
  readonly ms: number;
  /** Makes the bytes of the next request. */
  next(): Buffer;
  /** The status that every response must have. */
  readonly status: number;
}

/** Each connection sends its next request as soon as it has read a response. @throws {Error} an unexpected response */
export async function closedLoop({ url, pid, connections, ms, next, status }: ClosedLoop): Promise<Load> {
  const { promise: completion, resolve, reject } = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  let requests = 0;
  let runningConnections = connections;
  let isStopping = false;
  const send = (socket: Socket): void => {
    if (!isStopping) socket.write(next());
    else if (--runningConnections === 0) resolve();
  };
  for (let n = 0; n < connections; n++) {
    const onResponse = (actual: number): void => {
      requests++;
      if (actual !== status) reject(new Error(`${url} responded with ${actual} instead of ${status}`));
      send(socket);
    };
    const socket: Socket = await openConnection(url, onResponse, reject);
    sockets.push(socket);
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const timeUsed: TimeSpent = await timeSpent(pid, () => {
      for (const socket of sockets) send(socket);
      timer = setTimeout(() => {
        isStopping = true;
      }, ms);
      return completion;
    });
    const { seconds, processor } = timeUsed;
    const processorMicros = processor === undefined ? undefined : (processor / requests) * 1e6;
    return { requests, perSecond: requests / seconds, processorMicros };
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}

export interface OpenLoop {
  readonly url: string;
  /** Requests per second, sent even if the server falls behind. */
  readonly perSecond: number;
  readonly seconds: number;
  next(): Buffer;
  /** The status that every response must have. */
  readonly status: number;
}

/** Interval at which due requests are sent, ms. */
const TICK_MS = 1;
/** Connections that are open before the first request; more are opened when all of them are busy. */
const CONNECTIONS = 256;

/**
 * Sends requests on a fixed schedule. A due request is sent even while others are pending, and its latency counts from its due time.
 * @returns latencies, ms
 * @throws {Error} an unexpected response, or a connection that was lost
 */
export async function openLoop({ url, perSecond, seconds, next, status }: OpenLoop): Promise<number[]> {
  const { promise: completion, resolve, reject } = Promise.withResolvers<void>();
  const total = perSecond * seconds;
  const latencies: number[] = [];
  const idleConnections: { socket: Socket; due: number }[] = [];
  const sockets: Socket[] = [];

  async function open(): Promise<{ socket: Socket; due: number }> {
    const onResponse = (actual: number): void => {
      if (actual !== status) reject(new Error(`${url} responded with ${actual} instead of ${status}`));
      latencies.push(performance.now() - connection.due);
      idleConnections.push(connection);
      if (latencies.length === total) resolve();
    };
    // A server may end an idle connection; only a response must not be lost.
    const onLost = (error: Error): void => {
      const index = idleConnections.indexOf(connection);
      if (index < 0) reject(error);
      else idleConnections.splice(index, 1);
    };
    const connection = { socket: await openConnection(url, onResponse, onLost), due: 0 };
    sockets.push(connection.socket);
    return connection;
  }

  async function send(dueAt: number): Promise<void> {
    const connection = idleConnections.pop() ?? (await open());
    connection.due = dueAt;
    connection.socket.write(next());
  }

  for (let n = 0; n < CONNECTIONS; n++) idleConnections.push(await open());
  const startedAt = performance.now();
  let sentCount = 0;
  const clock = setInterval(() => {
    const dueCount = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    for (; sentCount < dueCount; sentCount++) send(startedAt + (sentCount / perSecond) * 1000).catch(reject);
  }, TICK_MS);
  try {
    await completion;
  } finally {
    clearInterval(clock);
    for (const socket of sockets) socket.destroy();
  }
  return latencies;
}
