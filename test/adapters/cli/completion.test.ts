import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { missing } from "../../support/runtimes.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder, node, cli as program, run } from "./run-cli.ts";

function bashSkipReason(): string | undefined {
  if (process.platform === "win32") return missing("Windows has no bash");
  return spawnSync("bash", ["--version"]).status === 0 ? undefined : missing("bash is not installed");
}

const skipReason = node.missing ?? bashSkipReason();

describe.skipIf(skipReason)(
  `completion in bash${skipReason ? ` (skipped: ${skipReason})` : ""}`,
  { timeout: 60_000 },
  () => {
    const cli = new CliServer();
    const folder = freshFolder();
    const words = node.command.map((word) => `'${word}'`).join(" ");
    writeFileSync(join(folder, "ringport"), `#!/bin/sh\nexec ${words} '${program}' "$@"\n`);
    chmodSync(join(folder, "ringport"), 0o755);
    mkdirSync(join(folder, "music"));
    writeFileSync(join(folder, "music", "my song.mp3"), "");

    /** Completions that bash offers when the Tab key is pressed at the end of each line. */
    async function completionsOf(lines: readonly string[], user = "typist"): Promise<string[][]> {
      const { token = "" } = await cli.server.as(user);
      // Splits each line as readline does, then calls the function that `complete` has registered for the command.
      const script = `
      source <(ringport completion bash)
      function_name=$(complete -p ringport | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
      for COMP_LINE; do
        COMP_POINT=\${#COMP_LINE}
        read -ra COMP_WORDS <<< "\${COMP_LINE//=/ = }"
        [[ $COMP_LINE == *[\\ =] ]] && COMP_WORDS+=("")
        COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
        "$function_name" ringport "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "\${COMPREPLY[@]}" end
      done`;
      const env = { PATH: `${folder}:${process.env.PATH}`, RINGPORT_URL: cli.server.base, RINGPORT_TOKEN: token };
      const output = execFileSync("bash", ["--norc", "-c", script, "bash", ...lines], {
        env,
        cwd: folder,
        encoding: "utf8",
      });
      const blocks = output.split("end\n").slice(0, lines.length);
      return blocks.map((text) => text.split("\n").filter(Boolean));
    }

    test("commands, flags, values and files are completed", async () => {
      const expectedWords: Readonly<Record<string, readonly string[]>> = {
        "ringport ": ["serve", "instance", "call", "calls", "doctor", "token"],
        "ringport in": ["instance"],
        "ringport instance ": ["create", "list", "show", "qr", "delete"],
        "ringport calls ": ["show", "hangup"],
        "ringport instance create --": ["--metadata", "--link", "--json", "--url", "--token", "--help"],
        "ringport serve --ring": ["--ring-timeout-ms"],
        "ringport calls --status ": ["QUEUED", "RINGING", "IN_PROGRESS", "COMPLETED", "FAILED"],
        "ringport calls --status comp": ["COMPLETED"],
        "ringport calls --status=F": ["FAILED"],
        "ringport serve --queue ": ["single", "fifo"],
        "ringport completion ": ["bash", "zsh", "fish"],
        "ringport call +12025550100 --audio mus": ["music"],
        "ringport call +12025550100 --audio music/": ["music/my song.mp3"],
      };
      const lines = Object.keys(expectedWords);
      for (const [n, offeredWords] of (await completionsOf(lines)).entries()) {
        const line = lines[n]!;
        expect(offeredWords, line).toEqual(expect.arrayContaining([...expectedWords[line]!]));
        const last = /[ =]$/.test(line) ? "" : (line.split(/[ =]/).at(-1) ?? "");
        for (const word of offeredWords)
          expect(word.toLowerCase().startsWith(last.toLowerCase()), `${line}: ${word}`).toBe(true);
      }
    });

    test("ids and voices come from the server, and ids only from the user's own instances", async () => {
      const { client, instanceId } = await cli.caller("owner");
      const call = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
      const [instances, numbers, calls, voices] = await completionsOf(
        [
          "ringport instance show ",
          "ringport call +12025550100 --instance inst_",
          "ringport calls show ",
          "ringport voices --play en-GB-1",
        ],
        "owner",
      );
      expect([instances, numbers]).toEqual([[instanceId], [instanceId]]);
      expect([calls, voices]).toEqual([[call.id], ["en-GB-1"]]);
      expect(await completionsOf(["ringport instance show "])).toEqual([[]]);
    });

    test("without a server there are no completions and no output", async () => {
      const env = { RINGPORT_URL: "http://127.0.0.1:1", RINGPORT_TOKEN: "x" };
      expect(await run(["__complete", "instance", "show", ""], env)).toEqual({ code: 0, stdout: "", stderr: "" });
    });
  },
);

describe.skipIf(node.missing)("the completion scripts", { timeout: 30_000 }, () => {
  test("are printed for bash, zsh and fish", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await run(["completion", shell]);
      expect([code, stdout]).toEqual([0, expect.stringContaining("__complete")]);
    }
    const unknownShell = await run(["completion", "tcsh"]);
    expect([unknownShell.code, unknownShell.stderr]).toEqual([
      2,
      expect.stringContaining("it must be bash, zsh or fish"),
    ]);
  });
});
