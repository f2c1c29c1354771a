import type { LineRecords } from "../../ports/telephony/line-records.ts";

/** The stored session of a linked client. */
export interface FakeCredentials {
  /** `5511987654321:3@s.whatsapp.net`: this device of the number. */
  readonly meJid: string;
  readonly meLid: string;
  readonly platform: string;
}

const KEY = "fake-whatsapp/session";

/** The stored session; undefined if there is none. Throws an Error for a record that no fake client wrote. */
export async function loadTestSession(records: LineRecords): Promise<FakeCredentials | undefined> {
  const [bytes] = await records.get([KEY]);
  if (bytes === undefined) return undefined;
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const { meJid, meLid, platform } = (value ?? {}) as Partial<Record<keyof FakeCredentials, unknown>>;
  if (typeof meJid !== "string" || typeof meLid !== "string" || typeof platform !== "string")
    throw new Error(`record "${KEY}" is not a session: erase it and link the number again`);
  return { meJid, meLid, platform };
}

export async function saveSession(records: LineRecords, session: FakeCredentials | undefined): Promise<void> {
  const bytes = session && new TextEncoder().encode(JSON.stringify(session));
  await records.set(new Map([[KEY, bytes]]));
}
