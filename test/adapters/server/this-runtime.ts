import type { Listening, ServedApp, ServeOptions } from "../../../adapters/server/listening.ts";

/** The runtime that runs this test. */
export const runtime: "node" | "bun" | "deno" = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";

/** Serves an application with this runtime's server adapter. */
export async function serveHere(app: ServedApp, options: ServeOptions = {}): Promise<Listening> {
  const { serve } =
    runtime === "bun"
      ? await import("../../../adapters/server/bun.ts")
      : runtime === "deno"
        ? await import("../../../adapters/server/deno.ts")
        : await import("../../../adapters/server/node.ts");
  return serve(app, { port: 0, ...options });
}
