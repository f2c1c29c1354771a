import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Runtime, runtimes, type ServerProcess, start } from "../../support/runtimes.ts";
import { cli, freshFolder, launch } from "./run-cli.ts";

const TOKEN = /rp_live_[0-9A-Za-z]{49}/;
const servers: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop("SIGKILL")));
});

async function serve(runtime: Runtime, env: Record<string, string>, args: readonly string[] = []) {
  const server = await start(runtime, cli, { args: ["serve", ...args], env, cwd: freshFolder() });
  servers.push(server);
  return server;
}

/** The runtime, started on a pseudo-terminal. */
function onTerminal({ command, name }: Runtime): Runtime {
  const words = [...command, cli, "serve"].map((word) => `'${word}'`).join(" ");
  // The extra argument after the script's name is the file in which `script` records the output.
  return { name, title: name, missing: undefined, command: ["script", "-qefc", words] };
}

const status = async (server: ServerProcess, token: string) =>
  (await fetch(`${server.url}/v1/instances`, { headers: { authorization: `Bearer ${token.trim()}` } })).status;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

const hasScript = spawnSync("script", ["--version"]).status === 0;
for (const runtime of runtimes.filter(({ name }) => name !== "node22"))
  describe.skipIf(runtime.missing)(`the first token on ${runtime.title}`, { timeout: 60_000 }, () => {
    test("is not printed to a pipe, but the command to create one is", async () => {
      const data = join(freshFolder(), "data");
      const server = await serve(runtime, { RINGPORT_DATA: data });
      await expect.poll(server.output, { timeout: 20_000 }).toContain("There is no token yet");
      expect(server.output()).not.toMatch(/rp_live_[0-9A-Za-z]/);
      const [line = ""] = server
        .output()
        .split("\n")
        .filter((line) => line.includes("token"));
      expect(line).toContain("ringport token create --user NAME");
      expect(line).toContain("RINGPORT_TOKEN_FILE=");
      expect(line.length).toBeLessThan(130);
      const args = ["token", "create", "--user", "ana"];
      const createRun = await launch(args, { env: { RINGPORT_DATA: data }, runtime }).finished;
      expect(await status(server, createRun.stdout)).toBe(200);
      await server.stop();
      const next = await serve(runtime, { RINGPORT_DATA: data });
      await expect.poll(next.output, { timeout: 20_000 }).toContain("  Stream");
      await expect.poll(async () => (await fetch(`${next.url}/readyz`)).status).toBe(200);
      await next.stop();
      expect(next.output()).not.toMatch(/token create|rp_live_/);
    });

    test.skipIf(!hasScript)("is printed on a terminal, with a first request", async () => {
      const folder = freshFolder();
      const env = { RINGPORT_DATA: join(folder, "data") };
      const server = await start(onTerminal(runtime), join(folder, "typescript"), { env, cwd: folder });
      servers.push(server);
      await expect.poll(server.output, { timeout: 20_000 }).toContain("curl -X POST");
      const [token = ""] = TOKEN.exec(server.output()) ?? [];
      expect(server.output()).toContain(`-H "Authorization: Bearer ${token}"`);
      expect(await status(server, token)).toBe(200);
    });

    test("is written to the named file, readable only by its owner", async () => {
      const folder = freshFolder();
      const [data, file] = [join(folder, "data"), join(folder, "the token")];
      const env = { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: file };
      const server = await serve(runtime, env);
      await expect.poll(server.output, { timeout: 20_000 }).toContain("curl -X POST");
      const token = readFileSync(file, "utf8");
      expect(token).toMatch(/^rp_live_[0-9A-Za-z]{49}\n$/);
      expect(modeOf(file)).toBe("600");
      expect(readdirSync(folder).sort()).toEqual(["data", "the token"]);
      expect(server.output()).not.toMatch(/rp_live_[0-9A-Za-z]/);
      const line = /^ {2}(curl .*)$/m.exec(server.output())?.[1] ?? "";
      const curl = spawnSync("bash", ["-c", line], { encoding: "utf8" });
      expect(JSON.parse(curl.stdout)).toMatchObject({ status: "CREATED" });
      await server.stop();
      const next = await serve(runtime, env);
      expect(await status(next, token)).toBe(200);
      expect(readFileSync(file, "utf8")).toBe(token);
    });

    if (runtime.name !== "node26") return; // the other tests do not depend on the runtime

    test("may be written to the data folder, and a flag can name the file", async () => {
      const data = join(freshFolder(), "data");
      const file = join(data, "token");
      const server = await serve(runtime, { RINGPORT_DATA: data }, ["--token-file", file]);
      await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
      expect(await status(server, readFileSync(file, "utf8"))).toBe(200);
    });

    test.for<[title: string, name: string, message: string, prepare: (folder: string) => void]>([
      ["an existing file", "notes", "remove the file", (folder) => writeFileSync(join(folder, "notes"), "mine")],
      ["a missing folder", "none/token", "its folder does not exist", () => {}],
    ])("%s is refused before anything is created", async ([, name, message, prepare]) => {
      const folder = freshFolder();
      prepare(folder);
      const before = readdirSync(folder);
      const env = { RINGPORT_DATA: join(folder, "data"), RINGPORT_TOKEN_FILE: join(folder, name) };
      const { code, stdout, stderr } = await launch(["serve"], { env, runtime }).finished;
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`RINGPORT_TOKEN_FILE is ${JSON.stringify(join(folder, name))}: `);
      expect(stderr).toContain(message);
      expect(readdirSync(folder)).toEqual(before);
    });

    test("no token is issued if its file cannot be written", async () => {
      const folder = freshFolder();
      const [data, file] = [join(folder, "data"), join(folder, "notes")];
      mkdirSync(data);
      writeFileSync(file, "mine");
      const { code, stderr } = await launch(["serve"], {
        env: { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: file },
        runtime,
      }).finished;
      expect(code).toBe(2);
      expect(stderr).toContain("remove the file or name another one");
      expect(readFileSync(file, "utf8")).toBe("mine");
      const otherFile = join(folder, "token");
      const server = await serve(runtime, { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: otherFile });
      await expect.poll(() => existsSync(otherFile), { timeout: 20_000 }).toBe(true);
      expect(await status(server, readFileSync(otherFile, "utf8"))).toBe(200);
    });
  });
