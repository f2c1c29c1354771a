import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { CliServer } from "./client-server.ts";

describe.skipIf(ON_NODE.missing)(`ringport calls on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();

  test("lists calls, newest first, by status and instance, and shows one with its timeline", async () => {
    const { client, instanceId } = await cli.caller("reader");
    const completedCall = await client.call(instanceId, { recording: true });
    await client.waitForCall(completedCall.id);
    const refusedCall = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
    await client.waitForCall(refusedCall.id);

    const ids = async (...extraArgs: string[]): Promise<string[]> =>
      (JSON.parse((await cli.run("reader", ["calls", "--json", ...extraArgs])).stdout) as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await ids()).toEqual([refusedCall.id, completedCall.id]);
    expect(await ids("--limit", "1")).toEqual([refusedCall.id]);
    expect(await ids("--status", "completed")).toEqual([completedCall.id]);
    expect(await ids("--instance", instanceId, "--status=FAILED")).toEqual([refusedCall.id]);

    const rows = (await cli.run("reader", ["calls"])).stdout.trim().split("\n");
    expect(rows.map((row) => row.split("\t").slice(0, 5))).toEqual([
      [refusedCall.id, "+12025550101", "FAILED", "busy", "0 %"],
      [completedCall.id, "+12025550100", "COMPLETED", "message_played", "100 %"],
    ]);

    const showRun = await cli.run("reader", ["calls", "show", completedCall.id]);
    for (const text of ["is COMPLETED", "answered", "COMPLETED: message_played"])
      expect(showRun.stdout).toContain(text);
    expect(showRun.stdout).toMatch(/^ {2}recording +duration_ms=\d+ url=http/m);
    expect(showRun.stdout).not.toContain("[object");
    const json = JSON.parse((await cli.run("reader", ["calls", "show", refusedCall.id, "--json"])).stdout);
    expect(json).toMatchObject({ outcome: { reason: "busy" }, media: { voice_id: "en-US-1" } });
    const followRun = await cli.run("reader", ["calls", "show", refusedCall.id, "--follow"]);
    expect([followRun.code, followRun.stdout]).toEqual([3, expect.stringContaining("FAILED: busy")]);
  });

  test("--watch prints each change until Ctrl-C, and no ended calls", async () => {
    const { client, instanceId } = await cli.caller("watcher");
    const endedCall = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
    await client.waitForCall(endedCall.id);
    const activeCall = await client.call(instanceId, { target: { phoneNumber: "+12025550102" } });
    const command = await cli.start("watcher", ["calls", "--watch", "--json"]);
    const printedEvents = () =>
      command
        .stdout()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: string; status: string; outcome: { reason: string } | null });
    await expect.poll(() => printedEvents().map(({ id }) => id), { timeout: 10_000 }).toContain(activeCall.id);
    await client.delete(`/v1/calls/${activeCall.id}`);
    await expect
      .poll(() => printedEvents().at(-1), { timeout: 10_000 })
      .toMatchObject({ id: activeCall.id, status: "FAILED" });
    expect(printedEvents().map(({ id }) => id)).not.toContain(endedCall.id);
    command.child.kill("SIGINT");
    expect(await command.finished).toMatchObject({ code: 0, stderr: "" });
  });

  test("--watch ends when its reader closes the pipe", async () => {
    const { client, instanceId } = await cli.caller("piper");
    const first = await client.call(instanceId, { target: { phoneNumber: "+12025550102" } });
    const command = await cli.start("piper", ["calls", "--watch"]);
    await expect.poll(command.stdout, { timeout: 10_000 }).toContain(first.id);
    command.child.stdout?.destroy();
    await client.delete(`/v1/calls/${first.id}`);
    expect(await command.finished).toMatchObject({ code: 0, stderr: "" });
  });
});
