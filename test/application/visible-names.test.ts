import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import type { Account } from "../../src/application/accounts/account-use-cases.ts";
import { issueToken } from "../../src/application/tokens/tokens.ts";
import { inputSchemas } from "../../src/domain/input/inputs.ts";
import { isVisible } from "../../src/domain/input/visible-text.ts";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { isDisplayName } from "../../src/domain/numbers/caller-id.ts";
import { type AccountScene, accountScene } from "./accounts/scene.ts";

/** Names that consist only of invisible characters. */
const INVISIBLE = [
  "\u200b",
  "\u200d\u200c",
  "\u2060\ufeff",
  "\u00ad",
  "\u3164",
  "\uffa0\u115f\u1160",
  "\u2800\u2800",
  "\u180e",
  "\u034f",
  "\ufe0f",
  "\u{e0041}\u{e007f}",
  "\u{1d159}",
  "\u202e\u2066\u2069",
  "\u00a0\u2003\u3000",
  "\u2028\u2029",
];
const VISIBLE_NAMES = ["a", "1", "-", "日本", "👨‍👩‍👧", "❤️", "ا\u200cب", " a ", "\u{e000}", "́a", "\u200ba"];

let scene: AccountScene;
let administrator: Account;
beforeAll(async () => {
  scene = await accountScene();
  administrator = (await scene.admin()).account;
});

const schemas = inputSchemas(DEFAULT_LIMITS);
const isAccepted = (schema: v.GenericSchema, body: unknown): boolean => v.safeParse(schema, body).success;
const isIssued = async (name: { userName?: string; label?: string }): Promise<boolean> => {
  const { storage, system, context } = scene.world;
  const { accounts } = storage;
  return issueToken(accounts, system, context.ids, { userName: "ada", label: "a program", ...name }).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(RangeError);
      return false;
    },
  );
};
const isCreatedByAccount = async (label: string): Promise<boolean> => {
  const { accounts } = scene;
  return accounts.createToken(administrator, { label }).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: "token_invalid" });
      return false;
    },
  );
};

/** Every user-chosen name, with its check. */
const NAMES: Readonly<Record<string, (name: string) => boolean | Promise<boolean>>> = {
  "a new instance": (name) => isAccepted(schemas.createInstance, { name }),
  "a changed instance": (name) => isAccepted(schemas.updateInstance, { name }),
  "a caller": isDisplayName,
  "a new webhook": (description) => isAccepted(schemas.createWebhook, { url: "https://example.com/", description }),
  "a changed webhook": (description) => isAccepted(schemas.updateWebhook, { description }),
  "a user": (userName) => isIssued({ userName }),
  "a token": (label) => isIssued({ label }),
  "a token of an account": isCreatedByAccount,
};

describe.each(Object.entries(NAMES))("the name of %s", (_, isNameAccepted) => {
  test("is refused if it consists of invisible characters", async () => {
    for (const name of INVISIBLE) expect([name, await isNameAccepted(name)]).toEqual([name, false]);
  });

  test("is accepted if some of it is visible", async () => {
    for (const name of VISIBLE_NAMES) expect([name, await isNameAccepted(name)]).toEqual([name, true]);
  });
});

test("empty text is not visible", () => {
  expect(isVisible("")).toBe(false);
});
