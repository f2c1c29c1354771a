import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../../src/version.ts";
import { freshFolder, node, run } from "./run-cli.ts";

describe.skipIf(node.missing)(`the command line on ${node.title}`, { timeout: 30_000 }, () => {
  test.each([
    [["--help"], ["ringport serve", "ringport token create", "ringport demo"]],
    [[], ["Usage: ringport"]],
    [
      ["token", "--help"],
      ["ringport token list", "ringport token revoke ID"],
    ],
    [
      ["token", "create", "--help"],
      ["--user NAME", "--expires-in DAYS", "RINGPORT_DATA"],
    ],
    [
      ["serve", "-h"],
      ["RINGPORT_STREAM_PREVIEW", "--ring-timeout-ms NUMBER", "DATABASE_URL", "[8080]"],
    ],
    [["help", "demo"], ["--audio FILE"]],
    [["--version"], [VERSION]],
  ])("ringport %j prints its help", async (args, expectedText) => {
    const { code, stdout, stderr } = await run(args);
    for (const text of expectedText) expect(stdout).toContain(text);
    expect([code, stderr]).toEqual([0, ""]);
  });

  test.each([
    [["serv"], {}, 'unknown command "serv" (did you mean serve?)'],
    [["token", "creat"], {}, 'unknown command "token creat" (did you mean token create?)'],
    [["serve", "--prot", "1"], {}, "unknown option --prot for serve (did you mean --port?)"],
    [["serve", "--port", "70000"], {}, '--port is "70000": it must be a whole number from 0 to 65535'],
    [["serve", "--port"], {}, "--port needs a value"],
    [["serve", "now"], {}, 'serve takes no argument "now"'],
    [["--port", "1", "serve"], {}, '"--port" must follow the command'],
    [["serve"], { PORT: "http" }, 'PORT is "http"'],
    [["serve"], { RINGPORT_STREAM_PREVIEW: "maybe" }, 'RINGPORT_STREAM_PREVIEW is "maybe": it must be 1 or true'],
    [["serve"], { LOG_LEVEL: "loud" }, "debug, info, warn, error or silent"],
    [["serve"], { RINGPORT_QUEUE_DEPTH: "3" }, "RINGPORT_QUEUE=fifo"],
    [["serve"], { RINGPORT_SPEECH_URL: "http://speech.test/v1" }, "RINGPORT_SPEECH_MODEL"],
    [["token", "create"], {}, "token create --user NAME"],
    [["token", "create", "--user", " "], {}, "--user is"],
    [["token", "create", "--user", "a", "--expires-in", "soon"], {}, '--expires-in is "soon"'],
    [["token", "create", "--user", "a", "--demo-instance", "x"], {}, '--demo-instance is "x"'],
    [["token", "revoke"], {}, "needs ID"],
    [["token", "revoke", "tok_1"], {}, '"tok_1" is not a token\'s id'],
    [["token", "list"], {}, "there is no database"],
    [["demo", "--audio", "no-such-file.wav"], {}, '--audio is "no-such-file.wav"'],
    [["demo", "--audio", "a.wav", "--text", "b"], {}, "leave out --text"],
  ] as const)("ringport %j with %j fails in one line with exit code 2", async (args, env, expectedText) => {
    const data = join(freshFolder(), "data");
    const { code, stdout, stderr } = await run(args, { RINGPORT_DATA: data, ...env });
    expect(stderr).toContain(expectedText);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect([code, stdout]).toEqual([2, ""]);
    expect(existsSync(data)).toBe(false);
  });

  describe.concurrent("secrets are not printed", () => {
    test.each([
      ["RINGPORT_SECRET", "hunter2"],
      ["DATABASE_URL", "mysql://user:hunter2@host/database"],
      ["DATABASE_URL", "postgres://user:hunter2@[::1/database"],
      ["RINGPORT_SPEECH_URL", "http://ana:hunter2@127.0.0.1:1/v1"],
      ["RINGPORT_TRANSCRIPTION_URL", "https://hunter2@speech.example"],
      ["RINGPORT_PUBLIC_URL", "ftp://ana:hunter2@calls.example"],
    ])("in errors about settings: %s=%s", async (name, value) => {
      const { code, stderr } = await run(["serve"], { [name]: value });
      expect(code).toBe(2);
      expect(stderr).toContain(name);
      expect(stderr).not.toContain("hunter2");
    });

    test.each([
      [["token", "revoke", "rp_live_hunter2hunter2"]],
      [["rp_live_hunter2hunter2"]],
      [["calls", "rp_live_hunter2hunter2", "--json"]],
      [["serve", "--rp_live_hunter2hunter2"]],
      [["serve", "--port", "rp_live_hunter2hunter2"]],
    ])("in errors about arguments: %s", async (args) => {
      const result = await run(args);
      expect(result.code).toBe(2);
      expect(result.stdout + result.stderr).toContain("rp_live_[hidden]");
      expect(result.stdout + result.stderr).not.toContain("hunter2");
    });

    test.each([[["calls"]], [["calls", "--json"]], [["doctor", "--json"]]])("by client commands: %s", async (args) => {
      const RINGPORT_URL = "http://ana:hunter2@127.0.0.1:1";
      const result = await run(args, { RINGPORT_URL, RINGPORT_TOKEN: "rp_live_x" });
      expect(result.stdout + result.stderr).not.toContain("hunter2");
    });
  });

  test("an unusable data folder is named", async () => {
    const folder = freshFolder();
    const file = join(folder, "file");
    writeFileSync(file, "");
    for (const data of [file, join(file, "below")]) {
      const { code, stderr } = await run(["serve"], { RINGPORT_DATA: data });
      expect(code).toBe(2);
      expect(stderr).toContain(`the data folder ${data} cannot be used`);
      expect(stderr).toContain("RINGPORT_DATA");
    }
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
