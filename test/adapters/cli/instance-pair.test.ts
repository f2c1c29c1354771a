import { createRingport } from "ringport";
import { serve } from "ringport/node";
import { sqliteStorage } from "ringport/sqlite";
import { ScriptedTelephony } from "ringport/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realSystem } from "../../../src/ports/system.ts";
import { freshFolder, launch } from "./run-cli.ts";

describe("ringport instance pair", { timeout: 60_000 }, () => {
  const networks = [
    new ScriptedTelephony(realSystem, { name: "paired", pairingCodes: true }),
    new ScriptedTelephony(realSystem, { name: "scanned" }),
  ];
  const ringport = createRingport({
    storage: sqliteStorage({ path: ":memory:" }),
    telephony: networks,
    data: freshFolder(),
    authenticate: async () => ({ userId: "usr_keeper" }),
  });
  let server: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    server = await serve(ringport, { port: 0 });
  });
  afterAll(async () => {
    await server.close();
    await ringport.stop();
  });

  const pair = async (provider: string, ...args: readonly string[]) => {
    const { id } = await ringport.instances.create({ userId: "usr_keeper" }, { name: "Reception", provider });
    const env = { RINGPORT_URL: server.url, RINGPORT_TOKEN: "token" };
    return { id, ...(await launch(["instance", "pair", id, ...args], { env }).finished) };
  };

  test("prints the code alone on stdout, and instructions on stderr", async () => {
    const { code, stdout, stderr } = await pair("paired", "+12025550199");
    expect([code, stdout]).toEqual([0, "PAIR-0199\n"]);
    expect(stderr).toMatch(/phone with the number \+12025550199.*\nIt expires at \d\d:\d\d:\d\d UTC\.\n$/);
  });

  test("prints the whole response as JSON", async () => {
    const { id, stdout } = await pair("paired", "+12025550199", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ instanceId: id, pairingCode: "PAIR-0199" });
  });

  test("names the alternative if the network has no such codes", async () => {
    const { id, code, stderr } = await pair("scanned", "+12025550199");
    expect(code).not.toBe(0);
    expect(stderr).toContain(`"scanned" has no pairing codes; scan the code of GET /v1/instances/${id}/configure`);
  });
});
