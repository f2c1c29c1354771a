import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { expected, until } from "../../support/server-client.ts";
import { send } from "../../support/server-http.ts";
import { readQr } from "../../support/server-qr.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder } from "./run-cli.ts";

const jsonLines = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
interface Line {
  readonly event: "created" | "code" | "linked";
  readonly png_base64?: string;
  readonly expires_at?: string;
  readonly sequence?: number;
  readonly instance?: { readonly id: string; readonly status: string };
}

describe.skipIf(ON_NODE.missing)(`ringport instance on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();

  test("create prints only the id; list, show and delete accept it", async () => {
    const createRun = await cli.run("keeper", ["instance", "create", "Front\tdesk", "--metadata", '{"floor":2}']);
    const id = createRun.stdout.trim();
    expect([createRun.code, id]).toEqual([0, expect.stringMatching(/^inst_\w{26}$/)]);
    expect(createRun.stderr).toContain(`ringport instance qr ${id}`);
    const listRun = await cli.run("keeper", ["instance", "list"]);
    expect(listRun.stdout.trim().split("\t").slice(0, 3)).toEqual([id, "Front desk", "CREATED"]);
    const instanceRun = await cli.run("keeper", ["instance", "show", id]);
    expect(instanceRun.stdout).toMatch(/metadata +\{"floor":2\}/);
    const json = await cli.run("keeper", ["instance", "show", id, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ id, callQueue: [], connection: { state: "unlinked" } });
    expect((await cli.run("keeper", ["instance", "delete", id])).code).toBe(0);
    expect(JSON.parse((await cli.run("keeper", ["instance", "list", "--json"])).stdout)).toEqual([]);
    const deletedRun = await cli.run("keeper", ["instance", "show", id]);
    expect([deletedRun.code, deletedRun.stderr]).toEqual([2, `ringport: there is no instance "${id}"\n`]);
  });

  test("qr --page prints a link page that shows the code", async () => {
    const id = (await cli.run("keeper", ["instance", "create", "Elsewhere"])).stdout.trim();
    const pageRun = await cli.run("keeper", ["instance", "qr", id, "--page"]);
    expect([pageRun.code, pageRun.stderr]).toEqual([0, expect.stringMatching(/until \d\d:\d\d UTC\.\n$/)]);
    const headers = { accept: "application/json" };
    expect(await (await fetch(pageRun.stdout.trim(), { headers })).json()).toMatchObject({
      name: "Elsewhere",
      linked: false,
    });
    const json = await cli.run("keeper", ["instance", "qr", id, "--page", "--json"]);
    expect(Object.keys(JSON.parse(json.stdout))).toEqual(["url", "expires_at"]);
    const mixedFlags = await cli.run("keeper", ["instance", "qr", id, "--page", "--no-wait"]);
    expect([mixedFlags.code, mixedFlags.stderr]).toEqual([2, "ringport: --page draws no code: leave out --no-wait\n"]);
    await cli.run("keeper", ["instance", "link", id]);
    expect(await (await fetch(pageRun.stdout.trim(), { headers })).json()).toMatchObject({ linked: true });
    const linkedRun = await cli.run("keeper", ["instance", "qr", id, "--page"]);
    expect([linkedRun.code, linkedRun.stderr]).toEqual([2, expect.stringContaining("is already linked")]);
  });

  test("can be unlinked and linked again", async () => {
    const id = (await cli.run("keeper", ["instance", "create", "Exchanged"])).stdout.trim();
    await cli.run("keeper", ["instance", "link", id]);
    const unlinkRun = await cli.run("keeper", ["instance", "unlink", id]);
    expect([unlinkRun.code, unlinkRun.stdout]).toEqual([0, ""]);
    expect(unlinkRun.stderr).toContain(`ringport instance qr ${id}`);
    const secondUnlink = await cli.run("keeper", ["instance", "unlink", id, "--json"]);
    expect(JSON.parse(secondUnlink.stdout)).toMatchObject({ id, status: "CREATED" });
    const linkRun = await cli.run("keeper", ["instance", "link", id]);
    expect(linkRun.stdout).toMatch(/^✓ \+\d+ is linked: inst_\w+ is ACTIVE/);
    const unknownRun = await cli.run("keeper", ["instance", "unlink", "inst_unknown"]);
    expect([unknownRun.code, unknownRun.stderr]).toEqual([2, 'ringport: there is no instance "inst_unknown"\n']);
  });

  test("gets a caller ID, and later its network's default again", async () => {
    const from = ["--from", "+12025550123", "--from-name", "Desk"];
    const id = (await cli.run("caller", ["instance", "create", "Desk", ...from])).stdout.trim();
    expect((await cli.run("caller", ["instance", "show", id])).stdout).toMatch(/calls from +"Desk" \+12025550123/);
    const update = await cli.run("caller", ["instance", "update", id, "--name", "Night", "--withheld", "--json"]);
    expect(JSON.parse(update.stdout)).toMatchObject({ id, name: "Night", callerId: { withheld: true } });
    const clearRun = await cli.run("caller", ["instance", "update", id, "--from-default", "--json"]);
    expect(JSON.parse(clearRun.stdout)).not.toHaveProperty("callerId");
    const emptyUpdate = await cli.run("caller", ["instance", "update", id]);
    expect([emptyUpdate.code, emptyUpdate.stderr]).toEqual([2, expect.stringContaining("nothing to change")]);
  });

  test("metadata other than an object is refused", async () => {
    for (const metadata of ["[1]", "{", "null"]) {
      const { code, stderr } = await cli.run("keeper", ["instance", "create", "X", "--metadata", metadata]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("it must be a JSON object")]);
    }
  });

  test("create --link draws codes and reports the link", async () => {
    const command = await cli.start("linker", ["instance", "create", "--link", "--json"]);
    const codes = () => jsonLines(command.stdout()).filter(({ event }) => event === "code");
    await expect.poll(() => codes().length, { timeout: 20_000 }).toBeGreaterThan(1);
    const [first, second] = codes();
    expect(second?.sequence).toBeGreaterThan(first?.sequence ?? Number.NaN);
    expect(second?.png_base64).not.toBe(first?.png_base64);
    // Codes change quickly here, so this tries the newest code until one is accepted.
    const scan = () => send("POST", readQr(Buffer.from(codes().at(-1)?.png_base64 ?? "", "base64")));
    await until(scan, ({ status }) => status === 200, 10_000, "a valid code");
    const { code, stdout, stderr } = await command.finished;
    expect([code, stderr]).toEqual([0, ""]);
    const lines = jsonLines(stdout);
    expect(lines[0]?.event).toBe("created");
    expect(lines.at(-1)).toMatchObject({ event: "linked", instance: { status: "ACTIVE" } });
    // The instance is already linked.
    const secondRun = await cli.run("linker", ["instance", "qr", lines[0]?.instance?.id ?? ""]);
    expect([secondRun.code, secondRun.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ \+\d+ is linked: inst_\w+ is ACTIVE/),
    ]);
  });

  test("link scans the code with a simulated phone, and is repeatable", async () => {
    const { id } = await (await cli.server.as("lazy")).createInstance();
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await cli.run("lazy", ["instance", "link", id]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^✓ \+\d+ is linked: inst_\w+ is ACTIVE/);
    }
  });

  test("qr --no-wait draws the code once, and --png saves it", async () => {
    const { id } = await (await cli.server.as("painter")).createInstance();
    const folder = freshFolder();
    const args = ["instance", "qr", id, "--no-wait", "--png", "qr.png"];
    const { code, stdout } = await cli.run("painter", args, { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain("▄▄▄▄▄");
    const payload = readQr(readFileSync(join(folder, "qr.png")));
    expect(stdout).toContain(payload);
    expected(200, await send("POST", payload));
    const unwritableArgs = ["instance", "qr", id, "--no-wait", "--png", join(folder, "none", "qr.png")];
    const otherInstance = await (await cli.server.as("painter")).createInstance();
    const failedRun = await cli.run("painter", unwritableArgs.with(2, otherInstance.id));
    expect([failedRun.code, failedRun.stderr]).toEqual([
      2,
      expect.stringContaining("the file cannot be written (ENOENT)"),
    ]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test("Ctrl-C ends qr with exit code 130", async () => {
    const { id } = await (await cli.server.as("leaver")).createInstance();
    const command = await cli.start("leaver", ["instance", "qr", id]);
    await expect.poll(command.stdout, { timeout: 10_000 }).toContain("▄▄▄▄▄");
    command.child.kill("SIGINT");
    expect(await command.finished).toMatchObject({ code: 130, stderr: "" });
  });
});
