import { connect, type Socket } from "node:net";

/** What came back on a raw connection. */
export interface RawAnswer {
  readonly text: string;
  /** When the server ended the connection, ms after the first byte of the answer; undefined: it did not. */
  readonly endedAfterMs: number | undefined;
}

/** How a raw request is sent. */
export interface RawOptions {
  /** Sent again and again behind the request. */
  readonly drip?: string;
  readonly everyMs?: number;
  /** How long to wait for the end of the connection. */
  readonly ms?: number;
}

/** Sends raw bytes and returns what comes back until the server ends the connection, or `ms` have passed. */
export function raw(
  port: number,
  bytes: string | Buffer,
  { drip, everyMs = 50, ms = 1_000 }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    let firstAt: number | undefined;
    let endedAfterMs: number | undefined;
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), everyMs);
    const ended = (): void => {
      endedAfterMs ??= performance.now() - (firstAt ?? performance.now());
      done();
    };
    const done = (): void => {
      clearInterval(dripping);
      clearTimeout(late);
      socket.destroy();
      resolve({ text, endedAfterMs });
    };
    const late = setTimeout(done, ms);
    socket.on("data", (data) => {
      firstAt ??= performance.now();
      text += data;
    });
    socket.on("error", () => {});
    socket.on("end", ended);
    socket.on("close", ended);
  });
}
