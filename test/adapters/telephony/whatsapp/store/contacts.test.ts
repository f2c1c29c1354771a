import { describe, expect, test } from "vitest";
import { isContact } from "../../../../../adapters/telephony/whatsapp/store/privacy-token-store.ts";
import { privacyTokensOf } from "../../../../../adapters/telephony/whatsapp/store/whatsapp-store.ts";
import { MapRecords } from "../../../../support/whatsapp/map-records.ts";

const PHONE = "5511987654321@s.whatsapp.net";
const LID = "777@lid";
const ANA = { phoneJid: PHONE, address: LID };
const token = (jid: string, value: number, tcTokenTimestamp?: number) => ({
  ...{ jid, tcToken: Uint8Array.of(value), updatedAtMs: 1 },
  ...(tcTokenTimestamp !== undefined && { tcTokenTimestamp }),
});

/** Token used for a call to a contact after these tokens have arrived, each followed by a call. */
async function tokenAfter(...arrivals: readonly ReturnType<typeof token>[]): Promise<number | undefined> {
  const tokens = privacyTokensOf(new MapRecords(), "session");
  for (const arrival of arrivals) {
    await tokens.upsert(arrival);
    expect(await isContact(tokens, ANA)).toBe(true);
  }
  return (await tokens.getByJid(LID))?.tcToken[0];
}

describe("a contact whose token arrives under their number", () => {
  test("is called with it", async () => {
    expect(await tokenAfter(token(PHONE, 1, 5))).toBe(1);
  });

  test("is called with a newer token once it arrives", async () => {
    expect(await tokenAfter(token(PHONE, 1, 5), token(PHONE, 2, 6))).toBe(2);
  });

  test("keeps the called address's newer token", async () => {
    expect(await tokenAfter(token(LID, 1, 6), token(PHONE, 2, 5))).toBe(1);
    expect(await tokenAfter(token(PHONE, 1, 5), token(LID, 2, 6))).toBe(2);
  });

  test("keeps the token of that address if the ages are unknown", async () => {
    expect(await tokenAfter(token(LID, 1), token(PHONE, 2))).toBe(1);
  });
});

test("a callee without a token is a stranger", async () => {
  expect(await isContact(privacyTokensOf(new MapRecords(), "session"), ANA)).toBe(false);
});
