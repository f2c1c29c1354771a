import { cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, ON_POSTGRES, Server, useServer } from "../support/server.ts";
import { expected, HELLO } from "../support/server-client.ts";
import { loudness } from "../support/server-sound.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LONG_MESSAGE = {
  text: "This call is still going on while its server is backed up. ".repeat(8),
  voiceId: "en-US-1",
};

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target);
  const folder = temporaryFolder("backup");
  const restoredServer = new Server(target, { data: join(folder, "restored") });
  afterAll(() => restoredServer.dispose());

  test("a backup taken during live calls is restored after a crash", async () => {
    const client = await server.as("ada");
    const [{ id: quietInstance }, { id: busyInstance }] = [
      await client.activeInstance(),
      await client.activeInstance(),
    ];
    const endedCall = await client.call(quietInstance, { tts: HELLO, recording: true });
    await client.waitForCall(endedCall.id);
    const liveCall = await client.call(busyInstance, { tts: LONG_MESSAGE });
    await client.waitForCall(liveCall.id, ["IN_PROGRESS"]);

    const copy = join(folder, "copy");
    const { code, stdout, stderr } = await server.cli("backup", copy, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ folder: copy, recordings: expect.any(Number) });
    expect(readdirSync(copy).sort()).toEqual(["call-recordings", "recordings", "ringport.sqlite"]);
    expect(statSync(join(copy, "ringport.sqlite")).mode & 0o777).toBe(0o600);
    expect((await client.readCall(liveCall.id)).status).toBe("IN_PROGRESS");

    const laterInstance = await client.createInstance("after the backup");
    await server.kill9();
    cpSync(copy, restoredServer.data, { recursive: true });
    cpSync(join(server.data, "secret.key"), join(restoredServer.data, "secret.key"));
    await restoredServer.start();
    const newClient = restoredServer.client(client.token);
    expect(await newClient.readCall(endedCall.id)).toMatchObject({ status: "COMPLETED", outcome: { heard_ratio: 1 } });
    expect(loudness(await newClient.heard(endedCall.id))).toBeGreaterThan(100);
    expected(200, await newClient.get(`/v1/calls/${endedCall.id}/recording`));
    expect(await newClient.readCall(liveCall.id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "interrupted" },
    });
    expected(404, await newClient.get(`/v1/instances/${laterInstance.id}`));
    await newClient.waitForInstance(quietInstance, "ACTIVE");
    await newClient.waitForCall((await newClient.call(quietInstance, { tts: HELLO })).id);
  });
});

describeEach([ON_NODE], (target) => {
  const server = useServer(target);
  const folder = temporaryFolder("refused");

  test("a backup never overwrites a non-empty folder", async () => {
    const fullFolder = join(folder, "full");
    mkdirSync(fullFolder);
    writeFileSync(join(fullFolder, "mine.txt"), "mine");
    const { code, stdout, stderr } = await server.cli("backup", fullFolder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      `ringport: the backup cannot be written to ${fullFolder} (it is not empty); name a new folder\n`,
    );
    expect(readdirSync(fullFolder)).toEqual(["mine.txt"]);
  });

  test("a backup of a folder without a database is refused", async () => {
    const emptyFolder = join(folder, "empty");
    const { code, stderr } = await server.cli("backup", join(folder, "new"), "--data", emptyFolder);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^ringport: there is no database .*; name the server's folder with --data or RINGPORT_DATA\n$/,
    );
    expect(existsSync(join(folder, "new"))).toBe(false);
  });
});

describeEach([ON_POSTGRES], (target) => {
  test("a backup of PostgreSQL fails and recommends pg_dump", async () => {
    const server = new Server(target, { databaseUrl: "postgres://nobody@localhost:1/none" });
    const { code, stderr } = await server.cli("backup", "copy");
    expect(code).toBe(2);
    expect(stderr).toContain("back it up with pg_dump");
  });
});
