import { createServer } from "node:http";

/** Handler of the runtimes' own servers: returns JSON text, or undefined for a refusal. */
export type TextHandler = (path: string, authorization: string | undefined) => string | undefined;

// The parts of Bun and Deno that are used here.
declare const Bun: { serve(options: object): { readonly port: number } };
interface DenoNamespace {
  serve(options: object, handler: (request: Request) => Response): { readonly addr: { readonly port: number } };
}

/**
 * Serves as in each runtime's documentation, without further code; returns the port.
 * @param headers header fields of each response
 */
export async function serveText(
  respond: TextHandler,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
): Promise<number> {
  const { Deno } = globalThis as unknown as { Deno?: DenoNamespace };
  const fetch = (request: Request): Response => {
    const path = request.url.slice(request.url.indexOf("/", 8));
    const body = respond(path, request.headers.get("authorization") ?? undefined);
    if (body === undefined) return new Response(null, { status: 401 });
    return new Response(body, { headers: { ...headers } });
  };
  if ("Bun" in globalThis) return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch }).port;
  if (Deno) return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, fetch).addr.port;

  const server = createServer((request, response) => {
    const body = respond(request.url ?? "/", request.headers.authorization);
    if (body === undefined) {
      response.writeHead(401, { "content-length": 0 }).end();
      return;
    }
    response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}
