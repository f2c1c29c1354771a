import type { Listening, ServedApp, ServeOptions } from "../../server/listening.ts";

/** The server adapter for the runtime that this program runs on. */
export async function serverAdapter(): Promise<{ serve(app: ServedApp, options: ServeOptions): Promise<Listening> }> {
  if ("Bun" in globalThis) return import("../../server/bun.ts");
  if ("Deno" in globalThis) return import("../../server/deno.ts");
  return import("../../server/node.ts");
}
