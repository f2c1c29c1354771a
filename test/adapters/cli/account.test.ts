import { expect, test } from "vitest";
import { createRingport } from "../../../src/ringport.ts";
import { freshFolder, run } from "./run-cli.ts";

const PASSWORD = "correct horse battery";
const BROWSER = { userAgent: null };
const codeIn = (url: string): string => /#code=([0-9a-f]{64})\n?$/.exec(url)?.[1] ?? "";

test("the accounts of a server are made, listed and given new passwords beside it", { timeout: 120_000 }, async () => {
  const data = freshFolder();
  const ringport = createRingport({ data });
  try {
    await ringport.start();
    await ringport.tokens.issue({ userName: "customer-a", label: "theirs" });
    await ringport.tokens.issue({ userName: "admin", label: "first start" });
    const none = await run(["account", "list", "--data", data]);
    expect([none.code, none.stdout]).toEqual([0, ""]);
    expect(none.stderr).toContain("ringport account code");

    const code = await run(["account", "code", "--data", data, "--public-url", "https://calls.example.com/app/"]);
    expect(code.stdout).toMatch(/^https:\/\/calls\.example\.com\/app\/console\/register#code=[0-9a-f]{64}\n$/);
    expect(code.stderr).not.toContain(codeIn(code.stdout));
    expect(code.stderr).toContain('takes over what the user "admin" has: tokens: 1, instances: 0.');
    const person = { email: "Ana@example.com", password: PASSWORD, code: codeIn(code.stdout) };
    const { account, secret } = await ringport.accounts.register(person, BROWSER);
    const late = await run(["account", "code", "--data", data]);
    expect([late.code, late.stdout]).toEqual([2, ""]);
    expect(late.stderr).toContain("this server has an administrator");

    const table = await run(["account", "list", "--data", data]);
    expect(table.stdout).toContain(`${account.id}\tAna@example.com\tadmin\t${account.userId}\t20`);
    const listed = JSON.parse((await run(["account", "list", "--data", data, "--json"])).stdout);
    expect(listed).toEqual([
      {
        id: account.id,
        email: "Ana@example.com",
        role: "admin",
        user_id: account.userId,
        created_at: new Date(account.createdAt).toISOString(),
      },
    ]);

    const reset = await run(["account", "reset", "ANA@example.com", "--data", data, "--json"], { PORT: "9090" });
    const { url, email, expires_at } = JSON.parse(reset.stdout);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:9090\/console\/reset#code=/);
    expect([email, Date.parse(expires_at) > Date.now()]).toEqual(["Ana@example.com", true]);
    await ringport.accounts.resetPassword(codeIn(url), "another horse battery", BROWSER);
    expect(await ringport.accounts.session(secret)).toBeUndefined();
    const actions = (await ringport.accounts.audit(account)).map(({ action }) => action);
    expect(actions).toEqual(["account.password_reset", "account.reset_code_made", "account.registered"]);

    const unknown = await run(["account", "reset", "bob@example.com", "--data", data]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      'ringport: there is no account with the address "bob@example.com"; see: ringport account list\n',
    ]);
  } finally {
    await ringport.stop({ drainMs: 0 });
  }
});

test("a server that is not there has no accounts to list or reset", async () => {
  for (const args of [["list"], ["reset", "ana@example.com"]]) {
    const { code, stderr } = await run(["account", ...args, "--data", freshFolder()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("there is no database")]);
  }
});
