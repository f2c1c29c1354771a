import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callees, type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { freshFolder, node, run } from "./run-cli.ts";

describe.skipIf(node.missing)(`ringport sip check on ${node.title}`, { timeout: 60_000 }, () => {
  let farEnd: FarEnd;
  beforeAll(async () => {
    farEnd = await startFarEnd({ callees: { "+12025550100": callees.answers } });
  });
  afterAll(() => farEnd.close());

  const trunks = (...others: object[]) => JSON.stringify([{ name: "acme", server: farEnd.uri }, ...others]);

  test("prints a line for each step, and exits with 0 if all pass", async () => {
    const { code, stdout, stderr } = await run(["sip", "check", "--call", "+12025550100"], {
      RINGPORT_SIP_TRUNKS: trunks(),
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^sip\/acme\n✓ configuration .*\n✓ dns .*\n– connection .*\n✓ options .*\n/);
    expect(stdout).toMatch(/\n✓ call +\+12025550100 answered after \d+ ms; PCMU, .*\n\nAll checks passed\.\n$/);
  });

  test("prints JSON for programs, and exits with 1 on a fault", async () => {
    const file = join(freshFolder(), "trunks.json");
    writeFileSync(file, trunks({ name: "gone", server: "sip:127.0.0.1:9;transport=tcp" }));
    const { code, stdout } = await run(["sip", "check", "--json", "--trunks", file], {});
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      ok: false,
      trunks: [
        { name: "acme", ok: true },
        { name: "gone", ok: false },
      ],
    });
    const connection = { name: "connection", state: "broken", fix: expect.stringContaining("firewall") };
    expect(report.trunks[1].steps.at(-1)).toMatchObject(connection);
    const routes = [{ name: "world", trunks: [{ trunk: "acme" }] }];
    const trunksWithRoutes = JSON.stringify({ trunks: JSON.parse(readFileSync(file, "utf8")), routes });
    const check = await run(["sip", "check", "--trunk", "sip/world"], { RINGPORT_SIP_TRUNKS: trunksWithRoutes });
    expect([check.code, check.stdout]).toEqual([0, expect.stringMatching(/^sip\/acme\n/)]);
    const singleCheck = await run(["sip", "check", "--trunk", "sip/acme", "--trunks", file], {});
    expect([singleCheck.code, singleCheck.stdout]).toEqual([0, expect.not.stringContaining("gone")]);
  });

  test.each([
    [[], {}, "set RINGPORT_SIP_TRUNKS"],
    [["--trunk", "other"], "trunks", "known: acme"],
    [["--call", "12025550100"], "trunks", "E.164"],
    [["--trunks", "/nowhere.json"], {}, "/nowhere.json cannot be read"],
  ] as const)("%j is refused in one line", async (args, env, message) => {
    const { code, stderr } = await run(
      ["sip", "check", ...args],
      env === "trunks" ? { RINGPORT_SIP_TRUNKS: trunks() } : {},
    );
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^ringport: [^\n]+\n$/)]);
    expect(stderr).toContain(message);
  });

  test("doctor names the trunks, or their faults", async () => {
    const finding = async (env: Record<string, string>) =>
      JSON.parse(
        (await run(["doctor", "--json"], { RINGPORT_URL: "http://127.0.0.1:1", ...env }, freshFolder())).stdout,
      ).findings.find(({ name }: { name: string }) => name === "telephony");
    expect(await finding({ RINGPORT_SIP_TRUNKS: trunks() })).toMatchObject({
      state: "works",
      detail: expect.stringContaining("sip/acme"),
    });
    expect(await finding({ RINGPORT_SIP_TRUNKS: '[{"name":"acme"}]' })).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("trunk acme: server"),
    });
    expect(await finding({})).toMatchObject({ state: "missing" });
  });
});
