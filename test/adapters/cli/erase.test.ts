import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliServer } from "./client-server.ts";
import { freshFolder, node, run } from "./run-cli.ts";

const NUMBER = "+12025550100";
const MASKED_NUMBER = "+1202•••0100";

describe.skipIf(node.missing)(`ringport erase on ${node.title}, beside a server`, { timeout: 60_000 }, () => {
  const cli = new CliServer();
  const erase = (...args: string[]) => run(["erase", ...args], { RINGPORT_DATA: cli.server.data });

  test("deletes the server's ended calls and recordings", async () => {
    const { client, instanceId } = await cli.caller("owner");
    const call = await client.call(instanceId, { target: { phoneNumber: NUMBER }, recording: true });
    await client.waitForCall(call.id);
    await client.heard(call.id);
    const heardFile = join(cli.server.data, "recordings", `${call.id}.heard.wav`);
    const recordingFile = join(cli.server.data, "call-recordings", `${call.id}.wav`);
    expect([existsSync(heardFile), existsSync(recordingFile)]).toEqual([true, true]);

    const { code, stdout, stderr } = await erase("--phone", NUMBER);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/calls +1 deleted/);
    expect(stdout).toMatch(/recordings +1 deleted/);
    expect(stdout).toContain(MASKED_NUMBER);
    expect(stdout).not.toContain(NUMBER);
    expect([existsSync(heardFile), existsSync(recordingFile)]).toEqual([false, false]);
    expect((await client.get(`/v1/calls/${call.id}`)).status).toBe(404);
  });

  test("fails if calls have not ended, and shows how to end them", async () => {
    const { client } = await cli.caller("waiter");
    const unlinkedInstance = await client.createInstance();
    const call = await client.call(unlinkedInstance.id, { target: { phoneNumber: NUMBER } });
    const { code, stdout, stderr } = await erase("--phone", NUMBER, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      phone: MASKED_NUMBER,
      calls: 0,
      active_calls: [call.id],
      instances: [],
    });
    expect(stderr).toBe("");
    const erasure = await erase("--phone", NUMBER);
    expect(erasure.stderr).toContain(`ringport calls hangup ${call.id}`);
    expect((await client.get(`/v1/calls/${call.id}`)).status).toBe(200);
  });

  test("fails if an instance has the number, and shows how to delete it", async () => {
    const { client, instanceId } = await cli.caller("linked");
    const response = await client.get(`/v1/instances/${instanceId}?expand=connection`);
    const { phone } = response.json<{ connection: { phone: string } }>().connection;
    const { code, stderr } = await erase("--phone", phone);
    expect(code).toBe(1);
    expect(stderr).toContain(`ringport instance delete ${instanceId}`);
  });

  test.each([[["--phone", "12025550100"]], [["--phone", "+1 202"]], [[]]])("refuses %j in one line", async (args) => {
    const { code, stdout, stderr } = await erase(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^ringport: .*\+12025550100\n$/);
  });

  test("creates no database", async () => {
    const data = freshFolder();
    const { code, stderr } = await run(["erase", "--phone", NUMBER, "--data", join(data, "none")]);
    expect(code).toBe(2);
    expect(stderr).toContain("there is no database");
    expect(existsSync(join(data, "none"))).toBe(false);
  });
});
