import { connect, type Socket } from "node:net";

/** Bytes received on a raw connection. */
export interface RawResponse {
  readonly text: string;
  /** Time until the server ended the connection, ms after the first byte of the response; undefined if it did not. */
  readonly endedAfterMs: number | undefined;
}

/** Options for sending a raw request. */
export interface RawOptions {
  /** Bytes sent repeatedly after the request. */
  readonly drip?: string;
  readonly everyMs?: number;
  /** Number of complete responses to wait for, instead of the end of the connection. */
  readonly responses?: number;
  /** Maximum wait, ms. Default: 1,000, or 5,000 with `responses`. */
  readonly ms?: number;
}

/**
 * Sends raw bytes; returns the bytes received until all responses are complete, the server closes the connection, or
 * `ms` have passed.
 */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { drip, everyMs = 50, responses = Infinity, ms = responses < Infinity ? 5_000 : 1_000 }: RawOptions = {},
): Promise<RawResponse> {
  return new Promise((resolve) => {
    let dripTimer: NodeJS.Timeout | undefined;
    const socket: Socket = connect(port, "127.0.0.1", () => {
      socket.write(bytes);
      if (drip !== undefined) dripTimer = setInterval(() => socket.write(drip), everyMs);
    });
    let text = "";
    let firstAt: number | undefined;
    let endedAfterMs: number | undefined;
    const onEnd = (): void => {
      endedAfterMs ??= performance.now() - (firstAt ?? performance.now());
      finish();
    };
    const finish = (): void => {
      clearInterval(dripTimer);
      clearTimeout(timeout);
      socket.destroy();
      resolve({ text, endedAfterMs });
    };
    const timeout = setTimeout(finish, ms);
    socket.on("data", (data) => {
      firstAt ??= performance.now();
      text += data;
      if (countWholeResponses(text) >= responses) finish();
    });
    socket.on("error", () => {});
    socket.on("end", onEnd);
    socket.on("close", onEnd);
  });
}

/** Number of complete responses that have a `Content-Length`, or neither body nor length. */
function countWholeResponses(text: string): number {
  let count = 0;
  for (let remainingBytes = Buffer.from(text); ; count++) {
    const head = remainingBytes.indexOf("\r\n\r\n") + 4;
    if (head < 4) return count;
    const length = Number(/^content-length: (\d+)/im.exec(remainingBytes.subarray(0, head).toString())?.[1] ?? 0);
    if (remainingBytes.length < head + length) return count;
    remainingBytes = remainingBytes.subarray(head + length);
  }
}
