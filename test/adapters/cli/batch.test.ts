import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE, useServer } from "../../support/server.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder } from "./run-cli.ts";

const BLOCKED = "+12025551299";
/** Numbers in São Paulo, Lisbon and Washington; none is in the simulator's plan, so all of them answer. */
const ZONES = ["+5511955", "+35191255", "+1202555"];
const TEXT = "{{nome}}.";

/** 300 people: two broken rows, one number that must not be called. */
function people(): string {
  const rows = Array.from({ length: 300 }, (_, i) => {
    if (i === 10) return "+55 11 9,Ana,10";
    if (i === 200) return `+12025551200,,200`;
    const number = i === 299 ? BLOCKED : `${ZONES[i % 3]}${String(4_000 + i)}`;
    return `${i % 3 === 0 && i !== 299 ? `${number}0` : number},Ana ${i},${i}`;
  });
  return ["telefone;nome;reference", ...rows.map((row) => row.replaceAll(",", ";"))].join("\r\n");
}

describe.skipIf(ON_NODE.missing)(`ringport batch on ${ON_NODE.title}`, { timeout: 120_000 }, () => {
  const cli = new CliServer(useServer(ON_NODE, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "0.05" } }));

  function writeCsv(text: string): string {
    const file = join(freshFolder(), "people.csv");
    writeFileSync(file, text);
    return file;
  }

  test("finds every problem in 300 rows before any call is placed", async () => {
    const { instanceId } = await cli.caller("checker");
    const run = (...args: string[]) => cli.run("checker", args);
    expect((await run("consent", "set", BLOCKED, "do_not_call")).code).toBe(0);
    const create = ["batch", "create", writeCsv(people()), "--text", TEXT, "--instance", instanceId];

    const dryRun = await run(...create, "--dry-run", "--hours", "09:00-18:00", "--zone", "callee");
    expect(dryRun.stdout).toMatch(/^297 to call, 3 with problems\nfirst call /);
    expect(dryRun.code).toBe(2);
    expect(JSON.parse((await run("batch", "list", "--json")).stdout)).toEqual([]);

    const createRun = await run(...create, "--start");
    const id = createRun.stdout.trim();
    expect(id).toMatch(/^batch_\w{26}$/);
    expect(createRun.code).toBe(2);
    expect(createRun.stderr).toContain("3 of 300 rows have problems:");
    expect(createRun.stderr).toMatch(/^ {2}row 12 +telefone /m);
    expect(createRun.stderr).toMatch(/^ {2}row 202 +nome +the message needs the variable nome/m);
    expect(createRun.stderr).toMatch(/^ {2}row 301 +telefone .*must not be called/m);
    expect(createRun.stderr).toContain(`"people" is DRAFT: 297 to call, 3 with problems\n`);
    expect(createRun.stderr).toContain(
      `Correct these rows in the console, or call the others: ringport batch start ${id} --skip-invalid\n`,
    );
    expect(createRun.stderr).toContain(`from a corrected file instead, delete this draft: ringport batch delete ${id}`);
    expect(JSON.parse((await run("batch", "show", id, "--json")).stdout)).toMatchObject({ status: "DRAFT" });

    const errors = (await run("batch", "errors", id)).stdout.trim().split("\r\n");
    expect(errors).toHaveLength(4);
    const output = join(freshFolder(), "errors.csv");
    expect((await run("batch", "errors", id, "-o", output)).stdout).toBe(`${output}\n`);
    expect(readFileSync(output, "utf8").trim().split("\r\n")).toEqual(errors);

    const startRun = await run("batch", "start", id);
    expect([startRun.code, startRun.stderr]).toEqual([2, expect.stringContaining("or start with --skip-invalid\n")]);
    const watchRun = await run("batch", "watch", id);
    expect([watchRun.code, watchRun.stderr]).toEqual([2, expect.stringContaining("is a draft")]);
    expect((await run("batch", "delete", id)).code).toBe(0);
    expect((await run("batch", "show", id)).code).toBe(2);
  });

  test("calls each valid number once, and lists the results", async () => {
    const { instanceId } = await cli.caller("batcher");
    const run = (...args: string[]) => cli.run("batcher", args);
    const rows = ["+12025550100,Ana,a", "+12025550101,Ben,b", "+12025550150,Eva,c", "+12025550100,Ana,d"];
    const file = writeCsv(["phone,nome,ref", ...rows].join("\n"));
    const createRun = await run("batch", "create", file, "--text", TEXT, "--instance", instanceId, "--start");
    expect(createRun.stderr).toContain("row 5");
    expect(createRun.code).toBe(0);
    const id = createRun.stdout.trim();
    const watchRun = await run("batch", "watch", id);
    expect(watchRun.stdout).toContain(`${id} is COMPLETED: 2 completed, 1 failed, 1 repeated`);
    expect(watchRun.stdout).toContain("1 FAILED busy");
    expect(watchRun.code).toBe(1);
    const documents = (await run("batch", "watch", id, "--json")).stdout.trim().split("\n");
    expect(documents.map((text) => JSON.parse(text))).toMatchObject([{ id, status: "COMPLETED" }]);

    const results = (await run("batch", "results", id)).stdout.trim().split("\n");
    expect(results.map((row) => row.split("\t").slice(1, 4))).toEqual([
      ["+12025550100", "COMPLETED", "message_played"],
      ["+12025550101", "FAILED", "busy"],
      ["+12025550150", "COMPLETED", expect.any(String)],
      ["+12025550100", "DUPLICATE", expect.stringContaining("row 2")],
    ]);
    const csv = (await run("batch", "results", id, "--csv", "--status", "FAILED")).stdout.trim().split("\r\n");
    expect(csv).toHaveLength(2);
    expect(csv[1]).toContain(",b,");
    const output = join(freshFolder(), "results.csv");
    expect((await run("batch", "results", id, "--bom", "-o", output)).stdout).toBe(`${output}\n`);
    const plainCsv = (await run("batch", "results", id, "--csv")).stdout;
    expect([plainCsv.slice(0, 9), readFileSync(output, "utf8")]).toEqual(["position,", `\ufeff${plainCsv}`]);
    const dryRun = await run("batch", "create", output, "--text", TEXT, "--instance", instanceId, "--dry-run");
    expect(dryRun.stdout).toMatch(/^3 to call, 1 repeated\n/);
    const mixedFlagsRun = await run("batch", "results", id, "--json", "--bom");
    expect([mixedFlagsRun.code, mixedFlagsRun.stderr]).toEqual([2, expect.stringContaining("leave out --bom")]);
    const calls = JSON.parse((await run("calls", "--batch", id, "--json")).stdout) as { target_phone: string }[];
    expect(calls.map((call) => call.target_phone).sort()).toEqual(["+12025550100", "+12025550101", "+12025550150"]);
  });

  test("is scheduled, paused, resumed and cancelled", async () => {
    const { instanceId } = await cli.caller("planner");
    const run = (...args: string[]) => cli.run("planner", args);
    const file = writeCsv("phone,nome\n+12025550102,Ana\n+12025550103,Ben\n");
    const create = ["batch", "create", file, "--text", TEXT, "--instance", instanceId, "--start"];
    const scheduleRun = await run(...create, "--at", "+2h");
    expect(scheduleRun.stderr).toMatch(/^Calls from \w{3} \d{4}-\d\d-\d\d \d\d:\d\d/m);
    expect(scheduleRun.stderr).toContain('"people" is SCHEDULED: 2 to call');
    const plan = JSON.parse((await run("batch", "plan", scheduleRun.stdout.trim(), "--json")).stdout);
    expect(plan.calls).toHaveLength(2);
    const resultRows = (await run("batch", "results", scheduleRun.stdout.trim())).stdout.trim().split("\n");
    expect(resultRows[1]).toMatch(/\tthe start of the batch, \w{3} \d{4}-\d\d-\d\d \d\d:\d\d/);

    const id = (await run(...create)).stdout.trim();
    expect((await run("batch", "pause", id)).stderr).toContain(`${id} is PAUSED`);
    expect((await run("batch", "resume", id)).stderr).toContain(`${id} is RUNNING`);
    expect((await run("batch", "cancel", id, "--live", "end")).stderr).toContain(`${id} is CANCELLED`);
    expect((await run("batch", "watch", id)).code).toBe(1);
    const listedFields = (await run("batch", "list", "--status", "cancelled")).stdout.trim().split("\t");
    expect(listedFields.slice(0, 3)).toEqual([id, "CANCELLED", "people"]);
  });

  test("names the reason for a retry, and its time", async () => {
    const { instanceId } = await cli.caller("repeater");
    const run = (...args: string[]) => cli.run("repeater", args);
    const file = writeCsv("phone,nome\n+12025550101,Ana\n");
    const create = ["batch", "create", file, "--text", TEXT, "--instance", instanceId, "--start", "--retry", "busy:1"];
    const id = (await run(...create)).stdout.trim();
    await expect
      .poll(async () => (await run("batch", "results", id)).stdout, { timeout: 20_000 })
      .toMatch(/\tWAITING\tbusy\t1\t.*\ta retry after busy, \w{3} \d{4}-\d\d-\d\d \d\d:\d\d/);
    expect((await run("batch", "show", id)).stdout).toMatch(/WAITING after busy\s+1/);
    await run("batch", "cancel", id);
  });

  test("stores no batch if the file or an option is wrong", async () => {
    const { instanceId } = await cli.caller("mistaken");
    const run = (...args: string[]) => cli.run("mistaken", args);
    const noNumbers = await run("batch", "create", writeCsv("nome\nAna\n"), "--text", TEXT, "--instance", instanceId);
    expect([noNumbers.code, noNumbers.stderr]).toEqual([
      2,
      expect.stringMatching(/^ringport: FILE is ".*people.csv": .*, or choose it with --phone-column\n$/),
    ]);
    const create = [
      "batch",
      "create",
      writeCsv("phone,who\n+12025550101,Ana\n"),
      "--text",
      TEXT,
      "--instance",
      instanceId,
    ];
    const noColumn = await run(...create, "--variable-columns", "nome");
    expect([noColumn.code, noColumn.stderr]).toEqual([2, expect.stringContaining('"nome" must be NAME=COLUMN')]);
    const wrongColumn = await run(...create, "--variable-columns", "nome=Nome");
    expect([wrongColumn.code, wrongColumn.stderr]).toEqual([2, expect.stringContaining('there is no column "Nome"')]);
    for (const [option, value, problem] of [
      ["--text", "Hi {{who", '"{{who" is not closed: write {{who}}'],
      ["--voice", "english", "must be"],
      ["--zone", "Mars", 'must be "callee"'],
    ] as const) {
      const wrongOption = await run(...create, "--hours", "09:00-18:00", option, value);
      expect([wrongOption.code, wrongOption.stderr]).toEqual([2, expect.stringMatching(`^ringport: ${option}\\b`)]);
      expect(wrongOption.stderr).toContain(`"${value}"`);
      expect(wrongOption.stderr).toContain(problem);
    }
    const twoColumns = await run(
      ...["batch", "create", writeCsv("phone,mobile\n+12025550101,+12025550102\n"), "--text", "Hi."],
      ...["--instance", instanceId],
    );
    expect([twoColumns.code, twoColumns.stderr]).toEqual([
      2,
      expect.stringContaining('the columns "phone", "mobile" may both have the phone numbers'),
    ]);
    const missingFile = await run("batch", "create", "no.csv", "--text", TEXT);
    expect([missingFile.code, missingFile.stderr]).toEqual([2, 'ringport: FILE is "no.csv": there is no such file\n']);
    expect(JSON.parse((await run("batch", "list", "--json")).stdout)).toEqual([]);
  });
});
