import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { mustRun, run } from "../package/support/run.ts";
import { freePort } from "../support/free-port.ts";
import { start } from "../support/runtimes.ts";
import { type CallView, expected, until } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { loudPart } from "../support/server-sound.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clientOf, folder, runtimeNamed, tokenOfCommandLine } from "./example.ts";
import { startProgram } from "./program.ts";
import { expectTone, placeToneCall } from "./tone-call.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUN = join(ROOT, "test/examples/run.ts");
const LINK_PAGE = /http:\S+\/simulator\/\S*\w/;
const node = runtimeNamed("node26");

describe.skipIf(node.missing)(`the examples README, on ${node.title}`, () => {
  test("an Express app of five lines places a call", async () => {
    const [, lines = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(folder(), "README.md"), "utf8")) ?? [];
    expect(lines.split("\n").filter(Boolean)).toHaveLength(5);
    const port = await freePort();
    rmSync(join(folder(), "data"), { recursive: true, force: true });
    writeFileSync(join(folder(), "five-lines.ts"), lines.replace("8080", String(port)));
    const app = startProgram(node, ["five-lines.ts"], folder());
    onTestFinished(app.end);
    const base = `http://127.0.0.1:${port}`;
    const healthStatus = () => fetch(`${base}/healthz`).then(({ status }) => status, String);
    await until(healthStatus, (status) => status === 200, 20_000, "the app");
    const client = clientOf(app, base, await tokenOfCommandLine(folder()));
    expectTone(await client.heard(await placeToneCall(client)));
  });

  test("npm run example starts bun-server in a clone", async () => {
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const cwd = temporaryFolder("clone");
    const server = await start(node, RUN, { args: ["bun-server"], cwd, env: { PATH } });
    onTestFinished(async () => void (await server.stop())); // a killed process cannot end its children
    const tokenCommand = [...node.command, join(ROOT, "adapters/cli/main.ts"), "token", "create", "--user", "me"];
    const client = clientOf(server, server.url, (await mustRun(tokenCommand, { cwd })).trim());
    expectTone(await client.heard(await placeToneCall(client)));
    expect(await server.stop()).toBe(0);
  });

  test("npm run example places the README's call", async () => {
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const cwd = temporaryFolder("first-call");
    const server = await start(node, join(ROOT, "adapters/cli/main.ts"), { args: ["serve"], cwd, env: { PORT: "0" } });
    onTestFinished(async () => void (await server.stop()));
    const tokenCommand = [...node.command, join(ROOT, "adapters/cli/main.ts"), "token", "create", "--user", "me"];
    const client = clientOf(server, server.url, (await mustRun(tokenCommand, { cwd })).trim());
    const { id: INSTANCE } = await client.activeInstance();
    const env = { PATH, RINGPORT_URL: server.url, RINGPORT_TOKEN: client.token!, INSTANCE };
    expect(await startProgram(node, [RUN, "first-call"], ROOT, env).finalOutput).toMatch(
      /^completed\ntrue message_played 1$/m,
    );
    const [call] = expected(200, await client.get("/v1/calls")).json<CallView[]>();
    expect(loudPart(await client.heard(call!.id)).to).toBeGreaterThan(8_000); // samples: more than a word or two
  });

  test("npm run example calls each patient of an agenda in Portuguese", async () => {
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const cwd = temporaryFolder("agenda");
    const server = await start(node, join(ROOT, "adapters/cli/main.ts"), { args: ["serve"], cwd, env: { PORT: "0" } });
    onTestFinished(async () => void (await server.stop()));
    const tokenCommand = [...node.command, join(ROOT, "adapters/cli/main.ts"), "token", "create", "--user", "me"];
    const client = clientOf(server, server.url, (await mustRun(tokenCommand, { cwd })).trim());
    const agenda = [
      { paciente: "Ana", telefone: "+5511955550100", horario: "amanhã às nove horas" },
      { paciente: "Bruno", telefone: "+5511955550101", horario: "na próxima quinta-feira às dez e meia da manhã" },
    ];
    writeFileSync(join(cwd, "agenda.json"), JSON.stringify(agenda));
    const env = { PATH, RINGPORT_URL: server.url, RINGPORT_TOKEN: client.token! };
    const program = startProgram(node, [RUN, "lembrete-de-consulta", join(cwd, "agenda.json")], ROOT, env);
    await Promise.race([
      program.finalOutput,
      until(program.output, (text) => LINK_PAGE.test(text), 60_000, "the link page"),
    ]);
    expected(200, await send("POST", LINK_PAGE.exec(program.output())![0]));
    expect(await program.finalOutput).toMatch(
      /^Ana: ouviu 100 % \(message_played\)\nBruno: ouviu 100 % \(message_played\)$/m,
    );

    const calls = expected(200, await client.get("/v1/calls?expand=outcome")).json<CallView[]>();
    const durations: number[] = [];
    for (const { id, target_phone, outcome } of calls.reverse()) {
      const { from, to } = loudPart(await client.heard(id));
      durations.push(to - from);
      expect(agenda.map(({ telefone }) => telefone)).toContain(target_phone);
      expect(outcome).toMatchObject({ heard_ratio: 1 });
    }
    expect(durations[0]).toBeGreaterThan(8_000); // samples: more than a word or two
    expect(durations[1]).toBeGreaterThan(durations[0]!); // a longer text
  });

  test("npm run example lists the examples for an unknown name", async () => {
    const { code, stderr } = await run([...node.command, RUN, "no-such"], { cwd: ROOT });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^"no-such" is no example .*: .*bun-server, .*your-own-storage, your-own-telephony$/m);
  });
});
