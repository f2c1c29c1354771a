import { beforeAll, expect, test } from "vitest";
import type { Ringport } from "../../../src/ringport.ts";
import { until } from "../../support/server-client.ts";
import { recognise } from "../recogniser.ts";
import { APPOINTMENT } from "../sentences.ts";
import { run, withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";
import { ADA, startTrunkLine } from "./trunk-line.ts";

/** Digits are distinguishable on a telephone line. */
const SENTENCE = "Seven, two, nine, four.";
const DIGIT = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

withTools("an agent on a call to a softphone", ["baresip", "openssl", "sox", "pocketsphinx_batch"], () => {
  const stage = new Stage();
  let softphone: Baresip;
  let ringport: Ringport;
  let instanceId: string;
  beforeAll(async () => {
    softphone = await startBaresip(stage, makeCertificates(stage.folder("keys")));
    const trunk = { server: `sip:127.0.0.1:${softphone.port}` };
    ({ ringport, instanceId } = await startTrunkLine(stage, { trunk }));
  });

  test("asks, gets the softphone's key and replies: word by word, in the softphone's recording", async () => {
    const call = await ringport.calls.create(ADA, {
      instanceId,
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: NUMBERS.pcmu },
      agent: {
        instructions: [`Ask code: ${SENTENCE}`, `If 4: say: ${APPOINTMENT.text}`, "Otherwise: hang up"],
      },
    });
    const transcriptLines = async () => (await ringport.calls.transcripts(ADA, [call])).get(call.id) ?? [];
    await until(transcriptLines, (lines) => lines.some(({ text }) => text === SENTENCE), 20_000, "the question");
    softphone.command("sndcode", "4");
    const { status, outcome, result } = await ringport.calls.wait(ADA, call.id);
    expect([status, outcome?.reason, result]).toEqual(["COMPLETED", "agent_finished", { code: "4" }]);

    const { path } = await monoOf(await softphone.heardFile());
    const lines = await transcriptLines();
    expect(lines.map(({ text }) => text)).toEqual(["This is an automated call.", SENTENCE, APPOINTMENT.text]);
    const extract = (name: string, from: number, to: number): string => {
      const part = path.replace(/\.wav$/, `-${name}.wav`);
      run("sox", path, part, "trim", String(Math.max(0, from / 1_000 - 0.1)), `=${to / 1_000 + 0.4}`);
      return part;
    };
    const [, question, answer] = lines;
    expect(recognise(extract("question", question!.startMs, question!.endMs), [DIGIT, DIGIT, DIGIT, DIGIT])).toBe(
      "seven two nine four",
    );
    expect(recognise(extract("answer", answer!.startMs, answer!.endMs), APPOINTMENT.words)).toBe(APPOINTMENT.heard);
  });
});
