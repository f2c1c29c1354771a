import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { inTurns } from "../../src/http/replies/in-turns.ts";
import { isInPieces } from "../../src/http/replies/reply.ts";
import type { Reply } from "../../src/ports/web.ts";
import { brokenApp } from "./fault.ts";
import { MAX_DRAINED_BYTES, MAX_DRAINED_MS } from "./listening.ts";
import { isUnread } from "./node-request.ts";

/**
 * Writes a response directly to the socket. A disconnected client is not an error.
 * @param stallMs longest time without the client reading a byte of the response
 */
export function writeReply(message: IncomingMessage, response: ServerResponse, reply: Reply, stallMs: number): void {
  if (response.destroyed || response.headersSent) return;
  response.on("error", () => {});
  response.setTimeout(stallMs); // then Node destroys the socket; its own limit applies again after the response
  const isEarly = isUnread(message);
  try {
    response.writeHead(reply.status, headersOf(reply, isEarly, message.method === "HEAD"));
  } catch {
    if (reply.status !== 500) writeReply(message, response, brokenApp(), stallMs);
    else response.destroy();
    return;
  }
  const { body } = reply;
  const end = isEarly ? () => drain(message, () => response.end()) : () => response.end();
  if (isInPieces(body)) {
    // The client detects the truncated body; a disconnected client is not an error.
    pipeline(inTurns(body), response, { end: false }).then(end, () => response.destroy());
    return;
  }
  if (!isEarly) {
    response.end(body);
    return;
  }
  if (body !== undefined && body.length > 0 && message.method !== "HEAD") response.write(body);
  else response.flushHeaders();
  end();
}

function headersOf(
  { status, headers, body }: Reply,
  isEarly: boolean,
  isHeadRequest: boolean,
): Record<string, string | number> {
  const isBodiless = isHeadRequest || status === 204 || status === 304 || status < 200;
  const length = isBodiless || headers["content-length"] !== undefined ? undefined : byteLength(body);
  return {
    ...headers,
    ...(length === undefined ? {} : { "content-length": length }),
    ...(isEarly ? { connection: "close" } : {}),
  };
}

function byteLength(body: Reply["body"]): number | undefined {
  if (body === undefined) return 0;
  return isInPieces(body) ? undefined : Buffer.byteLength(body);
}

/** Reads and discards the rest of the body, within limits, then continues. */
function drain(message: IncomingMessage, onDone: () => void): void {
  if (message.complete) {
    onDone();
    return;
  }
  let remainingBytes = MAX_DRAINED_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    message.off("data", countBytes).off("end", finish).off("close", finish).off("error", finish);
    message.on("error", () => {});
    onDone();
  };
  const countBytes = (chunk: Uint8Array): void => {
    remainingBytes -= chunk.byteLength;
    if (remainingBytes <= 0) finish();
  };
  const timer = setTimeout(finish, MAX_DRAINED_MS);
  message.on("data", countBytes).once("end", finish).once("close", finish).once("error", finish);
  message.resume();
}
