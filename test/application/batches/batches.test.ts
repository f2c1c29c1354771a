import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import type { CreateBatchInput } from "../../../src/domain/batches/batch-input.ts";
import { targetsCsvHeader, targetsCsvRow } from "../../../src/domain/batches/target-csv.ts";
import { csvTargets } from "../../../src/domain/batches/target-rows.ts";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, audioFile } from "../../support/application.ts";
import { batchOf, CALLEE_NUMBERS, Callees, startWithCallees } from "./callees.ts";

describe("a batch", () => {
  test("calls each target once, one after the other, and completes", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id, report, status } = await world.app.batches.create(ALICE, batchOf([instance.id], { start: false }));
    expect(report).toEqual({ rows: 3, stored: { WAITING: 3 }, faults: [] });
    expect(status).toBe("DRAFT");
    await world.app.batches.start(ALICE, id);
    await callees.wait(30);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({
      status: "COMPLETED",
      counts: { byStatus: { COMPLETED: 3 }, byReason: [{ status: "COMPLETED", reason: "message_played", targets: 3 }] },
    });
    expect(world.speech.receivedTexts).toEqual(CALLEE_NUMBERS.map((_, index) => `Hello Ada ${index}, see you soon`));
    const calls = await world.app.calls.list(ALICE, { batchId: id });
    expect(calls.map(({ targetPhone }) => targetPhone).sort()).toEqual(CALLEE_NUMBERS);
    const { events } = await world.app.queries.events(ALICE, { limit: 100 });
    const types = events.map(({ type }) => type).filter((type) => /batch|target/.test(type));
    expect(types).toEqual(["batch_started", "target_done", "target_done", "target_done", "batch_completed"]);
    await world.stop();
  });

  test("retries a busy number after its pause, as often as its policy allows", async () => {
    const { world, callees, instance } = await startWithCallees();
    callees.busyAttempts.set(CALLEE_NUMBERS[0]!, 1);
    callees.busyAttempts.set(CALLEE_NUMBERS[1]!, 9);
    const retry = { on: ["busy" as const], times: 2, afterMs: 60_000 };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { retry }));
    await callees.wait(30);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    const { estimatedEndAt } = await world.app.batches.get(ALICE, id);
    const waitingTargets = await world.app.batches.targets(ALICE, id, { status: ["WAITING"] });
    expect(estimatedEndAt).toBeGreaterThanOrEqual(Math.min(...waitingTargets.map((target) => target.nextAttemptAt!)));
    await callees.wait(200);
    expect(callees.dialledNumbers).toEqual([
      ...CALLEE_NUMBERS,
      CALLEE_NUMBERS[0],
      CALLEE_NUMBERS[1],
      CALLEE_NUMBERS[1],
    ]);
    const targets = await world.app.batches.targets(ALICE, id);
    expect(targets.map(({ status, reason, attempts }) => [status, reason, attempts])).toEqual([
      ["COMPLETED", "message_played", 2],
      ["FAILED", "busy", 3],
      ["COMPLETED", "message_played", 1],
    ]);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({ status: "COMPLETED" });
    await world.stop();
  });

  test("retries a busy number at its time, before numbers that have not been called", async () => {
    const { world, callees, instance } = await startWithCallees();
    const people = Array.from({ length: 30 }, (_, number) => `+120255501${20 + number}`);
    callees.busyAttempts.set(people[0]!, 1);
    const targets = people.map((phoneNumber) => ({ phoneNumber, variables: { name: "Ada" } }));
    const retry = { on: ["busy" as const], times: 1, afterMs: 10_000 };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { retry, targets }));
    await callees.wait(400);
    expect(callees.dialledNumbers).toHaveLength(31);
    const calls = await world.app.calls.list(ALICE, { targetPhone: people[0]! });
    expect(calls).toHaveLength(2);
    const longestCall = Math.max(
      ...(await world.app.calls.list(ALICE, { batchId: id }, { limit: 50 })).map(
        (call) => call.endedAt! - call.createdAt,
      ),
    );
    const [secondCall, firstCall] = calls;
    expect(secondCall!.createdAt - firstCall!.endedAt!).toBeLessThan(10_000 + longestCall + 2_000);
    await world.stop();
  });

  test("begins at its start time, and places no calls while it is paused", async () => {
    const { world, callees, instance } = await startWithCallees();
    const startAt = new Date(world.system.now() + 3_600_000).toISOString();
    const { id, status } = await world.app.batches.create(ALICE, batchOf([instance.id], { schedule: { startAt } }));
    expect(status).toBe("SCHEDULED");
    await callees.wait(3_590);
    expect(callees.dialledNumbers).toEqual([]);
    await callees.wait(11);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    await world.app.batches.pause(ALICE, id);
    await callees.wait(600);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    await world.app.batches.resume(ALICE, id);
    await callees.wait(30);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    await world.stop();
  });

  test("ends waiting targets when it is cancelled, and lets the live call finish", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await callees.wait(1);
    await world.app.batches.cancel(ALICE, id);
    await callees.wait(30);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    const targets = await world.app.batches.targets(ALICE, id);
    expect(targets.map(({ status }) => status)).toEqual(["COMPLETED", "CANCELLED", "CANCELLED"]);
    await world.stop();
  });

  test("continues after a crash, and calls each target exactly once", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await callees.wait(1); // the first call is live
    const next = await world.crashAndRestart();
    const laterCallees = new Callees(next);
    await laterCallees.wait(60);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    expect(laterCallees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(1));
    const targets = await next.app.batches.targets(ALICE, id);
    expect(targets.map(({ status, reason }) => [status, reason])).toEqual([
      ["FAILED", "interrupted"],
      ["COMPLETED", "message_played"],
      ["COMPLETED", "message_played"],
    ]);
    await next.stop();
  });

  test("continues as soon as its line is online again", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { start: false }));
    world.line(instance).goOffline();
    await world.app.batches.start(ALICE, id);
    await callees.wait(10);
    expect(callees.dialledNumbers).toEqual([]);
    world.line(instance).goOnline();
    await callees.wait(30);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    await world.stop();
  });

  test("waits for its callees' calling hours", async () => {
    const { world, callees, instance } = await startWithCallees(); // it is midnight UTC
    const schedule = { hours: { from: "09:00", to: "10:00" }, zone: "UTC" };
    await world.app.batches.create(ALICE, batchOf([instance.id], { schedule }));
    await callees.wait(9 * 3_600 - 5);
    expect(callees.dialledNumbers).toEqual([]);
    await callees.wait(40);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    await world.stop();
  });

  test("pauses when one kind of fault is too frequent", async () => {
    const { world, callees, instance } = await startWithCallees();
    world.network.onDial = () => {
      throw new DialError("rejected_by_network", "the trunk is closed");
    };
    const breaker = { share: 0.5, calls: 2 };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { breaker }));
    await callees.wait(10);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({ status: "PAUSED" });
    await world.stop();
  });
});

test("checking many targets leaves turns of the event loop to live audio", async () => {
  const { world, instance } = await startWithCallees();
  const targets = Array.from({ length: 100 }, (_, index) => ({
    phoneNumber: `+1202555${1_000 + index}`,
    variables: { name: "Ada" },
  }));
  let turns = 0;
  let next: ReturnType<typeof setImmediate> | undefined;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  count();
  await world.app.batches.dryRun(ALICE, batchOf([instance.id], { targets }));
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(10);
  await world.stop();
});

test("a batch with an audio file plays it to each target", async () => {
  const { world, callees, instance } = await startWithCallees();
  const audio = { audioBase64: audioFile(1) };
  const message = { type: "FIXED_AUDIO", audio } as const;
  const { id, report } = await world.app.batches.create(ALICE, batchOf([instance.id], { message }));
  expect(report).toEqual({ rows: 3, stored: { WAITING: 3 }, faults: [] });
  await callees.wait(30);
  expect(await world.app.batches.get(ALICE, id)).toMatchObject({
    status: "COMPLETED",
    counts: { byReason: [{ status: "COMPLETED", reason: "message_played", targets: 3 }] },
  });
  const [result] = (await world.app.batches.targets(ALICE, id)).map((target) => target.result);
  expect(result).toMatchObject({ heardMs: 1_000, heardRatio: 1 });
  await world.stop();
});

test("a call in a batch with an audio file dials its target's extension", async () => {
  const { world, callees, instance } = await startWithCallees();
  const audio = { audioBase64: audioFile(1) };
  const message = { type: "FIXED_AUDIO", audio, startDelayMs: 500 } as const;
  const targets = [{ phoneNumber: CALLEE_NUMBERS[0]!, extension: "42" }];
  await world.app.batches.create(ALICE, batchOf([instance.id], { message, targets }));
  await callees.wait(30);
  const [call] = await world.app.calls.list(ALICE);
  expect(call?.message).toMatchObject({
    ...{ type: "FIXED_AUDIO", format: "wav", durationMs: 1_000 },
    ...{ extension: "42", startDelayMs: 500 },
  });
  await world.stop();
});

test("a batch of agent calls asks each target by name, and its CSV has the answers", async () => {
  const { world, callees, instance } = await startWithCallees({ agent: scriptedAgent() });
  const resultSchema = { type: "object", properties: { day: { type: "string" } } };
  const instructions = [
    "Ask day: Hello {{name}}, press 1 for Monday or 2 for Tuesday.",
    "If 1: Say: Monday.",
    "If 2: Say: Tuesday.",
  ];
  const message = { type: "DYNAMIC_AGENT", agent: { instructions, resultSchema } } as const;
  const { id, report } = await world.app.batches.create(ALICE, batchOf([instance.id], { message }));
  expect(report.faults).toEqual([]);
  for (const key of ["1", "2", "1"] as const) {
    await callees.wait(8);
    world.network.legs.at(-1)?.press(key);
    await callees.wait(12);
  }
  expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
  expect(new Set(world.speech.receivedTexts)).toEqual(
    new Set([
      "This is an automated call.",
      ...CALLEE_NUMBERS.map((_, index) => `Hello Ada ${index}, press 1 for Monday or 2 for Tuesday.`),
      ...["Monday.", "Tuesday."],
    ]),
  );
  const batch = await world.app.batches.get(ALICE, id);
  expect(batch.status).toBe("COMPLETED");
  const header = targetsCsvHeader(batch.message).trim().split(",");
  expect(header.slice(5, 7)).toEqual(["name", "status"]);
  expect(header.at(-1)).toBe("result.day");
  const rows = (await world.app.batches.targets(ALICE, id)).map((target) =>
    targetsCsvRow(batch.message)(target).trim().split(","),
  );
  expect(rows.map((row) => [row[2], row[5], row[8], row.at(-1)])).toEqual([
    [CALLEE_NUMBERS[0], "Ada 0", "agent_finished", "1"],
    [CALLEE_NUMBERS[1], "Ada 1", "agent_finished", "2"],
    [CALLEE_NUMBERS[2], "Ada 2", "agent_finished", "1"],
  ]);
  await world.stop();
});

test("a repeated creation of a deleted batch is refused as batch_not_found", async () => {
  const { world, instance } = await startWithCallees();
  const create = () =>
    world.app.batches.create(ALICE, batchOf([instance.id], { start: false }), { idempotencyKey: "monday" });
  const { id } = await create();
  await world.app.batches.delete(ALICE, id);
  await expect(create()).rejects.toMatchObject({
    code: "batch_not_found",
    message: `the key "monday" created batch "${id}", which has been deleted; use a new key`,
  });
  await world.stop();
});

test("faults in a file name its columns", async () => {
  const { world, instance } = await startWithCallees();
  const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { targets: [], start: false }));
  async function* file() {
    yield new TextEncoder().encode("Telefone,Name\n12,Ada\n+12025550100,\n");
  }
  const { faults } = await world.app.batches.addTargets(ALICE, id, csvTargets(file(), { variables: ["name"] }));
  expect(faults.flatMap((row) => row.faults)).toMatchObject([
    { column: "phoneNumber", fileColumn: "Telefone", detail: expect.stringMatching(/^"12" must /) },
    { column: "name", fileColumn: "Name", detail: "the message needs the variable name, and this row has none" },
  ]);
  const { message } = await world.app.batches.get(ALICE, id);
  const [target] = await world.app.batches.targets(ALICE, id);
  expect(targetsCsvRow(message)(target!)).toMatch(/"Telefone: ""12"" must /);
  const corrected = await world.app.batches.updateTarget(ALICE, id, target!.position, { phoneNumber: "13" });
  expect(corrected.faults).toMatchObject([{ fileColumn: "Telefone", detail: expect.stringMatching(/^"13" must /) }]);
  await world.stop();
});

test("a number's fault quotes the number", async () => {
  const { world, instance } = await startWithCallees();
  const { report } = await world.app.batches.create(
    ALICE,
    batchOf([instance.id], { targets: [{ phoneNumber: "212-555-1060", variables: { name: "Ada" } }], start: false }),
  );
  const [fault] = report.faults[0]?.faults ?? [];
  expect(fault).toMatchObject({
    column: "phoneNumber",
    detail: '"212-555-1060" must be an E.164 number: + and 7 to 15 digits, such as +12025550100',
  });
  await world.stop();
});

describe("a message with a malformed placeholder", () => {
  const speech = (text: string, voiceId = "en-US-1") => ({ type: "FIXED_TTS" as const, tts: { text, voiceId } });

  test("is refused with all its faults, and no batch is stored", async () => {
    const { world, instance } = await startWithCallees();
    const create = (message: CreateBatchInput["message"]) =>
      world.app.batches.create(ALICE, batchOf([instance.id], { message }));
    await expect(create(speech("Hello {{name, see you {{}}", "{{voice"))).rejects.toMatchObject({
      code: "invalid_request",
      errors: [
        { pointer: "/message/tts/text", code: "placeholder_invalid", detail: '"{{name" is not closed: write {{name}}' },
        { pointer: "/message/tts/voiceId", code: "placeholder_invalid" },
      ],
    });
    await expect(create({ ...speech("{{name"), onMachine: "shout" as never })).rejects.toMatchObject({
      errors: [{ pointer: "/message/tts/text" }, { pointer: "/message/onMachine" }],
    });
    const agent = { instructions: ["Say: Hi {{name}}", "Say: {{visit"], variables: { visit: "1" } };
    await expect(create({ type: "DYNAMIC_AGENT", agent })).rejects.toMatchObject({
      errors: [{ pointer: "/message/agent/instructions/1", detail: '"{{visit" is not closed: write {{visit}}' }],
    });
    expect(await world.app.batches.list(ALICE)).toEqual([]);
    await world.stop();
  });

  test("is also refused for a dry run", async () => {
    const { world, instance } = await startWithCallees();
    const input = batchOf([instance.id], { message: speech("Hello {{ name }, see you") });
    await expect(world.app.batches.dryRun(ALICE, input)).rejects.toThrow('"{{ name }" is not closed: write {{name}}');
    await world.stop();
  });
});
