import { connect, type Socket } from "node:net";

/** Bytes received on a raw connection. */
export interface RawAnswer {
  readonly text: string;
  /** Time until the server ended the connection, ms after the first byte of the response; undefined if it did not. */
  readonly endedAfterMs: number | undefined;
}

/** Options for sending a raw request. */
export interface RawOptions {
  /** Sent repeatedly after the request. */
  readonly drip?: string;
  readonly everyMs?: number;
  /** Number of whole responses after which the end of the connection is not awaited. */
  readonly answers?: number;
  /** How long to wait for the end of the connection. Default: 1,000, or 5,000 with `answers`. */
  readonly ms?: number;
}

/** Sends raw bytes and returns the bytes received until the responses are whole, the server ends the connection, or `ms` have passed. */
export function raw(
  port: number,
  bytes: string | Buffer,
  { drip, everyMs = 50, answers = Infinity, ms = answers < Infinity ? 5_000 : 1_000 }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let dripping: NodeJS.Timeout | undefined;
    const socket: Socket = connect(port, "127.0.0.1", () => {
      socket.write(bytes);
      if (drip !== undefined) dripping = setInterval(() => socket.write(drip), everyMs);
    });
    let text = "";
    let firstAt: number | undefined;
    let endedAfterMs: number | undefined;
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
      if (wholeAnswers(text) >= answers) done();
    });
    socket.on("error", () => {});
    socket.on("end", ended);
    socket.on("close", ended);
  });
}

/** Number of whole responses with a `Content-Length`, or without body and length. */
function wholeAnswers(text: string): number {
  let count = 0;
  for (let rest = Buffer.from(text); ; count++) {
    const head = rest.indexOf("\r\n\r\n") + 4;
    if (head < 4) return count;
    const length = Number(/^content-length: (\d+)/im.exec(rest.subarray(0, head).toString())?.[1] ?? 0);
    if (rest.length < head + length) return count;
    rest = rest.subarray(head + length);
  }
}
