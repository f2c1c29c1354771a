import { cpSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { start } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clientOf, folder, runtimeNamed, tokenOfCommandLine } from "./example.ts";
import { install } from "./installed.ts";
import { expectTone, placeToneCall } from "./tone-call.ts";

/** Next would install the last three automatically for TypeScript. */
const NEXT = ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"];
const TYPESCRIPT = ["typescript@6.0.3", "@types/node@22.20.5", "@types/react@19"];

const node = runtimeNamed("node26");

describe.skipIf(node.missing)(`next-route on ${node.title}`, () => {
  const app = temporaryFolder("next");
  beforeAll(async () => {
    cpSync(join(folder(), "next-route"), app, { recursive: true });
    await install(app, inject("packed").tarball, ...NEXT, ...TYPESCRIPT);
  }, 240_000);

  test("places an audible call through the dev server", { timeout: 120_000 }, async () => {
    const port = await freePort();
    const server = await start(node, "node_modules/next/dist/bin/next", {
      args: ["dev", "--hostname", "127.0.0.1", "--port", String(port)],
      cwd: app,
      env: { RINGPORT_PUBLIC_URL: `http://127.0.0.1:${port}/voice`, NEXT_TELEMETRY_DISABLED: "1" },
      readyTimeoutMs: 60_000,
    });
    onTestFinished(async () => void (await server.stop()));
    const root = await fetch(`${server.url}/voice`, { redirect: "manual" });
    expect([root.status, root.headers.get("location")]).toEqual([302, "/voice/docs"]);
    for (const method of ["HEAD", "OPTIONS"])
      expect((await fetch(`${server.url}/voice/healthz`, { method })).status).toBeLessThan(300);
    const client = clientOf(server, `${server.url}/voice`, await tokenOfCommandLine(app));
    expectTone(await client.heard(await placeToneCall(client)));
  });
});
