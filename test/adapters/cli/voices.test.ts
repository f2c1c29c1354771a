import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { loudness, readWav } from "../../support/server-sound.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder } from "./run-cli.ts";

interface Voice {
  readonly id: string;
  readonly language: string;
}

describe.skipIf(ON_NODE.missing)(`ringport voices on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();

  test("lists the voices by language", async () => {
    const allVoices = JSON.parse((await cli.run("ear", ["voices", "--json"])).stdout) as Voice[];
    expect(allVoices.map(({ id }) => id)).toContain("en-US-1");
    const portugueseVoices = JSON.parse(
      (await cli.run("ear", ["voices", "--json", "--language", "PT"])).stdout,
    ) as Voice[];
    expect(portugueseVoices).toEqual(allVoices.filter(({ language }) => language.startsWith("pt-")));
    const { stdout } = await cli.run("ear", ["voices", "--language", "en-US"]);
    expect(stdout.split("\n")[0]?.split("\t")).toEqual(["en-US-1", "en-US", "flite", "robotic", "SLT (en-US-7)"]);
    const noVoice = await cli.run("ear", ["voices", "--language", "tlh"]);
    expect([noVoice.code, noVoice.stdout]).toEqual([0, ""]);
    expect(noVoice.stderr).toMatch(/^No voice speaks "tlh"; available languages: .*\ben\b.*\bpt\b/);
  });

  test("without a player the sample is saved as a playable file", async () => {
    const folder = freshFolder();
    const args = ["voices", "--play", "en-US-1"];
    const { code, stderr } = await cli.run("ear", args, { cwd: folder, env: { PATH: "" } });
    expect([code, stderr]).toEqual([
      0,
      `No player on this machine works; the sample is in ${join(folder, "en-US-1.wav")}\n`,
    ]);
    expect(loudness(readWav(readFileSync(join(folder, "en-US-1.wav"))))).toBeGreaterThan(200);
  });

  test.skipIf(process.platform === "win32")("a player gets the sample; a failing player is skipped", async () => {
    const folder = freshFolder();
    const player = (name: string, script: string): void => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
    };
    player("aplay", "exit 1");
    player("play", `/bin/cat "$2" > ${join(folder, "played")}`);
    const args = ["voices", "--play", "en-US-1", "--json"];
    const { stdout } = await cli.run("ear", args, { cwd: folder, env: { PATH: folder } });
    expect(JSON.parse(stdout)).toMatchObject({ voice: "en-US-1", player: "play", file: null });
    expect(readWav(readFileSync(join(folder, "played"))).samples.length).toBeGreaterThan(8_000);
    expect(readdirSync(folder).sort()).toEqual(["aplay", "play", "played"]);
  });

  test("an unknown voice is an error", async () => {
    const { code, stderr } = await cli.run("ear", ["voices", "--play", "en-US-99"]);
    expect(code).toBe(2);
    expect(stderr).toContain("en-US-99");
  });
});
