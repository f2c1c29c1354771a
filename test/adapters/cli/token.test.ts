import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ServerProcess, start } from "../../support/runtimes.ts";
import { cli, freshFolder, node, run } from "./run-cli.ts";

describe.skipIf(node.missing)(`ringport token on ${node.title}, beside a server`, { timeout: 60_000 }, () => {
  const data = freshFolder();
  let server: ServerProcess;

  beforeAll(async () => {
    server = await start(node, cli, { args: ["serve"], env: { RINGPORT_DATA: data }, cwd: freshFolder() });
  }, 30_000);
  afterAll(() => server?.stop("SIGKILL"));

  const status = async (token: string, path = "/v1/instances"): Promise<number> =>
    (await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })).status;

  test("create prints only the token, which works until it is revoked", async () => {
    const createRun = await run(["token", "create", "--user", "ana", "--name", "laptop", "--data", data]);
    expect(createRun.code).toBe(0);
    expect(createRun.stdout).toMatch(/^rp_live_[0-9A-Za-z]{49}\n$/);
    expect(createRun.stderr).not.toContain("rp_live_");
    const token = createRun.stdout.trim();
    expect(await status(token)).toBe(200);

    const listRun = await run(["token", "list", "--user", "ana", "--json"], { RINGPORT_DATA: data });
    const [record] = JSON.parse(listRun.stdout) as { id: string; name: string; revoked_at: string | null }[];
    expect(record).toMatchObject({ name: "laptop", revoked_at: null, expires_at: null });
    expect(listRun.stdout).not.toContain("hash");

    const id = record?.id ?? "";
    expect((await run(["token", "revoke", id, "--data", data])).code).toBe(0);
    expect(await status(token)).toBe(401);
    const secondRevocation = await run(["token", "revoke", id, "--data", data]);
    expect([secondRevocation.code, secondRevocation.stderr]).toEqual([
      2,
      `ringport: there is no valid token "${id}"; see: ringport token list\n`,
    ]);
    const table = await run(["token", "list", "--data", data]);
    expect(table.stdout).toMatch(new RegExp(`${id}\t.*revoked`));
  });

  test("scopes are stored, shown and enforced; the last use is shown", async () => {
    const createRun = await run(["token", "create", "--user", "sue", "--scopes", "call,read", "--data", data]);
    const token = createRun.stdout.trim();
    expect(await status(token)).toBe(200);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const refusal = await fetch(`${server.url}/v1/instances`, { method: "POST", headers, body: '{"name":"x"}' });
    expect([refusal.status, ((await refusal.json()) as { code: string }).code]).toEqual([403, "insufficient_scope"]);
    await vi.waitFor(async () => {
      const listRun = await run(["token", "list", "--user", "sue", "--json"], { RINGPORT_DATA: data });
      expect(JSON.parse(listRun.stdout)).toMatchObject([
        { scopes: ["read", "call"], last_used_at: expect.stringMatching(/^20/) },
      ]);
    }, 20_000);
    expect((await run(["token", "list", "--data", data])).stdout).toContain("\tread,call\t20");
    const wrongScope = await run(["token", "create", "--user", "sue", "--scopes", "write", "--data", data]);
    expect([wrongScope.code, wrongScope.stderr]).toEqual([
      2,
      'ringport: --scopes is "write": it must be scopes separated by commas, of read, call, admin\n',
    ]);
  });

  test("a demo token is tied to an instance of its user", async () => {
    const { stdout } = await run(["token", "create", "--user", "bea", "--data", data, "--json"]);
    const { token } = JSON.parse(stdout) as { token: string };
    const response = await fetch(`${server.url}/v1/instances`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: '{"name":"for the demo"}',
    });
    const { id } = (await response.json()) as { id: string };
    const otherUser = await run(["token", "create", "--user", "cy", "--demo-instance", id, "--data", data]);
    expect(otherUser.code).toBe(2);
    expect(otherUser.stderr).toContain('does not belong to the user "cy"');
    expect((await run(["token", "list", "--user", "cy", "--data", data])).code).toBe(2);
    const demoRun = await run(["token", "create", "--user", "bea", "--demo-instance", id, "--data", data]);
    expect(demoRun.stdout).toMatch(/^rp_demo_[0-9A-Za-z]{49}\n$/);
    expect(await status(demoRun.stdout.trim(), `/v1/instances/${id}`)).toBe(200);
  });

  test("call limits are stored, shown and enforced", async () => {
    const create = ["token", "create", "--user", "eve", "--data", data];
    const createRun = await run([...create, "--allow", "+49,+43", "--max-calls-per-day", "200", "--json"]);
    const record = JSON.parse(createRun.stdout) as { token: string };
    expect(record).toMatchObject({ allowed_prefixes: ["+49", "+43"], max_calls_per_day: 200 });
    await run(create);
    const listRun = await run(["token", "list", "--user", "eve", "--data", data, "--json"]);
    expect(JSON.parse(listRun.stdout)).toMatchObject([
      { allowed_prefixes: ["+49", "+43"], max_calls_per_day: 200 },
      { allowed_prefixes: null, max_calls_per_day: null },
    ]);
    const table = await run(["token", "list", "--user", "eve", "--data", data]);
    expect(table.stdout).toMatch(
      /\t\+49,\+43\t200\teverything\tnever\tworks\n.*\tevery number\tany number\teverything\tnever\tworks\n/,
    );
    const response = await fetch(`${server.url}/v1/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${record.token}`, "content-type": "application/json" },
      body: '{"instanceId":"inst_01k7zq0f8vf1c9m2x4s6t8w0ya","type":"DYNAMIC_STREAM","target":{"phoneNumber":"+12025550100"}}',
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      403,
      "destination_not_allowed",
    ]);
  });

  test.each([
    ["--allow", "0049", '--allow is "0049": it must be prefixes separated by commas'],
    ["--allow", "", '--allow is "": it must be prefixes'],
    ["--max-calls-per-day", "0", '--max-calls-per-day is "0": it must be a whole number from 1'],
  ])("%s %j is refused with the expected form", async (flag, value, message) => {
    const { code, stderr } = await run(["token", "create", "--user", "eve", flag, value, "--data", data]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("an expiry is stored", async () => {
    const { stdout } = await run(["token", "create", "--user", "dan", "--expires-in", "2", "--json", "--data", data]);
    const { expires_at } = JSON.parse(stdout) as { expires_at: string };
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(1.99);
    expect(days).toBeLessThanOrEqual(2);
  });
});
