import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { mustRun, run } from "../package/support/run.ts";
import { freePort } from "../support/free-port.ts";
import { start } from "../support/runtimes.ts";
import { until } from "../support/server-client.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clientOf, folder, runtimeNamed, tokenOfCommandLine } from "./example.ts";
import { begin } from "./program.ts";
import { expectTone, placeToneCall } from "./tone-call.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUN = join(ROOT, "test/examples/run.ts");
const node = runtimeNamed("node26");

describe.skipIf(node.missing)(`the examples README, on ${node.title}`, () => {
  test("an Express app of five lines places a heard call", async () => {
    const [, lines = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? [];
    expect(lines.split("\n").filter(Boolean)).toHaveLength(5);
    const port = await freePort();
    rmSync(join(folder, "data"), { recursive: true, force: true });
    writeFileSync(join(folder, "five-lines.ts"), lines.replace("8080", String(port)));
    const app = begin(node, ["five-lines.ts"], folder);
    onTestFinished(app.end);
    const base = `http://127.0.0.1:${port}`;
    const ready = () => fetch(`${base}/healthz`).then(({ status }) => status, String);
    await until(ready, (status) => status === 200, 20_000, "the app");
    const client = clientOf(app, base, await tokenOfCommandLine(folder));
    expectTone(await client.heard(await placeToneCall(client)));
  });

  test("npm run example starts bun-server in a clone", async () => {
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const cwd = temporaryFolder("clone");
    const server = await start(node, RUN, { args: ["bun-server"], cwd, env: { PATH } });
    onTestFinished(async () => void (await server.stop())); // whoever is killed cannot end what he has started
    const created = [...node.command, join(ROOT, "adapters/cli/main.ts"), "token", "create", "--user", "me"];
    const client = clientOf(server, server.url, (await mustRun(created, { cwd })).trim());
    expectTone(await client.heard(await placeToneCall(client)));
    expect(await server.stop()).toBe(0);
  });

  test("npm run example lists the examples for an unknown name", async () => {
    const { code, stderr } = await run([...node.command, RUN, "no-such"], { cwd: ROOT });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^"no-such" is no example .*: .*bun-server, .*your-own-storage, your-own-telephony$/m);
  });
});
