import { expect, test } from "vitest";
import type { BatchMessage, BatchTarget, TargetResult } from "../../../src/domain/batches/batch.ts";
import type { CsvColumns } from "../../../src/domain/batches/column-meanings.ts";
import { targetsCsvHeader, targetsCsvRow } from "../../../src/domain/batches/target-csv.ts";
import { csvTargets, type TargetRow } from "../../../src/domain/batches/target-rows.ts";

const SPEECH_MESSAGE: BatchMessage = {
  type: "FIXED_TTS",
  tts: { text: "Hello {{name}}, your {{status}}", voiceId: "en-US-1" },
};
const TARGET: BatchTarget = {
  batchId: "batch_1",
  position: 3,
  row: 4,
  phone: "+12025550101",
  status: "INVALID",
  phoneKey: null,
  zones: "",
  attempts: 0,
  nextAttemptAt: null,
  callId: null,
  reason: null,
  updatedAt: 0,
  version: 1,
};

const RESULT: TargetResult = {
  ...{
    reason: "message_played",
    detail: null,
    answeredBy: "human",
    heardMs: 900,
    heardRatio: 0.5,
    heardEvidence: null,
  },
  ...{ durationMs: 1_000, startedAt: 0, endedAt: 1_000 },
};

function csvOf(message: BatchMessage, ...targets: Partial<BatchTarget>[]): string {
  const rowOf = targetsCsvRow(message);
  return targetsCsvHeader(message) + targets.map((target) => rowOf({ ...TARGET, ...target })).join("");
}

async function importRows(csv: string, columns: CsvColumns = {}): Promise<TargetRow[]> {
  const rows: TargetRow[] = [];
  const chunks = async function* () {
    yield new TextEncoder().encode(csv);
  };
  for await (const row of csvTargets(chunks(), columns)) rows.push(row);
  return rows;
}

test("a target's results are one row", () => {
  const agent = {
    resultSchema: { type: "object", properties: { visit: { type: "string" }, floor: { type: "integer" } } },
  };
  const csv = csvOf(
    { type: "DYNAMIC_AGENT", agent: { ...agent, instructions: ["Say: Hi {{name}}"] } },
    {
      status: "COMPLETED",
      reference: "visit 7",
      variables: { name: 'Ada "the first", of two' },
      attempts: 2,
      reason: "agent_finished",
      callId: "call_1",
      result: { ...RESULT, reason: "agent_finished", result: { visit: "yes", floor: 2 } },
    },
  );
  expect(csv).toBe(
    "position,row,phone_number,reference,extension,name,status,attempts,reason,detail,answered_by,heard_ms,heard_ratio," +
      "duration_ms,started_at,ended_at,call_id,faults,result.visit,result.floor\r\n" +
      '3,4,+12025550101,visit 7,,"Ada ""the first"", of two",COMPLETED,2,agent_finished,,human,900,0.5,' +
      "1000,1970-01-01T00:00:00.000Z,1970-01-01T00:00:01.000Z,call_1,,yes,2\r\n",
  );
});

test.each([
  ["=1+1", "'=1+1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["-2+3", "'-2+3"],
  ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
  ["\t=1", '"\'\t=1"'],
  ["-17.5", "-17.5"],
  ["+12025550101", "+12025550101"],
  ["it's", "it's"],
])("a cell %j is written as %s", (value, cell) => {
  const [, row = ""] = csvOf(SPEECH_MESSAGE, { reference: value }).split("\r\n");
  expect(row.startsWith(`3,4,+12025550101,${cell},`)).toBe(true);
});

test("a file of invalid targets is imported again unchanged", async () => {
  const csv = csvOf(SPEECH_MESSAGE, {
    phone: "=12",
    reference: "-x",
    extension: "12,3",
    variables: { name: "+Ada", status: "bill" },
    faults: [{ column: "phoneNumber", code: "phone_number_invalid", detail: "must be E.164" }],
  });
  expect(csv).toContain("variables.status");
  expect(csv).toContain("phoneNumber: must be E.164");
  const variables = { name: "+Ada", status: "bill" };
  expect(await importRows(csv)).toMatchObject([
    { row: 2, input: { phoneNumber: "=12", reference: "-x", extension: "12,3", variables } },
  ]);
});

test.each<CsvColumns>([
  {},
  { phone: "phone_number" },
  { phone: " Phone_Number", reference: "reference" },
  { phone: "phone_number", variableColumns: { name: "name" } },
  { variables: ["name", "status", "callId"] },
])("the results in an exported file are not variables with the columns %j", async (columns) => {
  const message = { ...SPEECH_MESSAGE, tts: { text: "{{name}} {{status}} {{callId}}", voiceId: "en-US-1" } };
  const variables = { name: "Ada", status: "bill", callId: "7" };
  const csv = csvOf(message, {
    reference: "r",
    extension: "12",
    variables,
    attempts: 2,
    callId: "call_1",
    result: RESULT,
  });
  expect(await importRows(csv, columns)).toEqual([
    {
      row: 2,
      input: { phoneNumber: TARGET.phone, reference: "r", extension: "12", variables },
      columns: { phoneNumber: "phone_number", status: "variables.status" },
    },
  ]);
});

test("an exported file may take its numbers from another column", async () => {
  const csv = csvOf(SPEECH_MESSAGE, { variables: { name: "+12025550102", status: "bill" } });
  expect(await importRows(csv, { phone: "name" })).toMatchObject([
    { input: { phoneNumber: "+12025550102", variables: { phone_number: TARGET.phone, status: "bill" } } },
  ]);
});

test("a chosen column is a variable, whatever its name", async () => {
  const csv = "phone,First Name,name,reference\n+12025550101,Ada,Countess,7\n";
  const [row] = await importRows(csv, { variableColumns: { name: "first name", visit: "Reference" } });
  expect(row).toMatchObject({ row: 2, input: { phoneNumber: "+12025550101", variables: { name: "Ada", visit: "7" } } });
});

test.each([
  [{ name: "Nome" }, 'there is no column "Nome" for the variable name; the columns are "phone", "who"'],
  [{ name: "phone" }, 'the column "phone" has the numbers, so it cannot be the column of the variable name'],
  [{ a: "who", b: "Who" }, 'the column "Who" has the variable a, so it cannot be the column of the variable b'],
])("variable columns %j are refused", async (variableColumns, detail) => {
  await expect(importRows("phone,who\n+12025550101,Ada\n", { variableColumns })).rejects.toMatchObject({
    errors: [expect.objectContaining({ detail })],
  });
});

test.each([
  ['{"targets":[]}\n', "the file is JSON, not a CSV file"],
  ["p\0h\0o\0n\0e\0\n", "save it as CSV in UTF-8"],
  ["", "the file is empty"],
  ["\n\n", "the file is empty"],
  ["phone,name\n\n", "the file has no rows below its header: add one for each person to call"],
  ["%PDF-1.7\n1 0 obj\n", "the file is a PDF, not a CSV file: export it as CSV"],
  [
    "PK\u0003\u0004\u0014..[Content_Types].xml",
    "the file is an Excel workbook (XLSX), not a CSV file: save it as CSV UTF-8",
  ],
  ["PK\u0003\u0004\u0014..people.csv", "the file is a ZIP archive, not a CSV file: unpack it"],
  ["<!DOCTYPE html>\n<html>", "the file is HTML or XML"],
  [
    "phone,Nome\n+12025550101,Ada\n",
    'the message needs {{name}}, and no column has that name; the columns are "phone", "Nome": name one of them "name"',
  ],
  ["phone,phone\n+12025550101,7\n", 'two columns are named "phone"'],
  ["phone,name,Name\n+12025550101,Ada,Countess\n", 'two columns are named "name"'],
  [
    "phone,mobile\n+12025550101,+12025550102\n",
    'the columns "phone", "mobile" may both have the phone numbers: choose',
  ],
  ["name,Phone,phone\nAda,+12025550101,7\n", 'two columns are named "Phone"'],
  ["who\nAda\n", 'the columns are "who": name one of them phone, or choose it with phone_column'],
])("the file %j is refused", async (csv, detail) => {
  await expect(importRows(csv, { variables: ["name"] })).rejects.toMatchObject({
    errors: [expect.objectContaining({ detail: expect.stringContaining(detail) })],
  });
});

test.each([
  [[0xff, 0xfe, 0x70, 0], "UTF-16"],
  [[0xfe, 0xff, 0, 0x70], "UTF-16"],
  [[0x1f, 0x8b, 8, 0], "compressed (gzip)"],
  [[0xd0, 0xcf, 0x11, 0xe0], "an old Excel workbook (XLS)"],
])("a file that begins with %j is refused as %s", async (head, format) => {
  async function* bytes() {
    for (const byte of head) yield Uint8Array.of(byte);
  }
  await expect(Array.fromAsync(csvTargets(bytes()))).rejects.toMatchObject({
    errors: [expect.objectContaining({ detail: expect.stringContaining(format) })],
  });
});

test("of two columns with similar names, the one spelled as chosen has the numbers", async () => {
  const csv = "phone,Phone\n7,+12025550101\n";
  expect(await importRows(csv, { phone: "Phone" })).toMatchObject([{ input: { phoneNumber: "+12025550101" } }]);
  await expect(importRows("phone,phone\n7,+12025550101\n", { phone: "phone" })).rejects.toMatchObject({
    errors: [
      expect.objectContaining({ detail: 'two columns are named "phone": rename the one that is not for the numbers' }),
    ],
  });
});

test.each([
  ["a chosen column", "phone,mobile\n1,+12025550101\n", { phone: "mobile" }],
  ["the non-variable column", "number,telefone,name\n7,+12025550101,Ada\n", { variables: ["number", "name"] }],
  ["the column without another use", "tel,Fone\n7,+12025550101\n", { variableColumns: { name: "Tel" } }],
  ["the column without the references", "number,phone\n7,+12025550101\n", { reference: "number" }],
])("%s has the numbers", async (_, csv, columns) => {
  expect(await importRows(csv, columns)).toMatchObject([{ input: { phoneNumber: "+12025550101" } }]);
});

test("a row with more cells than the header gets a fault that names the fix", async () => {
  expect(await importRows("phone,name\n+12025550101,Ada,Ben\n")).toMatchObject([
    { row: 2, fault: { detail: expect.stringContaining("put quotes around a cell that contains the delimiter") } },
  ]);
});
