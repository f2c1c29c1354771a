import type { Socket } from "node:net";
import { openConnection } from "./connection.ts";

export interface OpenLoop {
  readonly url: string;
  /** Requests per second, whatever the server does. */
  readonly perSecond: number;
  readonly seconds: number;
  next(): Buffer;
  /** The status that every response has to have. */
  readonly status: number;
}

/** Interval at which due requests are sent, ms. */
const TICK_MS = 1;
/** Connections that are open before the first request; more are opened when all of them are busy. */
const CONNECTIONS = 256;

/**
 * Sends requests on a fixed schedule. A due request is sent even while others are pending, and its
 * latency counts from the time at which it was due, not from when it could be sent.
 * @returns latencies, ms
 * @throws {Error} an unexpected response, or a connection that was lost
 */
export async function openLoop({ url, perSecond, seconds, next, status }: OpenLoop): Promise<number[]> {
  const total = perSecond * seconds;
  const latencies: number[] = [];
  const idle: { socket: Socket; due: number }[] = [];
  let settle: (error?: Error) => void = () => {};
  const finished = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });

  async function open(): Promise<{ socket: Socket; due: number }> {
    const onResponse = (got: number): void => {
      if (got !== status) settle(new Error(`${url} answered ${got} instead of ${status}`));
      latencies.push(performance.now() - connection.due);
      idle.push(connection);
      if (latencies.length === total) settle();
    };
    // A server may end a connection that nothing was asked on for a while; only an answer must not be lost.
    const onLost = (error: Error): void => {
      const at = idle.indexOf(connection);
      if (at < 0) settle(error);
      else idle.splice(at, 1);
    };
    const connection = { socket: await openConnection(url, onResponse, onLost), due: 0 };
    opened.push(connection.socket);
    return connection;
  }

  async function send(due: number): Promise<void> {
    const connection = idle.pop() ?? (await open());
    connection.due = due;
    connection.socket.write(next());
  }

  const opened: Socket[] = [];
  for (let n = 0; n < CONNECTIONS; n++) idle.push(await open());
  const from = performance.now();
  let sent = 0;
  const clock = setInterval(() => {
    const dueByNow = Math.min(total, Math.floor(((performance.now() - from) / 1000) * perSecond));
    for (; sent < dueByNow; sent++) send(from + (sent / perSecond) * 1000).catch(settle);
  }, TICK_MS);
  try {
    await finished;
  } finally {
    clearInterval(clock);
    for (const socket of opened) socket.destroy();
  }
  return latencies;
}
