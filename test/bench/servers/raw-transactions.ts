// The baseline of POST /v1/calls: Ringport's SQLite work for one call, in sequential raw transactions, each
// of them durable (synchronous=FULL). Arguments: the database file, the user, the duration in ms; instance ids
// are read as JSON from standard input. Prints the number per second.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { idSource } from "../../../src/base/ids.ts";

const [file = "", userId = "", ms = "0"] = process.argv.slice(2);
const instances = JSON.parse(readFileSync(0, "utf8")) as string[];
const ids = idSource(Date.now, (bytes) => crypto.getRandomValues(bytes));
const database = new DatabaseSync(file);
database.exec("pragma journal_mode = wal; pragma synchronous = full");

const begin = database.prepare("begin immediate");
const commit = database.prepare("commit");
const token = database.prepare("select * from tokens where hash = ?");
const instance = database.prepare("select * from instances where id = ?");
const instanceStatus = database.prepare("select status from instances where id = ?");
const ACTIVE = "instance_id = ? and status in ('QUEUED', 'RINGING', 'IN_PROGRESS')";
const activeCalls = database.prepare(`select * from calls where ${ACTIVE} order by created_at, id`);
const slots = database.prepare(`select slot from calls where ${ACTIVE}`);
const call = database.prepare(
  "insert into calls (id, instance_id, user_id, token_id, status, type, target_phone, message, outcome, created_at, started_at," +
    " ended_at, slot, owner, version) values (?, ?, ?, ?, 'QUEUED', 'FIXED_TTS', ?, ?, null, ?, null, null, 0, null, 1)" +
    " on conflict (instance_id, slot) where status in ('QUEUED', 'RINGING', 'IN_PROGRESS') do nothing returning *",
);
const nextPosition = database.prepare(
  "insert into event_counters (user_id, position, numbered) values (?, 1, 0)" +
    " on conflict (user_id) do update set position = event_counters.position + 1 returning position",
);
const event = database.prepare(
  "insert into events (id, type, at, call_id, instance_id, user_id, data, position) values (?, 'queued', ?, ?, ?, ?, ?, ?)",
);
const message = JSON.stringify({
  type: "FIXED_TTS",
  text: "Your parcel arrives tomorrow at nine.",
  voiceId: "en-US-1",
});

const tokenId = ids("tok");
const startedAt = performance.now();
let count = 0;
for (; count < instances.length && performance.now() - startedAt < Number(ms); count++) {
  const instanceId = instances[count] ?? "";
  token.get("none");
  instance.get(instanceId);
  activeCalls.all(instanceId);
  begin.run();
  instanceStatus.get(instanceId);
  slots.all(instanceId);
  const id = ids("call");
  const now = Date.now();
  call.get(id, instanceId, userId, tokenId, "+12025550100", message, now);
  const { position } = nextPosition.get(userId) as { position: number };
  event.run(ids("evt"), now, id, instanceId, userId, '{"type":"FIXED_TTS"}', position);
  commit.run();
}
console.log(count / ((performance.now() - startedAt) / 1000));
