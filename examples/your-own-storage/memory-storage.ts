import type { Storage } from "ringport";
import { accounts } from "./accounts.ts";
import { calls } from "./calls.ts";
import { consents } from "./consents.ts";
import { instances } from "./instances.ts";
import { lineRecords } from "./line-records.ts";
import { logins } from "./logins.ts";
import { Memory } from "./memory.ts";
import { receipts } from "./receipts.ts";
import { sealed } from "./sealed.ts";
import { webhooks } from "./webhooks.ts";

/** A custom storage: maps in this process, lost when it ends. Lists scan every record, which a database should not do. */
export function memoryStorage(): Storage {
  const memory = new Memory();
  return {
    open: async () => {},
    close: async () => {},
    accounts: accounts(memory),
    logins: logins(memory),
    instances: instances(memory),
    lineRecords: lineRecords(memory),
    consents: consents(memory),
    calls: calls(memory),
    events: {
      append: async (events) => memory.log(events),
      ofCall: async (callId, page) => memory.logged(page, (event) => event.callId === callId),
      ofUser: async (userId, { instanceId }, page) =>
        memory.logged(
          page,
          (event) => event.userId === userId && event.instanceId === (instanceId ?? event.instanceId),
        ),
      positionOf: async (userId, eventId) => {
        const event = memory.events.get(eventId);
        return event?.userId === userId ? event.position : 0;
      },
      positionBefore: async (userId, eventId) => {
        const older = [...memory.events.values()].filter((event) => event.userId === userId && event.id <= eventId);
        return Math.max(0, ...older.map(({ position }) => position));
      },
      lookUp: async (userId, position) => {
        const own = [...memory.events.values()].filter((event) => event.userId === userId);
        const last = Math.max(0, ...own.map(({ position }) => position));
        return { last, eventId: own.find((event) => event.position === (position ?? last))?.id ?? null };
      },
      newestId: async () => {
        const ids = [memory.events, memory.calls, memory.instances].flatMap((records) => [...records.keys()]);
        return ids.sort((one, other) => (behindPrefix(one) < behindPrefix(other) ? -1 : 1)).at(-1);
      },
    },
    receipts: receipts(memory),
    webhooks: webhooks(memory),
    sealed: sealed(memory),
    transcripts: {
      append: async (lines) => {
        for (const line of lines.filter(({ callId }) => memory.calls.has(callId))) {
          const key = `${line.callId} ${line.position}`;
          if (!memory.transcripts.has(key)) memory.transcripts.set(key, line);
        }
      },
      ofCalls: async (callIds) =>
        [...memory.transcripts.values()]
          .filter(({ callId }) => callIds.includes(callId))
          .sort((a, b) => a.startMs - b.startMs || a.position - b.position),
    },
    retention: {
      trustedTime: async () => memory.trustedTime,
      saveTrustedTime: async (time) => {
        memory.trustedTime = time;
      },
      storedBytes: async (owner) => memory.storedBytes(owner),
      scrub: async () => {}, // memory has no files
    },
  };
}

function behindPrefix(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}
