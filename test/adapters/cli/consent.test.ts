import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { CliServer } from "./client-server.ts";

const PHONE = "+12025550143";

describe.skipIf(ON_NODE.missing)(`ringport consent on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();
  const run = (...args: readonly string[]) => cli.run("keeper", ["consent", ...args]);

  test("records, shows, lists and deletes the consent of a number", async () => {
    const setRun = await run("set", PHONE, "do_not_call", "--source", "said so on a call");
    expect([setRun.code, setRun.stderr]).toEqual([0, `${PHONE} is recorded as do_not_call.\n`]);
    expect((await run("get", PHONE)).stdout).toBe("do_not_call\n");
    expect(JSON.parse((await run("get", PHONE, "--json")).stdout)).toMatchObject({ source: "said so on a call" });
    expect((await run("list")).stdout.trim().split("\t")).toEqual([PHONE, "do_not_call", "said so on a call"]);
    expect(JSON.parse((await run("list", "--status", "granted", "--json")).stdout)).toEqual([]);
    expect((await run("delete", PHONE)).code).toBe(0);
    const deletedConsent = await run("get", PHONE);
    expect([deletedConsent.code, deletedConsent.stderr]).toEqual([
      2,
      `ringport: no consent for ${PHONE} is recorded\n`,
    ]);
  });

  test("refuses an unknown status", async () => {
    const { code, stderr } = await run("set", PHONE, "maybe");
    expect([code, stderr]).toEqual([2, expect.stringContaining("granted")]);
  });
});
