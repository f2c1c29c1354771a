import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Reply } from "../../src/ports/web.ts";
import { brokenApp } from "./fault.ts";
import { MOST_DRAINED_BYTES, MOST_DRAINED_MS, SMALL_REST } from "./listening.ts";
import { hasBody } from "./node-request.ts";

/** Writes a reply straight to the socket. A client that has gone is no error. */
export function writeReply(message: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.headersSent) return;
  response.on("error", () => {});
  const early = stillComing(message);
  try {
    response.writeHead(reply.status, headersOf(reply, early));
  } catch {
    if (reply.status !== 500) writeReply(message, response, brokenApp());
    else response.destroy();
    return;
  }
  const { body } = reply;
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) {
    // The client learns from the missing rest that it broke off, and one that has gone is no error.
    pipeline(body, response).catch(() => response.destroy());
    return;
  }
  if (!early) {
    response.end(body);
    return;
  }
  if (body !== undefined && body.length > 0 && message.method !== "HEAD") response.write(body);
  else response.flushHeaders();
  drain(message, () => response.end());
}

function headersOf({ status, headers, body }: Reply, early: boolean): Record<string, string | number> {
  const bodiless = status === 204 || status === 304 || status < 200;
  const length = bodiless || headers["content-length"] !== undefined ? undefined : byteLength(body);
  return {
    ...headers,
    ...(length === undefined ? {} : { "content-length": length }),
    ...(early ? { connection: "close" } : {}),
  };
}

function byteLength(body: Reply["body"]): number | undefined {
  if (body === undefined) return 0;
  return typeof body === "string" || body instanceof Uint8Array ? Buffer.byteLength(body) : undefined;
}

/** Whether the answer comes so early that the client may still be sending a large body. */
function stillComing(message: IncomingMessage): boolean {
  if (message.complete || !hasBody(message)) return false;
  const length = Number(message.headers["content-length"] ?? Infinity);
  return length > SMALL_REST;
}

/** Reads and drops what still comes, within bounds, then goes on. */
function drain(message: IncomingMessage, then: () => void): void {
  let left = MOST_DRAINED_BYTES;
  const done = (): void => {
    clearTimeout(timer);
    message.off("data", count).off("end", done).off("close", done).off("error", done);
    message.on("error", () => {});
    then();
  };
  const count = (chunk: Uint8Array): void => {
    left -= chunk.byteLength;
    if (left <= 0) done();
  };
  const timer = setTimeout(done, MOST_DRAINED_MS);
  message.on("data", count).once("end", done).once("close", done).once("error", done);
  message.resume();
}
