import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createRingport } from "../../../src/ringport.ts";
import { freshFolder, run } from "./run-cli.ts";

const PASSWORD = "correct horse battery";
const BROWSER = { userAgent: null };
const codeIn = (url: string): string => /#code=([0-9a-f]{64})\n?$/.exec(url)?.[1] ?? "";

test("accounts can be created, listed and reset while a server is running", {
  timeout: 120_000,
}, async () => {
  const data = freshFolder();
  const ringport = createRingport({ data });
  try {
    await ringport.start();
    await ringport.tokens.issue({ userName: "customer-a", label: "theirs" });
    await ringport.tokens.issue({ userName: "admin", label: "first start" });
    const emptyList = await run(["account", "list", "--data", data]);
    expect([emptyList.code, emptyList.stdout]).toEqual([0, ""]);
    expect(emptyList.stderr).toContain("ringport account code");

    const code = await run(["account", "code", "--data", data, "--public-url", "https://calls.example.com/app/"]);
    expect(code.stdout).toMatch(/^https:\/\/calls\.example\.com\/app\/console\/register#code=[0-9a-f]{64}\n$/);
    expect(code.stderr).not.toContain(codeIn(code.stdout));
    expect(code.stderr).toContain('takes over the data of the user "admin": tokens: 1, instances: 0.');
    const person = { email: "Ana@example.com", password: PASSWORD, code: codeIn(code.stdout) };
    const { account, secret } = await ringport.accounts.register(person, BROWSER);
    const secondCode = await run(["account", "code", "--data", data]);
    expect([secondCode.code, secondCode.stdout]).toEqual([2, ""]);
    expect(secondCode.stderr).toContain("this server already has an administrator");

    const table = await run(["account", "list", "--data", data]);
    expect(table.stdout).toContain(`${account.id}\tAna@example.com\tadmin\t${account.userId}\t20`);
    const accounts = JSON.parse((await run(["account", "list", "--data", data, "--json"])).stdout);
    expect(accounts).toEqual([
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

    const unknownReset = await run(["account", "reset", "bob@example.com", "--data", data]);
    expect([unknownReset.code, unknownReset.stderr]).toEqual([
      2,
      'ringport: there is no account with the address "bob@example.com"; see: ringport account list\n',
    ]);
  } finally {
    await ringport.stop({ drainMs: 0 });
  }
});

test("without a server, no account is created, listed or reset, and no database is created", async () => {
  for (const args of [["code"], ["list"], ["reset", "ana@example.com"]]) {
    const data = freshFolder();
    const { code, stderr } = await run(["account", ...args, "--data", data]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("there is no database")]);
    expect(readdirSync(data)).toEqual([]);
  }
});

test("a one-time link has the server's scheme, host and base path", { timeout: 60_000 }, async () => {
  const data = freshFolder();
  const ringport = createRingport({ data });
  try {
    await ringport.start();
    const tls = { RINGPORT_TLS_CERT: "cert.pem", RINGPORT_TLS_KEY: "key.pem" };
    for (const [env, base] of [
      [{ ...tls, HOST: "192.0.2.7", PORT: "8443" }, "https://192.0.2.7:8443"],
      [{ HOST: "::", PORT: "8080" }, "http://127.0.0.1:8080"],
      [{ HOST: "::1", PORT: "8080", RINGPORT_BASE_PATH: "/phones" }, "http://[::1]:8080/phones"],
      [{ ...tls, RINGPORT_PUBLIC_URL: "https://calls.example.com" }, "https://calls.example.com"],
    ] as const) {
      const { stdout, stderr } = await run(["account", "code"], { RINGPORT_DATA: data, ...env });
      expect(stdout.replace(/#code=.*\n$/, ""), stderr).toBe(`${base}/console/register`);
    }
    for (const args of [["code"], ["reset", "ana@example.com"]]) {
      const consoleOff = await run(["account", ...args], { RINGPORT_DATA: data, RINGPORT_CONSOLE: "off" });
      expect([consoleOff.code, consoleOff.stdout, consoleOff.stderr]).toEqual([
        2,
        "",
        expect.stringContaining('RINGPORT_CONSOLE is "off"'),
      ]);
    }
  } finally {
    await ringport.stop({ drainMs: 0 });
  }
});
