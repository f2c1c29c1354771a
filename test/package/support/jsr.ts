import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { commandOf } from "./consumer.ts";
import { mustRun } from "./run.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Runs `deno publish` against a local registry, and returns the archive that JSR would receive. Its types
 * are not checked: the dry run of a release does that (release.test.ts).
 */
export async function packForJsr(name: string): Promise<Uint8Array> {
  let archive: Uint8Array | undefined;
  const [scope, packageName] = name.slice(1).split("/");
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    response.setHeader("content-type", "application/json");
    if (request.method === "POST") {
      archive = new Uint8Array(Buffer.concat(parts));
      response.end(JSON.stringify({ id: "0", status: "success", error: null }));
    } else if (request.url?.includes("/versions/")) {
      response.statusCode = 404;
      response.end(JSON.stringify({ code: "notFound", message: "" }));
    } else
      response.end(
        JSON.stringify({ scope, name: packageName, description: "", createdAt: new Date(), latestVersion: null }),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const [deno = "deno"] = commandOf("deno");
    await mustRun([deno, "publish", "--allow-dirty", "--no-check", "--no-provenance", "--token", "none"], {
      cwd: ROOT,
      env: { JSR_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  if (archive === undefined) throw new Error("deno publish sent nothing");
  return archive;
}
