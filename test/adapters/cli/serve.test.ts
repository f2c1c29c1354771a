import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "ringport/client";
import { afterEach, describe, expect, test } from "vitest";
import { type ServerProcess, start } from "../../support/runtimes.ts";
import { cli, freshFolder, node, run } from "./run-cli.ts";

const servers: ServerProcess[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop("SIGKILL")));
});

async function startServer(data: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const settings = { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: join(data, "token"), ...env };
  const server = await start(node, cli, { args: ["serve"], env: settings, cwd: freshFolder() });
  servers.push(server);
  return server;
}

/** Ends a process that may already have exited. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited.
  }
}

/** Expects the exit code 0. Deno, as the test runner, reports the signal that it sent instead. */
function expectZero(code: number | null): void {
  expect("Deno" in globalThis ? (code ?? 0) : code).toBe(0);
}

/** The token that the first start creates. */
const tokenIn = (data: string): string => readFileSync(join(data, "token"), "utf8").trim();

describe.skipIf(node.missing)(`ringport serve on ${node.title}`, { timeout: 40_000 }, () => {
  test("the first start prints the address and a first request", async () => {
    const data = join(freshFolder(), "data");
    const first = await startServer(data);
    await expect.poll(first.output, { timeout: 10_000 }).toContain("curl -X POST");
    const text = first.output();
    expect(text.split("\n").find((line) => line.includes("http"))).toBe(`Ringport is listening on ${first.url}`);
    for (const expectedText of [
      `${first.url}/docs`,
      data,
      "RINGPORT_STREAM_PREVIEW=1 switches it on",
      "GET /v1/voices",
    ])
      expect(text).toContain(expectedText);
    const token = tokenIn(data);
    expect(text).toContain(`-H "Authorization: Bearer $(cat ${join(data, "token")})"`);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const createResponse = await fetch(`${first.url}/v1/instances`, {
      method: "POST",
      headers,
      body: '{"name":"My phone"}',
    });
    expect(createResponse.status).toBe(201);
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
    expectZero(await first.stop());
    await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();

    const second = await startServer(data, { RINGPORT_STREAM_PREVIEW: "1", LOG_LEVEL: "warn" });
    await expect.poll(second.output, { timeout: 10_000 }).toContain("Stream ");
    expect(second.output()).toContain("preview on");
    expect(second.output()).not.toContain("curl");
    expect((await (await fetch(`${second.url}/v1/instances`, { headers })).json()) as unknown[]).toHaveLength(1);
    expectZero(await second.stop("SIGINT"));
  });

  test("the console is served unless switched off", async () => {
    const data = freshFolder();
    const fetchPages = async (url: string) =>
      Promise.all(["/", "/console"].map((path) => fetch(url + path, { redirect: "manual" })));
    const withConsole = await startServer(data);
    const [front, page] = await fetchPages(withConsole.url);
    expect([front?.headers.get("location"), page?.headers.get("x-frame-options")]).toEqual(["/console", "DENY"]);
    await withConsole.stop();
    const withoutConsole = await startServer(data, { RINGPORT_CONSOLE: "off" });
    const [docs, consolePage] = await fetchPages(withoutConsole.url);
    expect([docs?.headers.get("location"), consolePage?.status]).toEqual(["/docs", 404]);
    await expect.poll(withoutConsole.output, { timeout: 10_000 }).toContain("  Stream");
    expect(withoutConsole.output()).not.toContain("Console");
    await withoutConsole.stop();
  });

  test("a SIGTERM that reaches only npm's shell still stops the server", async () => {
    const program = `"$0" "$@" & echo "pid $!"; wait`;
    const shell = { ...node, command: ["sh", "-c", program, ...node.command] };
    const data = freshFolder();
    const env = {
      RINGPORT_DATA: data,
      RINGPORT_TOKEN_FILE: join(data, "token"),
      npm_lifecycle_script: "node adapters/cli/main.ts serve",
    };
    const server = await start(shell, cli, { args: ["serve"], env, cwd: freshFolder() });
    const [, pid] = /^pid (\d+)$/m.exec(server.output()) ?? [];
    try {
      await expect.poll(server.output, { timeout: 10_000 }).toContain("curl -X POST");
      await server.stop();
      await expect.poll(server.output, { timeout: 10_000 }).toContain('"msg":"stopped"');
      await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    } finally {
      kill(Number(pid));
    }
  });

  test("a second server on one data folder ends with an error", async () => {
    const data = freshFolder();
    const first = await startServer(data);
    const { code, stdout, stderr } = await run(["serve"], { RINGPORT_DATA: data });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain("another server is already using");
    expect(stderr).toContain("RINGPORT_DATA");
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });

  test("a port in use is reported with a fix", async () => {
    const first = await startServer(freshFolder());
    const data = join(freshFolder(), "data");
    const { port } = new URL(first.url);
    const { code, stderr } = await run(["serve", "--port", port], { RINGPORT_DATA: data });
    expect(code).toBe(2);
    expect(stderr).toBe(
      `ringport: port ${port} on 127.0.0.1 is in use: stop the program that uses it or choose another port, such as PORT=${Number(port) + 1}\n`,
    );
    expect(() => mkdirSync(data)).not.toThrow();
  });

  test("a newer version's database is not touched", async () => {
    const data = freshFolder();
    expect((await run(["token", "create", "--user", "ana", "--data", data])).code).toBe(0);
    const database = new DatabaseSync(join(data, "ringport.sqlite"));
    database.exec("insert into ringport_migration values ('9999_future', '2099-01-01')");
    database.close();
    const { code, stderr } = await run(["serve"], { RINGPORT_DATA: data });
    expect(code).toBe(2);
    expect(stderr).toContain("newer version");
  });

  test("a broken key file is named, not replaced", async () => {
    const data = freshFolder();
    writeFileSync(join(data, "secret.key"), "not a key");
    const { code, stderr } = await run(["serve"], { RINGPORT_DATA: data });
    expect(code).toBe(2);
    expect(stderr).toContain(`the key file ${join(data, "secret.key")}`);
  });

  test("logs are JSON lines without tokens", async () => {
    const data = freshFolder();
    const server = await startServer(data);
    await expect.poll(server.output, { timeout: 10_000 }).toContain("curl -X POST");
    const token = tokenIn(data);
    await fetch(`${server.url}/v1/instances/${token}`, { headers: { authorization: `Bearer ${token}` } });
    await expect.poll(server.output).toContain('"msg":"request"');
    const records = server
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(records.filter(({ level }) => level === "warn")).toEqual([]);
    expect(JSON.stringify(records)).not.toContain(token);
  });

  test("each request and call event has a log line with ids, without tokens", async () => {
    const env = { LOG_LEVEL: "debug", RINGPORT_LOG_MASK_NUMBERS: "1", RINGPORT_SIMULATOR_TIME_SCALE: "0.1" };
    const data = freshFolder();
    const server = await startServer(data, env);
    await expect.poll(server.output, { timeout: 10_000 }).toContain("curl -X POST");
    const token = tokenIn(data);
    const client = createClient({ url: server.url, token });
    const instance = await client.instances.create({ name: "+12025550177" });
    const { message } = await client.instances.configure(instance.id);
    await fetch(/http:\S+\w/.exec(message)?.[0] ?? "", { method: "POST" });
    const { id } = await client.calls.create({
      instanceId: instance.id,
      type: "FIXED_TTS",
      target: { phoneNumber: "+12025550101" },
      tts: { text: "Call +12025550188 back.", voiceId: "en-US-1" },
    });
    await client.waitForCall(id);
    const unknownCall = await fetch(`${server.url}/v1/calls/%2B12025550199?token=${token}`, {
      headers: { authorization: `Bearer ${token}`, "x-request-id": "mine-1" },
    });
    expect(unknownCall.status).toBe(404);
    await expect.poll(server.output).toContain("mine-1");

    const lines = server
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const messages = records.filter(({ call_id }) => call_id === id).map(({ msg }) => msg);
    for (const msg of ["request", "call queued", "call ringing", "call failed"]) expect(messages).toContain(msg);
    const createRecord = records.find(({ path, method }) => path === "/v1/calls" && method === "POST");
    expect(createRecord).toMatchObject({ call_id: id, status: 201, request_id: expect.stringMatching(/^req_/) });
    const linkRecord = records.find(({ msg }) => msg === "instance.linked");
    expect(linkRecord).toMatchObject({ instance_id: instance.id, phone: expect.stringMatching(/^\+1202•••\d{4}$/) });
    expect(records.find(({ request_id }) => request_id === "mine-1")?.path).toBe("/v1/calls/%2B1202•••0199");
    expect(lines.join("\n")).not.toMatch(/2025550|rp_live_[0-9A-Za-z]/);
  });
});
