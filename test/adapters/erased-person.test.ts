import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import { columnsWith, type Database, NUMBER_PLACES } from "../../adapters/storage/tables/all-tables.ts";
import { createRingport, type Ringport } from "../../src/ringport.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech } from "../support/application.ts";
import { findPostgres, openClient } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The two forms of one number: with Brazil's ninth digit, and without it. */
const FORMS = ["+5511987654321", "+551187654321"] as const;
const PERSON = /(?<!\d)55119?87654321(?!\d)/;
/** Numbers of other people; the last two contain the person's digits. */
const OTHER_NUMBERS = ["+4930123456", "+55119876543210", "+155118765432"] as const;
/** Columns whose text is not JSON. */
const PLAIN_TEXT_COLUMNS: ReadonlySet<string> = new Set(["target_phone", "sip_call_id", "reference", "result_error"]);

/** A test database with direct SQL access; `dump` returns its whole content as one string. */
interface RawDatabase {
  run(sql: string): Promise<unknown>;
  dump(): Promise<string>;
}

/** All files in a folder, with their bytes as text. */
function filesOf(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, "latin1") }));
}

/** Stores a form of the number in every place of NUMBER_PLACES; returns the ids of the affected calls. */
async function storePerson(ringport: Ringport, database: RawDatabase, data: string): Promise<string[]> {
  const { id: instanceId } = await ringport.instances.create(ALICE, { name: "Line" });
  let n = 0;
  const next = (): string => FORMS[n++ % FORMS.length]!;
  const endedCall = async (phoneNumber: string = OTHER_NUMBERS[0]): Promise<string> => {
    const input = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } } as const;
    const { id } = await ringport.calls.create(ALICE, input);
    await ringport.calls.hangUp(ALICE, id);
    return id;
  };
  const ids: string[] = [];
  for (const column of columnsWith("calls", "call")) {
    const [id, phone] = [await endedCall(), next()];
    const text = PLAIN_TEXT_COLUMNS.has(column)
      ? phone
      : JSON.stringify({ detail: `transferred to ${phone}`, transferTo: [phone] });
    await database.run(`update calls set ${column} = '${text}' where id = '${id}'`);
    ids.push(id);
  }
  const transferredId = await endedCall();
  const event = JSON.stringify({ to: next(), detail: "202 Accepted" });
  await database.run(`update events set data = '${event}' where call_id = '${transferredId}' and type = 'queued'`);
  const transcribedId = await endedCall();
  const line = `'${transcribedId}', 0, 'callee', '"Call ${next()}"', 1, 0, 500`;
  await database.run(
    `insert into transcripts (call_id, position, speaker, text, at, start_ms, end_ms) values (${line})`,
  );
  const link = JSON.stringify({ phone: next() });
  await database.run(`update events set data = '${link}', type = 'instance.linked' where call_id is null`);
  for (const phone of FORMS) {
    const key = `s/session/${phone.slice(1)}%7Cs.whatsapp.net%7C0`;
    const byte = database instanceof PostgresDatabase ? "'\\x01'" : "x'01'";
    await database.run(
      `insert into line_records (instance_id, key, sealed) values ('${instanceId}', '${key}', ${byte})`,
    );
  }
  mkdirSync(join(data, "call-recordings"), { recursive: true });
  writeFileSync(join(data, "call-recordings", `${transferredId}.wav`), "RIFF");
  for (const phone of OTHER_NUMBERS.slice(1)) await endedCall(phone);
  return [...ids, transferredId, transcribedId];
}

class SqliteFile implements RawDatabase {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async run(sql: string): Promise<void> {
    const database = new DatabaseSync(join(this.#folder, "ringport.sqlite"), { timeout: 5_000 });
    database.exec(sql);
    database.close();
  }

  /** The files, the WAL included. */
  async dump(): Promise<string> {
    const files = filesOf(this.#folder).filter(({ path }) => path.includes("ringport.sqlite"));
    return files.map(({ text }) => text).join("\n");
  }
}

class PostgresDatabase implements RawDatabase {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async run(sql: string): Promise<void> {
    await using client = await openClient(this.#url);
    await client.query(sql);
  }

  /** Every row of every table. */
  async dump(): Promise<string> {
    await using client = await openClient(this.#url);
    const { rows: tables } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = current_schema()",
    );
    const lines: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ line: string }>(`select row_to_json(t)::text as line from "${name}" t`);
      lines.push(...rows.map(({ line }) => `${name} ${line}`));
    }
    return lines.join("\n");
  }
}

/** Fills all places, erases the person by one form of the number, and searches for both. */
async function expectErased(ringport: Ringport, database: RawDatabase, data: string): Promise<void> {
  const ids = await storePerson(ringport, database, data);
  const before = await database.dump();
  for (const form of FORMS) expect(before).toContain(form.slice(1));
  const erasure = await ringport.erase({ phone: FORMS[1] });
  expect(erasure).toMatchObject({
    calls: ids.length,
    transcriptLines: 1,
    lineRecords: 2,
    targets: 0,
    activeCalls: [],
    instances: [],
  });
  const after = await database.dump();
  expect(PERSON.exec(after)).toBeNull();
  for (const phone of OTHER_NUMBERS.slice(1)) expect(after).toContain(phone);
  const files = filesOf(data);
  expect(files.filter(({ text }) => PERSON.test(text)).map(({ path }) => path)).toEqual([]);
  expect(files.filter(({ path }) => path.endsWith(".wav"))).toEqual([]);
  for (const id of ids) await expect(ringport.calls.get(ALICE, id)).rejects.toMatchObject({ code: "call_not_found" });
}

const TITLE = "erasing a person leaves no form of their number anywhere";

test(`${TITLE}, in the files of SQLite`, { timeout: 60_000 }, async () => {
  const data = temporaryFolder("erased");
  const options = {
    system: new ManualSystem(),
    speech: new ToneSpeech(),
    embedded: { synchronous: "NORMAL" },
  } as const;
  const ringport = createRingport({ ...options, data });
  await ringport.instances.list(ALICE);
  await expectErased(ringport, new SqliteFile(data), data);
  await ringport.stop();
});

const postgres = await findPostgres();
test.skipIf(postgres.missing)(`${TITLE}, on ${postgres.title}`, { timeout: 60_000 }, async () => {
  const server = await postgres.start();
  try {
    const [data, url] = [temporaryFolder("erased"), await server.createDatabase()];
    const options = { system: new ManualSystem(), speech: new ToneSpeech() } as const;
    const ringport = createRingport({ ...options, data, storage: postgresStorage({ url }) });
    await ringport.instances.list(ALICE);
    await expectErased(ringport, new PostgresDatabase(url), data);
    await ringport.stop();
  } finally {
    await server.stop();
  }
});

test("the test fills every column that can contain a number", () => {
  const tables = Object.keys(NUMBER_PLACES) as (keyof Database)[];
  const placesOf = (place: "call" | "link" | "record"): string[] =>
    tables.flatMap((table) => columnsWith(table, place).map((column) => `${table}.${column}`));
  const callColumns = columnsWith("calls", "call").map((column) => `calls.${column}`);
  expect(placesOf("call")).toEqual([...callColumns, "events.data", "transcripts.text"]);
  expect(placesOf("link")).toEqual(["events.data"]);
  expect(placesOf("record")).toEqual(["line_records.key"]);
});
