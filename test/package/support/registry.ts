import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Packed } from "./pack.ts";
import { mustRun } from "./run.ts";

/**
 * Starts a registry on loopback that has this package, and redirects to the usual registry for all others; it ends with
 * the test file. Deno cannot install a tarball, so it gets the package as users will. Returns the URL.
 */
export async function registryOf({ tarball, folder }: Packed): Promise<string> {
  const file = readFileSync(tarball);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const usualUrl = await usualRegistry(folder);
  const integrity = `sha512-${createHash("sha512").update(file).digest("base64")}`;
  const server = createServer(({ url = "", headers }, response) => {
    if (url === `/${manifest.name}`) {
      const dist = { tarball: `http://${headers.host}/${manifest.name}/-/package.tgz`, integrity };
      const versions = { [manifest.version]: { ...manifest, dist } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
    } else if (url === `/${manifest.name}/-/package.tgz`) response.end(file);
    else response.writeHead(302, { location: usualUrl.replace(/\/$/, "") + url }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** The registry configured for npm on this machine. */
async function usualRegistry(cwd: string): Promise<string> {
  return (await mustRun(["npm", "config", "get", "registry"], { cwd })).trim();
}
