import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliServer } from "./client-server.ts";
import { node, run } from "./run-cli.ts";

/** A reserved port: no program listens on it. */
const NO_SERVER_URL = "http://127.0.0.1:1";
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

describe.skipIf(node.missing)(`commands that need a server, on ${node.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();
  const otherServer = createServer((_, response) => response.end("<h1>It works!</h1>"));
  let otherUrl = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve));
    otherUrl = `http://127.0.0.1:${(otherServer.address() as { port: number }).port}`;
  });
  afterAll(() => {
    otherServer.close();
  });

  test.each(COMMANDS)("%s %s without a server prints one line with the fix, immediately", async (...words) => {
    const args = words.filter((word) => word !== undefined);
    const startedAt = performance.now();
    const { code, stdout, stderr } = await run(args, { RINGPORT_TOKEN: "rp_live_x", RINGPORT_URL: NO_SERVER_URL });
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      `ringport: no server responds at ${NO_SERVER_URL}; start one with: npm start (or set RINGPORT_URL)\n`,
    ]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test("a missing or wrong token is refused with the command that creates one", async () => {
    const noToken = await run(["calls"], { RINGPORT_URL: cli.server.base });
    expect([noToken.code, noToken.stderr]).toEqual([
      2,
      expect.stringContaining("a token is needed: set RINGPORT_TOKEN"),
    ]);
    const wrongToken = await run(["calls", "--json"], {
      RINGPORT_URL: cli.server.base,
      RINGPORT_TOKEN: "rp_live_wrong",
    });
    expect([wrongToken.code, wrongToken.stdout]).toEqual([2, ""]);
    const problem = JSON.parse(wrongToken.stderr) as { detail: string };
    expect(problem).toMatchObject({ code: "unauthorized", status: 401, request_id: expect.any(String) });
    expect(problem.detail).toContain("ringport token create --user NAME");
    expect(wrongToken.stderr).not.toContain("rp_live_wrong");
  });

  test("flags override variables, and an invalid token is never printed", async () => {
    const { token = "" } = await cli.server.as("flags");
    const env = { RINGPORT_URL: NO_SERVER_URL, RINGPORT_TOKEN: "wrong" };
    const { code, stdout } = await run(["calls", "--json", "--url", `${cli.server.base}/`, `--token=${token}`], env);
    expect([code, JSON.parse(stdout)]).toEqual([0, []]);
    const invalidToken = await run(["calls", "--token", "hunter 2"], env);
    expect([invalidToken.code, invalidToken.stderr]).toEqual([2, expect.stringContaining("--token must be a token")]);
    expect(invalidToken.stderr).not.toContain("hunter");
    const invalidUrl = await run(["calls", "--url", "localhost:8080"], env);
    expect([invalidUrl.code, invalidUrl.stderr]).toEqual([
      2,
      expect.stringContaining("such as https://calls.example.com"),
    ]);
  });

  test("a server that is not Ringport is recognised", async () => {
    const { code, stderr } = await run(["voices"], { RINGPORT_URL: otherUrl, RINGPORT_TOKEN: "x" });
    expect([code, stderr]).toEqual([1, expect.stringContaining("not a Ringport server; check RINGPORT_URL")]);
    const wrongPath = { RINGPORT_URL: `${cli.server.base}/api`, RINGPORT_TOKEN: "x" };
    expect((await run(["voices"], wrongPath)).stderr).toContain("check RINGPORT_URL");
  });
});
