import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { OPERATOR, type PublicConnectionOptions, publicConnection } from "../../public-http/public-connection.ts";

/** A request to a fixed server. */
export interface HttpRequest {
  readonly origin: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for none. */
  readonly body: string | undefined;
}

/** What came back. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Whether the text is the whole body; the rest of a larger one is not read. */
  readonly whole: boolean;
}

/**
 * Sends a request over a new connection, and reads its answer; redirects are not followed.
 * @param mostBytes the longest body that is read, bytes
 * @throws {Error} the host is not public, it cannot be reached, or the signal was aborted
 */
export async function httpExchange(
  { origin, path, method, headers, body }: HttpRequest,
  connection: PublicConnectionOptions,
  mostBytes: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const url = new URL(origin);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body);
  const request = send({
    ...publicConnection(url, connection, { user: OPERATOR, signal }),
    method,
    path,
    headers: {
      accept: "application/json, text/plain",
      ...headers,
      host: url.host,
      "accept-encoding": "identity",
      connection: "close",
      ...(bytes && { "content-type": "application/json", "content-length": String(bytes.length) }),
    },
  });
  const ended = () => void request.destroy(new Error("the request was ended"));
  signal.addEventListener("abort", ended);
  try {
    return await new Promise<HttpAnswer>((resolve, reject) => {
      request.on("error", reject);
      request.on("response", (response) => {
        const pieces: Uint8Array[] = [];
        let size = 0;
        const settle = (whole: boolean) => {
          const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, mostBytes));
          resolve({ status: response.statusCode ?? 0, text, whole });
        };
        response.on("data", (piece: Uint8Array) => {
          if (size > mostBytes) return;
          size += piece.length;
          pieces.push(piece);
          if (size > mostBytes) settle(false);
        });
        response.on("end", () => settle(true));
        response.on("error", reject);
        response.on("close", () => reject(new Error("the response ended in the middle")));
      });
      request.end(bytes);
    });
  } finally {
    signal.removeEventListener("abort", ended);
    request.destroy();
  }
}
