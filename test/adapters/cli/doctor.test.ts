import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openaiServer } from "../../support/openai-server.ts";
import { findPostgres } from "../../support/postgres.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder, node, run } from "./run-cli.ts";

interface Finding {
  readonly name: string;
  readonly state: "works" | "missing" | "broken";
  readonly detail: string;
  readonly fix: string | null;
}
interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

const NO_SERVER = { RINGPORT_URL: "http://127.0.0.1:1" };

async function examine(
  env: Record<string, string>,
  cwd = freshFolder(),
): Promise<{ code: number | null; report: Report; finding(name: string): Finding | undefined }> {
  const { code, stdout, stderr } = await run(["doctor", "--json"], { ...NO_SERVER, ...env }, cwd);
  expect(stderr).toBe("");
  const report = JSON.parse(stdout) as Report;
  return { code, report, finding: (name) => report.findings.find((finding) => finding.name === name) };
}

describe.skipIf(node.missing)(`ringport doctor on ${node.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();

  test("lists checks with fixes, and creates no files", async () => {
    const folder = freshFolder();
    const { code, report, finding } = await examine({ PATH: "" }, folder);
    expect([code, report.ok]).toEqual([0, true]);
    for (const name of [
      "runtime",
      "settings",
      "sqlite",
      "data folder",
      "worker threads",
      "speech flite",
      "port",
      "clock",
    ])
      expect(finding(name), name).toMatchObject({ state: "works", fix: null });
    expect(finding("speech espeak-ng")?.detail).toMatch(/^\d+ voices, \d+ languages; .* spoke within \d+ ms$/);
    expect(finding("server")).toMatchObject({ state: "missing", fix: expect.stringContaining("npm start") });
    expect(finding("players")).toMatchObject({ state: "missing", fix: expect.stringContaining("install") });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("prints one line per check, with a verdict at the end", async () => {
    const { token = "" } = await cli.server.as("patient");
    const env = { RINGPORT_URL: cli.server.base, RINGPORT_TOKEN: token };
    const { code, stdout } = await run(["doctor"], env);
    expect(code).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines.at(-1)).toBe("All checks passed: calls can be placed.");
    for (const line of lines.slice(0, -2)) expect(line).toMatch(/^[✓–✗] [a-z]/);
    expect(stdout).toMatch(/^✓ token +is valid; 0 instances/m);
    expect(stdout).toContain("the same as the server's");
    expect(stdout).not.toContain(token);
  });

  test("a problem is listed with its fix, and the exit code is 1", async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, "file"), "");
    const otherServer = createServer((_, response) => response.end("hello"));
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve));
    const { port } = otherServer.address() as { port: number };
    try {
      const { code, report, finding } = await examine({
        RINGPORT_DATA: join(folder, "file", "data"),
        PORT: String(port),
        RINGPORT_URL: cli.server.base,
        RINGPORT_TOKEN: "rp_live_wrong",
        RINGPORT_SPEECH_URL: "http://127.0.0.1:1/v1",
        RINGPORT_SPEECH_MODEL: "none",
        RINGPORT_SPEECH_VOICES: '{"pt-BR-1":{"voice":"x"}}',
        RINGPORT_TRANSCRIPTION_ENGINE: "openai-realtime",
        RINGPORT_TRANSCRIPTION_URL: `http://127.0.0.1:${port}/v1`,
        RINGPORT_TRANSCRIPTION_MODEL: "none",
      });
      expect([code, report.ok]).toEqual([1, false]);
      expect(finding("data folder")).toMatchObject({ state: "broken", fix: expect.stringContaining("RINGPORT_DATA") });
      expect(finding("data folder")?.detail).toContain(`${join(folder, "file")} is a file`);
      expect(finding("port")).toMatchObject({ state: "broken", detail: expect.stringContaining("another program") });
      expect(finding("token")).toMatchObject({ state: "broken", fix: expect.stringContaining("token create") });
      expect(finding("transcripts openai-realtime")).toMatchObject({
        state: "broken",
        fix: expect.stringContaining("RINGPORT_TRANSCRIPTION_URL"),
      });
      expect(finding("speech http")).toMatchObject({
        state: "broken",
        fix: expect.stringContaining("RINGPORT_SPEECH_URL"),
      });
    } finally {
      otherServer.close();
    }
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("no secret in the settings is ever printed", async () => {
    const engine = "http://127.0.0.1:1/v1";
    const env = {
      ...{ RINGPORT_URL: cli.server.base, RINGPORT_TOKEN: "rp_live_hunter2hunter2", RINGPORT_SECRET: "hunter2" },
      RINGPORT_SIP_TRUNKS: '[{"name":"acme","server":"sip:127.0.0.1:1","user":"me","password":"hunter2"}]',
      ...{ RINGPORT_SPEECH_URL: engine, RINGPORT_SPEECH_KEY: "hunter2", RINGPORT_SPEECH_MODEL: "none" },
      RINGPORT_SPEECH_VOICES: '{"pt-BR-1":{"voice":"x"}}',
      ...{ RINGPORT_TRANSCRIPTION_ENGINE: "openai", RINGPORT_TRANSCRIPTION_URL: engine },
      ...{ RINGPORT_TRANSCRIPTION_KEY: "hunter2", RINGPORT_TRANSCRIPTION_MODEL: "none", LOG_LEVEL: "debug" },
    };
    for (const args of [["doctor"], ["doctor", "--json"], ["sip", "check"], ["sip", "check", "--json"], ["serve"]]) {
      const { code, stdout, stderr } = await run(args, env);
      expect(code, args.join(" ")).not.toBe(0);
      expect(stdout + stderr).not.toContain("hunter2");
    }
  });

  test("the agent's model is tested with a word, and call limits are listed", async () => {
    const model = await openaiServer({ understand: () => "", answer: () => ({ text: "Yes." }), apiKey: "hunter2" });
    try {
      const env = {
        ...{ RINGPORT_AGENT_URL: model.baseUrl, RINGPORT_AGENT_MODEL: "m", RINGPORT_AGENT_MAX_TURNS: "20" },
        ...{ RINGPORT_TRANSCRIPTION_ENGINE: "openai", RINGPORT_TRANSCRIPTION_URL: model.baseUrl },
        RINGPORT_TRANSCRIPTION_MODEL: "m",
      };
      const { finding } = await examine({ ...env, RINGPORT_AGENT_KEY: "hunter2" });
      const limits = "a call has at most 20 replies and 200000 tokens";
      expect(finding("agent cascade")).toMatchObject({
        state: "works",
        detail: expect.stringMatching(new RegExp(`^replied within \\d+ ms; ${limits}$`)),
      });
      const wrongKey = await examine({ ...env, RINGPORT_AGENT_KEY: "hunter3" });
      expect(wrongKey.finding("agent cascade")).toMatchObject({
        state: "broken",
        detail: expect.stringContaining("401"),
      });
      expect(JSON.stringify(wrongKey.report)).not.toContain("hunter3");
    } finally {
      await model.close();
    }
  });

  test("servers of HTTP tools get a connection but no request", async () => {
    let [connections, requests] = [0, 0];
    const server = createServer((_, response) => {
      requests++;
      response.end();
    }).on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const tool = (name: string, url: string) => ({ name, description: "Finds.", parameters: { type: "object" }, url });
    try {
      const validTools = [
        tool("one", `http://127.0.0.1:${port}/a?key=hunter2`),
        tool("two", `http://127.0.0.1:${port}/b`),
      ];
      const tools = [...validTools, tool("three", "http://127.0.0.1:1/"), tool("four", `https://127.0.0.1:${port}/`)];
      const ALLOW = { RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE: "1" };
      const { code, report } = await examine({ RINGPORT_AGENT_TOOLS: JSON.stringify(tools), ...ALLOW });
      expect(code).toBe(0);
      const toolFindings = report.findings.filter(({ name }) => name === "agent tools");
      expect(toolFindings.map(({ state, detail }) => `${state}: ${detail}`)).toEqual([
        expect.stringMatching(/^works: http:\S+, of one, two: connected within \d+ ms, and no request was sent$/),
        expect.stringMatching(/^broken: http:\S+, of three: no connection: .*ECONNREFUSED/),
        expect.stringMatching(/^broken: https:\S+, of four: no connection: /),
      ]);
      expect(JSON.stringify(report)).not.toContain("hunter2");
      expect([connections, requests]).toEqual([2, 0]);

      const guardedTools = await examine({
        RINGPORT_AGENT_TOOLS: JSON.stringify([tool("five", "https://127.0.0.1:1/")]),
      });
      expect(guardedTools.finding("agent tools")?.detail).toContain("has no public address");
      const wrongTools = await examine({ RINGPORT_AGENT_TOOLS: "[{}]" });
      expect([wrongTools.code, wrongTools.finding("agent tools")?.detail]).toEqual([
        1,
        expect.stringContaining("name is missing"),
      ]);
    } finally {
      server.close();
    }
  });

  test("a running Ringport is not a problem; an unknown setting is listed", async () => {
    const { port } = new URL(cli.server.base);
    const { code, finding } = await examine({ PORT: port, RINGPORT_DATE: "x" });
    expect(code).toBe(0);
    expect(finding("port")).toMatchObject({
      state: "works",
      detail: `a Ringport server responds at ${cli.server.base}`,
    });
    expect(finding("settings")?.detail).toContain("did you mean RINGPORT_DATA?");
    const wrongTimeout = await examine({ RINGPORT_RING_TIMEOUT_MS: "soon" });
    expect([wrongTimeout.code, wrongTimeout.finding("settings")?.detail]).toEqual([
      1,
      expect.stringContaining('is "soon"'),
    ]);
  });

  test.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
    "a folder that is not writable is listed (not as root)",
    async () => {
      const folder = freshFolder();
      const lockedFolder = join(folder, "locked");
      mkdirSync(lockedFolder);
      chmodSync(lockedFolder, 0o500);
      const { finding } = await examine({ RINGPORT_DATA: join(lockedFolder, "data") });
      expect(finding("data folder")).toMatchObject({
        state: "broken",
        detail: expect.stringContaining("cannot be written"),
      });
      expect(existsSync(join(lockedFolder, "data"))).toBe(false);
    },
  );
});

const postgres = await findPostgres();
const noPostgres = node.missing ?? postgres.missing;

describe.skipIf(noPostgres)(`ringport doctor with PostgreSQL${noPostgres ? ` (${noPostgres})` : ""}`, () => {
  test("a database is listed with its version, an unreachable one without its password", async () => {
    const server = await postgres.start();
    try {
      const url = await server.createDatabase();
      const validUrl = await examine({ DATABASE_URL: url });
      expect([validUrl.code, validUrl.finding("postgresql")?.detail]).toEqual([
        0,
        expect.stringMatching(/^PostgreSQL \d+/),
      ]);
    } finally {
      await server.stop();
    }
    const badPassword = await examine({ DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/calls" });
    expect([badPassword.code, badPassword.finding("postgresql")?.state]).toEqual([1, "broken"]);
    expect(JSON.stringify(badPassword.report)).not.toContain("hunter2");
  }, 60_000);
});
