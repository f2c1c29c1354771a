import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { firstToken } from "../../../adapters/cli/serve/first-token.ts";
import type { IssuedToken } from "../../../src/application/tokens/tokens.ts";
import type { Tokens } from "../../../src/ringport.ts";
import { freshFolder } from "./run-cli.ts";

/** The tokens of an empty database, and the ids of the revoked ones. */
function emptyTokens(first: Tokens["first"]): { tokens: Tokens; revokedIds: string[] } {
  const revokedIds: string[] = [];
  const issue = () => Promise.reject(new Error("unexpected call"));
  const revoke = async (id: string) => revokedIds.push(id) > 0;
  return { tokens: { issue, first, list: async () => [], revoke }, revokedIds };
}

test("no file is written if another process created a token in the meantime", async () => {
  const folder = freshFolder();
  const { tokens, revokedIds } = emptyTokens(async () => undefined);
  expect(await firstToken(tokens, join(folder, "token"))).toBeUndefined();
  expect([readdirSync(folder), revokedIds]).toEqual([[], []]);
});

test("a token whose file cannot be written is revoked", async () => {
  const folder = freshFolder();
  const path = join(folder, "token");
  const { tokens, revokedIds } = emptyTokens(async () => {
    writeFileSync(path, "another's"); // in the meantime
    return { id: "tok_1", token: "rp_live_x" } as IssuedToken;
  });
  await expect(firstToken(tokens, path)).rejects.toThrow(
    /the first token could not be written into it \(EEXIST\) and was revoked; create another one with: ringport token create/,
  );
  expect(revokedIds).toEqual(["tok_1"]);
  expect(existsSync(path) && readFileSync(path, "utf8")).toBe("another's");
});
