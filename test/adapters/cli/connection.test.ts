import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliServer } from "./client-server.ts";
import { node, run } from "./run-cli.ts";

/** A reserved port: no program listens on it. */
const NOBODY = "http://127.0.0.1:1";
const COMMANDS = [
  ["instance", "create"],
  ["instance", "list"],
  ["instance", "show", "inst_x"],
  ["instance", "qr", "inst_x"],
  ["instance", "delete", "inst_x"],
  ["call", "+12025550100", "--text", "Hi."],
  ["calls"],
  ["calls", "--watch"],
  ["calls", "show", "call_x"],
  ["calls", "hangup", "call_x"],
  ["voices"],
];

describe.skipIf(node.missing)(`commands that speak to a server, on ${node.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();
  const stranger = createServer((_, response) => response.end("<h1>It works!</h1>"));
  let strangerUrl = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    strangerUrl = `http://127.0.0.1:${(stranger.address() as { port: number }).port}`;
  });
  afterAll(() => {
    stranger.close();
  });

  test.each(COMMANDS)("%s %s without a server prints one line with the fix, immediately", async (...words) => {
    const args = words.filter((word) => word !== undefined);
    const started = performance.now();
    const { code, stdout, stderr } = await run(args, { RINGPORT_TOKEN: "rp_live_x", RINGPORT_URL: NOBODY });
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      `ringport: no server responds at ${NOBODY}; start one with: npm start (or set RINGPORT_URL)\n`,
    ]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("without a token, or with a wrong one, it prints how to create one", async () => {
    const none = await run(["calls"], { RINGPORT_URL: cli.server.base });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("a token is needed: set RINGPORT_TOKEN")]);
    const wrong = await run(["calls", "--json"], { RINGPORT_URL: cli.server.base, RINGPORT_TOKEN: "rp_live_wrong" });
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    const problem = JSON.parse(wrong.stderr) as { detail: string };
    expect(problem).toMatchObject({ code: "unauthorized", status: 401, request_id: expect.any(String) });
    expect(problem.detail).toContain("ringport token create --user NAME");
    expect(wrong.stderr).not.toContain("rp_live_wrong");
  });

  test("flags override variables; invalid tokens stay unprinted", async () => {
    const { token = "" } = await cli.server.as("flags");
    const env = { RINGPORT_URL: NOBODY, RINGPORT_TOKEN: "wrong" };
    const { code, stdout } = await run(["calls", "--json", "--url", `${cli.server.base}/`, `--token=${token}`], env);
    expect([code, JSON.parse(stdout)]).toEqual([0, []]);
    const odd = await run(["calls", "--token", "hunter 2"], env);
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("--token must be a token")]);
    expect(odd.stderr).not.toContain("hunter");
    const url = await run(["calls", "--url", "localhost:8080"], env);
    expect([url.code, url.stderr]).toEqual([2, expect.stringContaining("such as https://calls.example.com")]);
  });

  test("another program at that address is recognized as not Ringport", async () => {
    const { code, stderr } = await run(["voices"], { RINGPORT_URL: strangerUrl, RINGPORT_TOKEN: "x" });
    expect([code, stderr]).toEqual([1, expect.stringContaining("not a Ringport server; check RINGPORT_URL")]);
    const wrongPath = { RINGPORT_URL: `${cli.server.base}/api`, RINGPORT_TOKEN: "x" };
    expect((await run(["voices"], wrongPath)).stderr).toContain("check RINGPORT_URL");
  });
});
