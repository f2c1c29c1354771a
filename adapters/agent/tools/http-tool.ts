import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { HttpToolOptions } from "../../../src/options.ts";
import { type AgentTool, ToolFailed } from "../../../src/ports/agent-tool.ts";
import { causeOf, quoteOf, type Secrets, withoutSecrets } from "../../provider-http/fault-text.ts";
import { OPERATOR, type PublicConnectionOptions, publicConnection } from "../../untrusted-hosts/public-connection.ts";
import { urlTemplate } from "./url-template.ts";

/** Maximum size of a response that is read, bytes. */
const MAX_BYTES = 16_384;

/**
 * A tool that sends an HTTP request to a fixed server. Its header values stay private: they are hidden in responses and
 * errors.
 */
export function httpTool(options: HttpToolOptions, connection: PublicConnectionOptions): AgentTool {
  const { name, description, parameters, timeoutMs, method = "GET", headers = {} } = options;
  const template = urlTemplate(options.url);
  if (template === undefined) throw new TypeError(`the tool ${name} has no usable url`);
  const secrets = secretsOf(headers);
  return {
    name,
    description,
    parameters,
    timeoutMs,
    async run(input, { signal }) {
      const { path, unusedArguments } = template.fill(input);
      const target =
        method === "GET"
          ? { path: withQuery(path, unusedArguments), body: undefined }
          : { path, body: JSON.stringify(unusedArguments) };
      const request = { origin: template.origin, method, headers, ...target };
      const { status, text, isComplete } = await httpExchange(request, connection, MAX_BYTES, signal).catch((error) => {
        // A new error: properties of the old one may contain data from the server.
        throw new Error(withoutSecrets(`the server of the tool ${name} failed: ${causeOf(error)}`, secrets));
      });
      const redactedText = withoutSecrets(text, secrets);
      if (status >= 300 && status < 400)
        throw new ToolFailed(`the server responded with ${status}, a redirect, which is not followed`);
      if (status < 200 || status >= 400) {
        const quote = quoteOf(redactedText);
        throw new ToolFailed(`the server responded with ${status}${quote && `: ${quote}`}`);
      }
      if (!isComplete) throw new ToolFailed(`the response has more than ${MAX_BYTES} bytes, which is the limit`);
      return resultOf(redactedText);
    },
  };
}

/** The parsed JSON, otherwise the text; null if the text is empty. */
function resultOf(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withQuery(path: string, input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== null) query.append(name, typeof item === "object" ? JSON.stringify(item) : String(item));
  if (query.size === 0) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** The header values, with and without their scheme ("Bearer"), and as escaped in JSON. */
function secretsOf(headers: Readonly<Record<string, string>>): Secrets {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/).slice(1)]);
  const escaped = parts.map((part) => JSON.stringify(part).slice(1, -1));
  // Longest first, so that a whole value is hidden before a part of it.
  return [...new Set([...parts, ...escaped])].sort((a, b) => b.length - a.length);
}

/** A request to a fixed server. */
interface HttpRequest {
  readonly origin: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for none. */
  readonly body: string | undefined;
}

/** Response of the server. */
interface HttpResponse {
  readonly status: number;
  readonly text: string;
  /** True if the text is the complete body; the rest of a larger body is not read. */
  readonly isComplete: boolean;
}

/**
 * Sends a request over a new connection, and reads its response; redirects are not followed.
 * @param maxBytes maximum body size to read, bytes
 * @throws {Error} the host is not public or cannot be reached, or the signal was aborted
 */
async function httpExchange(
  { origin, path, method, headers, body }: HttpRequest,
  connection: PublicConnectionOptions,
  maxBytes: number,
  signal: AbortSignal,
): Promise<HttpResponse> {
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
  const onAbort = () => void request.destroy(new Error("the request was aborted"));
  signal.addEventListener("abort", onAbort);
  try {
    return await new Promise<HttpResponse>((resolve, reject) => {
      request.on("error", reject);
      request.on("response", (response) => {
        const pieces: Uint8Array[] = [];
        let size = 0;
        const settle = (isComplete: boolean) => {
          const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, maxBytes));
          resolve({ status: response.statusCode ?? 0, text, isComplete });
        };
        response.on("data", (piece: Uint8Array) => {
          if (size > maxBytes) return;
          size += piece.length;
          pieces.push(piece);
          if (size > maxBytes) settle(false);
        });
        response.on("end", () => settle(true));
        response.on("error", reject);
        response.on("close", () => reject(new Error("the response was cut off")));
      });
      request.end(bytes);
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    request.destroy();
  }
}
