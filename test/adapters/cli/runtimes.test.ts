import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runtimes } from "../../support/runtimes.ts";
import { loudPart, toneShare, toneWav } from "../../support/server-sound.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder } from "./run-cli.ts";

describe.skipIf(runtimes.find(({ name }) => name === "node26")?.missing)(
  "the command line",
  { timeout: 90_000 },
  () => {
    const cli = new CliServer();

    for (const runtime of runtimes.filter(({ name }) => name !== "node26"))
      describe.skipIf(runtime.missing)(`on ${runtime.title}`, () => {
        const user = runtime.name;
        const run = (...args: string[]) => cli.run(user, args, { runtime });

        test("places an audible call, and lists it", async () => {
          const { client, instanceId } = await cli.caller(user);
          const file = join(freshFolder(), "tone.wav");
          writeFileSync(file, toneWav({ hz: 600, ms: 800 }));
          const callRun = await run("call", "+12025550100", "--audio", file, "--json");
          expect([callRun.code, callRun.stderr]).toEqual([0, ""]);
          const { id } = JSON.parse(callRun.stdout) as { id: string };
          const heard = await client.heard(id);
          const { from, to } = loudPart(heard);
          expect(toneShare({ ...heard, samples: heard.samples.subarray(from, to) }, 600)).toBeGreaterThan(0.95);
          const listRun = await run("calls", "--instance", instanceId);
          expect(listRun.stdout.split("\t")[0]).toBe(id);
          expect((await run("voices", "--language", "en-US")).stdout).toMatch(/^en-US-1\t/);
        });

        test("hangs up on Ctrl-C", async () => {
          const { client, instanceId } = await cli.caller(user);
          const args = ["call", "+12025550102", "--text", "Never heard.", "--instance", instanceId, "--json"];
          const command = await cli.start(user, args, { runtime });
          const queue = async () => (await client.instance(instanceId)).callQueue ?? [];
          await expect.poll(async () => (await queue())[0]?.status, { timeout: 15_000 }).toBe("RINGING");
          command.child.kill("SIGINT");
          const { code, stdout } = await command.finished;
          expect([code, JSON.parse(stdout)]).toEqual([130, expect.objectContaining({ status: "FAILED" })]);
        });

        test("draws the QR code, and reports in one line that no server is running", async () => {
          const { id } = await (await cli.server.as(user)).createInstance();
          expect((await run("instance", "qr", id, "--no-wait")).stdout).toContain("▄▄▄▄▄");
          const { code, stdout, stderr } = await run("calls", "--url", "http://127.0.0.1:1");
          expect([code, stdout]).toEqual([2, ""]);
          expect(stderr).toBe(
            "ringport: no server responds at http://127.0.0.1:1; start one with: npm start (or set RINGPORT_URL)\n",
          );
        });

        test("doctor names the runtime", async () => {
          const { code, stdout } = await run("doctor", "--json");
          const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; detail: string }[] };
          expect([code, findings.filter(({ state }) => state === "broken")]).toEqual([0, []]);
          expect(findings[0]?.detail.toLowerCase()).toContain(runtime.name.replace(/\d+$/, ""));
        });
      });
  },
);
