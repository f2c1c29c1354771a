import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RuntimeName } from "../support/runtimes.ts";
import { type CallView, expected, until } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { folder, runtimeNamed, startExample } from "./example.ts";
import { startProgram } from "./program.ts";
import { expectTone, TONE_WAV } from "./tone-call.ts";

const LINK_URL = /http:\S+\/simulator\/\S*\w/;

describe("polling-client.ts prints an audible call's timeline", () => {
  for (const name of ["node26", "node22", "bun", "deno"] as const satisfies readonly RuntimeName[]) {
    const runtime = runtimeNamed(name);
    test.skipIf(runtime.missing)(`on ${runtime.title}`, async () => {
      const { base, client } = await startExample("node-server.ts");
      writeFileSync(join(folder(), "tone.wav"), TONE_WAV);
      const env = { RINGPORT_URL: base, RINGPORT_TOKEN: client.token! };
      const program = startProgram(runtime, ["polling-client.ts", "tone.wav"], folder(), env);

      await Promise.race([
        program.finalOutput,
        until(program.output, (text) => LINK_URL.test(text), 15_000, "the link page"),
      ]);
      expected(200, await send("POST", LINK_URL.exec(program.output())![0]));
      const output = await program.finalOutput;

      const printedTypes = [...output.matchAll(/^\d{4}-\S+Z (\S+)/gm)].map(([, type]) => type);
      expect(printedTypes.filter((type) => type !== "alerting" && type !== "message_ready")).toEqual([
        "queued",
        "ringing",
        "answered",
        "completed",
      ]);
      expect(output).toMatch(/^COMPLETED \{\s+reason: ["']message_played["']/m);
      const [call] = expected(200, await client.get("/v1/calls")).json<CallView[]>();
      expectTone(await client.heard(call!.id));
    });
  }
});
