import { type BatchTarget, type Client, createClient, type Instance } from "ringport/client";
import * as v from "valibot";
import { beforeAll, expect, test } from "vitest";
import { SCHEMAS } from "../../src/http/views/all-shapes.ts";
import { server, TEST_URL } from "./support/server.ts";

const { client: createTestClient, link } = server();
let client: Client;
let desk: Instance;
beforeAll(async () => {
  client = createTestClient();
  desk = await client.instances.create({ name: "Desk" });
  await link(client, desk);
}, 20_000);

const message = { type: "FIXED_TTS", tts: { text: "Hi {{name}}.", voiceId: "en-US-1" } } as const;
const input = () => ({ name: "Reminders", instanceIds: [desk.id], message });
const ADA = { phoneNumber: "+12025550150", variables: { name: "Ada" } };
const CSV = "phone;name\n+12025550150;Ada\n12;Bob\n";

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const results: T[] = [];
  for await (const item of items) results.push(item);
  return results;
}

const numbersOf = (targets: readonly BatchTarget[]) => targets.map(({ phone_number }) => phone_number);

test("a batch is planned, corrected and started, and its results are read", async () => {
  expect(v.parse(SCHEMAS.BatchPlan, await client.batches.dryRun({ ...input(), targets: [ADA] })).calls).toHaveLength(1);
  expect(await collect(client.batches.list())).toEqual([]);
  const batch = await client.batches.create(input());
  expect(v.parse(SCHEMAS.CreatedBatch, batch).status).toBe("DRAFT");
  const { id } = batch;
  const report = await client.batches.addTargets(id, CSV);
  expect(report).toMatchObject({ rows: 2, stored: { WAITING: 1, INVALID: 1 }, faults: [{ row: 3, position: 2 }] });
  const fault = {
    ...{ column: "phoneNumber", file_column: "phone", code: "phone_number_invalid" },
    detail: expect.stringMatching(/^column "phone": "12" must be /),
  };
  expect(v.parse(SCHEMAS.ImportReport, report).faults[0]?.faults).toEqual([fault]);
  const [, invalid] = await collect(client.batches.targets(id));
  expect(v.parse(SCHEMAS.BatchTarget, invalid).faults).toEqual([fault]);
  await expect(client.batches.start(id)).rejects.toMatchObject({ code: "batch_invalid" });
  expect(await client.batches.updateTarget(id, 2, { phoneNumber: "+12025550151" })).toMatchObject({
    status: "WAITING",
  });
  expect((await client.batches.plan(id)).targets).toEqual({ WAITING: 2 });
  const startedBatch = await client.batches.start(id);
  expect(v.parse(SCHEMAS.BatchDetails, startedBatch)).toMatchObject({ id, status: "RUNNING" });
  while ((await client.batches.get(id)).status !== "COMPLETED") await new Promise((resolve) => setTimeout(resolve, 50));
  const targets = await collect(client.batches.targets(id, { limit: 1 }));
  expect(numbersOf(v.parse(SCHEMAS.BatchTargetList, targets))).toEqual(["+12025550150", "+12025550151"]);
  const [header, ...rows] = (await client.batches.results(id, { status: ["COMPLETED", "FAILED"] }))
    .trim()
    .split("\r\n");
  expect(header).toMatch(/^position,row,phone_number,reference,extension,name,status,/);
  expect(rows).toHaveLength(2);
  const calls = await collect(client.calls.list({ batch_id: id }));
  expect(calls.map(({ batch_id }) => batch_id)).toEqual([id, id]);
  await client.batches.delete(id);
  await expect(client.batches.get(id)).rejects.toMatchObject({ code: "batch_not_found" });
}, 60_000);

test("a batch is paused, resumed and cancelled", async () => {
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  const batch = await client.batches.create({ ...input(), targets: [ADA], schedule: { startAt }, start: true });
  expect(batch.status).toBe("SCHEDULED");
  expect(await client.batches.pause(batch.id)).toMatchObject({ status: "PAUSED" });
  expect(await client.batches.resume(batch.id)).toMatchObject({ status: "RUNNING" });
  expect(await client.batches.cancel(batch.id, { liveCalls: "end" })).toMatchObject({ status: "CANCELLED" });
  const cancelledBatches = await collect(client.batches.list({ status: "CANCELLED" }));
  expect(cancelledBatches.map(({ id }) => id)).toEqual([batch.id]);
});

test.each([
  ["a list", () => [ADA, { ...ADA, phoneNumber: "12" }]],
  ["a Blob", () => new Blob([CSV])],
  ["a stream", () => new Blob([CSV]).stream()],
])("addTargets accepts %s", async (_, source) => {
  const { id } = await client.batches.create(input());
  expect(await client.batches.addTargets(id, source())).toMatchObject({ rows: 2, stored: { WAITING: 1, INVALID: 1 } });
  await client.batches.removeTarget(id, 2);
  expect(numbersOf(await collect(client.batches.targets(id)))).toEqual(["+12025550150"]);
  await client.batches.delete(id);
});

test("addTargets accepts column names and a file format", async () => {
  const { id } = await client.batches.create(input());
  const csv = "id,fixo,First name\n7,+12025550150,Ada\n";
  const columns = { phoneColumn: "fixo", referenceColumn: "id", variableColumns: { name: "First name" } };
  await client.batches.addTargets(id, csv, columns);
  await client.batches.addTargets(id, JSON.stringify({ ...ADA, phoneNumber: "+12025550151" }), { format: "ndjson" });
  const targets = await collect(client.batches.targets(id, { status: ["WAITING"] }));
  expect(targets).toMatchObject([{ reference: "7", variables: { name: "Ada" } }, { phone_number: "+12025550151" }]);
  await client.batches.delete(id);
});

test("an import is not repeated if its response is lost", async () => {
  let posts = 0;
  const lossyClient = createClient({
    url: TEST_URL,
    token: "t",
    fetch: async () => {
      posts++;
      throw new TypeError("connection reset");
    },
  });
  await expect(lossyClient.batches.addTargets("batch_1", CSV)).rejects.toMatchObject({ code: "network_error" });
  expect(posts).toBe(1);
});
