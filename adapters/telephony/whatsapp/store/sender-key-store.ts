import { addressName, type ClientRecord, type DeviceAddress } from "./client-types.ts";
import type { RecordSet } from "./record-set.ts";

/** The keys of senders in groups, and the devices that received our key. */
export interface SenderKeyStore {
  upsertSenderKey(record: ClientRecord): Promise<void>;
  upsertSenderKeyDistribution(record: ClientRecord): Promise<void>;
  upsertSenderKeyDistributions(records: readonly ClientRecord[]): Promise<void>;
  getGroupSenderKeyList(groupId: string): Promise<{
    readonly skList: readonly ClientRecord[];
    readonly skDistribList: readonly ClientRecord[];
  }>;
  getDeviceSenderKey(groupId: string, sender: DeviceAddress): Promise<ClientRecord | null>;
  getDeviceSenderKeyDistributions(
    groupId: string,
    senders: readonly DeviceAddress[],
  ): Promise<readonly (ClientRecord | null)[]>;
  deleteDeviceSenderKey(target: DeviceAddress, groupId?: string): Promise<number>;
  markForgetSenderKey(groupId: string, participants: readonly DeviceAddress[]): Promise<number>;
  clear(): Promise<void>;
}

interface GroupRecord {
  readonly groupId: string;
  readonly sender: DeviceAddress;
}

export function senderKeyStore(keys: RecordSet<object>, distributions: RecordSet<object>): SenderKeyStore {
  const sets = [keys, distributions];

  async function groupRecords(set: RecordSet<object>, groupId: string): Promise<ClientRecord[]> {
    const names = (await set.names()).filter((name) => name.startsWith(groupName(groupId)));
    return (await set.getAll(names)).filter((record) => record !== undefined);
  }

  /** Returns the number of deleted keys. */
  async function remove(matches: (name: string) => boolean): Promise<number> {
    const names = await Promise.all(sets.map(async (set) => (await set.names()).filter(matches)));
    await Promise.all(sets.map((set, index) => set.set(new Map(names[index]?.map((name) => [name, undefined])))));
    return names.flat().length;
  }

  const upsert = (set: RecordSet<object>, records: readonly GroupRecord[]): Promise<void> =>
    set.set(new Map(records.map((record) => [senderName(record.groupId, record.sender), record])));

  return {
    upsertSenderKey: (record) => upsert(keys, [record]),
    upsertSenderKeyDistribution: (record) => upsert(distributions, [record]),
    upsertSenderKeyDistributions: (records) => upsert(distributions, records),
    getGroupSenderKeyList: async (groupId) => {
      const [skList, skDistribList] = await Promise.all([
        groupRecords(keys, groupId),
        groupRecords(distributions, groupId),
      ]);
      return { skList, skDistribList };
    },
    getDeviceSenderKey: async (groupId, sender) => (await keys.get(senderName(groupId, sender))) ?? null,
    getDeviceSenderKeyDistributions: async (groupId, senders) =>
      (await distributions.getAll(senders.map((sender) => senderName(groupId, sender)))).map(
        (distribution) => distribution ?? null,
      ),
    deleteDeviceSenderKey: (target, groupId) => {
      const suffix = `|${addressName(target)}`;
      return remove(groupId ? (name) => name === senderName(groupId, target) : (name) => name.endsWith(suffix));
    },
    markForgetSenderKey: (groupId, participants) => {
      const names = new Set(participants.map((participant) => senderName(groupId, participant)));
      return remove((name) => names.has(name));
    },
    clear: async () => void (await Promise.all(sets.map((set) => set.clear()))),
  };
}

function groupName(groupId: string): string {
  return `${encodeURIComponent(groupId)}|`;
}

function senderName(groupId: string, sender: DeviceAddress): string {
  return groupName(groupId) + addressName(sender);
}
