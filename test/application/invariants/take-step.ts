import { isActive } from "../../../src/domain/calls/call.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, audioFile, NUMBER } from "../../support/application.ts";
import { RecordingClient } from "../../support/recording-client.ts";
import { injectFault } from "./inject-fault.ts";
import type { Run } from "./run.ts";
import { isFaultStep, type Step } from "./steps.ts";

const CAUSES: readonly ReleaseCause[] = [
  "callee_hung_up",
  "busy",
  "declined",
  "no_answer",
  "line_lost",
  "media_failed",
];

/** Takes one step; sends requests without waiting for them. A stopped process receives them when it resumes. */
export async function takeStep(run: Run, step: Step): Promise<void> {
  const { process } = run;
  if (isFaultStep(step.step)) return injectFault(run, step);
  if (!process.system.isStopped) return act(run, step);
  process.system.whenRunning(() => {
    if (run.process === process) void act(run, step);
  });
}

/** Actions by callers, callees and lines. */
async function act(run: Run, { step, choice }: Step): Promise<void> {
  const { process, requests } = run;
  const { app, system, network } = process;
  const instanceId = run.instances[choice % run.instances.length] as string;
  const leg = step === "progress" ? network.legs.at(-1) : network.legs.at(-1 - (choice % 3));
  const line = run.line(instanceId);
  const clients = run.clients.filter((candidate) => candidate.process === process);
  const client = clients[choice % Math.max(1, clients.length)];
  switch (step) {
    case "wait":
      return;
    case "create":
    case "create stream": {
      const target = { phoneNumber: NUMBER };
      const tts = { text: "x".repeat(choice + 1), voiceId: "en-US-1" };
      const file = audioFile(1, { truncated: choice % 4 === 2, unknownBytes: choice });
      const input =
        step === "create stream"
          ? ({ instanceId, type: "DYNAMIC_STREAM", target } as const)
          : choice % 2 === 0
            ? ({ instanceId, type: "FIXED_TTS", target, tts } as const)
            : ({ instanceId, type: "FIXED_AUDIO", target, audio: { audioBase64: file } } as const);
      requests.record(process, "create", "", app.calls.create(ALICE, input), ({ id, created }) => {
        run.createdIds.add(id);
        if (created && input.type === "FIXED_AUDIO") run.fileSizes.set(id, atob(file).length);
      });
      return;
    }
    case "create instance":
      requests.record(
        process,
        "create instance",
        "",
        app.instances.create(ALICE, { name: `Desk ${choice}` }),
        ({ id }) => {
          run.instances.push(id);
        },
      );
      return;
    case "create batch": {
      const instanceIds = [...new Set([instanceId, run.instances[0] as string])];
      const tts = { text: "x".repeat(choice + 1), voiceId: "en-US-1" };
      const retry = choice % 2 === 0 ? { on: ["busy" as const, "no_answer" as const], afterMs: 1_000 } : undefined;
      const input = {
        ...{ name: `Batch ${choice}`, instanceIds, message: { type: "FIXED_TTS", tts } as const, start: true },
        ...{ targets: run.newNumbers(3).map((phoneNumber) => ({ phoneNumber })), retry, gapMs: 0 },
      };
      requests.record(process, "create batch", "", app.batches.create(ALICE, input));
      return;
    }
    case "pause batch":
    case "cancel batch": {
      const batches = await run.database.batches.list(ALICE.userId, {}, {});
      const batch = batches[choice % Math.max(1, batches.length)];
      if (!batch) return;
      const { id } = batch;
      const change =
        step === "cancel batch"
          ? app.batches.cancel(ALICE, id, { liveCalls: choice % 2 === 0 ? "end" : "finish" })
          : batch.status === "PAUSED"
            ? app.batches.resume(ALICE, id)
            : app.batches.pause(ALICE, id);
      requests.record(process, "change batch", id, change);
      return;
    }
    case "attach": {
      const streamCalls = (await run.calls()).filter(({ message }) => message.type === "DYNAMIC_STREAM");
      const call = streamCalls[choice % 3];
      if (!call) return;
      requests.record(process, "stream", call.id, app.calls.stream(ALICE, call.id), (reservation) => {
        if (choice % 7 === 0) return reservation.release();
        const recording = new RecordingClient(choice % 2 ? 16_000 : undefined);
        const { life } = process;
        run.clients.push({
          client: recording,
          attachment: reservation.attach(recording),
          callId: call.id,
          process,
          life,
        });
      });
      return;
    }
    case "write":
      return client?.attachment.write(new Int16Array(100 * (choice + 1)).fill(900), choice % 2 ? 16_000 : 8_000);
    case "mark":
      return client?.attachment.mark(`mark ${choice}`);
    case "clear":
      return client?.attachment.clear();
    case "close":
      return client?.attachment.hangUp();
    case "leave":
    case "break":
      return client?.attachment.detach(step === "leave");
    case "hang up":
    case "hang up twice": {
      const allCalls = await run.calls();
      const calls = choice % 4 === 0 ? allCalls : allCalls.filter((call) => isActive(call.status));
      const call = calls[choice % Math.max(1, calls.length)];
      if (!call) return;
      for (let times = step === "hang up" ? 1 : 2; times > 0; times--)
        requests.record(process, "hang up", call.id, app.calls.hangUp(ALICE, call.id));
      return;
    }
    case "do not call":
      return run.protection.toggle();
    case "scan":
      requests.record(process, "configure", instanceId, app.instances.configure(ALICE, instanceId));
      await system.settle();
      return scan(run, instanceId);
    case "online":
      if (line?.linked) line.goOnline();
      return;
    case "offline":
    case "offline unreported":
      return line?.goOffline("gone", { report: step === "offline" });
    case "unlinked":
      if (!line?.linked) return;
      run.linkedIds.delete(instanceId);
      return line.unlinkByOwner();
    case "unlink":
      run.linkedIds.delete(instanceId);
      requests.record(process, "unlink", instanceId, app.instances.unlink(ALICE, instanceId));
      return;
    case "delete":
      run.linkedIds.delete(instanceId);
      requests.record(process, "delete", instanceId, app.instances.delete(ALICE, instanceId));
      return;
    case "placed":
      return placeLeg(run, leg);
    case "progress":
      return leg && network.attempt(leg).isPlaced ? pickUp(run, leg, true) : placeLeg(run, leg);
    case "alert":
      return leg?.alert();
    case "answer":
    case "answer without media":
      return pickUp(run, leg, step === "answer");
    case "connect":
      return connect(run, leg);
    case "press":
      return leg?.press("1");
    case "end":
      if (leg) network.end(leg, CAUSES[choice % CAUSES.length] as ReleaseCause);
      return;
    case "stubborn":
      if (leg) leg.stubborn = true;
      return;
    case "silent":
      if (leg) leg.talkative = false;
      return;
  }
}

/** Scans the code from the instance's line, as the phone's owner would. */
function scan(run: Run, instanceId: string): void {
  const line = run.line(instanceId);
  if (!line?.waitsForScan || line.closed) return;
  run.requests.record(run.process, "scan", instanceId, line.scan(), () => {
    const isDeleted = run.requests.find("delete", instanceId).length > 0;
    // An unlinking that did not return success may continue.
    const isUnlinking = run.requests.find("unlink", instanceId).some(({ response }) => response !== "done");
    if (line.linked && !isDeleted && !isUnlinking) run.linkedIds.add(instanceId);
  });
}

function placeLeg(run: Run, leg: ScriptedLeg | undefined): void {
  const attempt = leg && run.process.network.attempt(leg);
  if (!leg?.live || attempt?.isPlaced !== undefined) return;
  if (attempt) attempt.isPlaced = true;
  leg.placed();
}

function pickUp(run: Run, leg: ScriptedLeg | undefined, media: boolean): void {
  const attempt = leg && run.process.network.attempt(leg);
  if (!leg?.live || !attempt?.isPlaced || attempt.isAnswered) return;
  attempt.isAnswered = true;
  leg.answer({ media: false });
  if (media) connect(run, leg);
}

function connect(run: Run, leg: ScriptedLeg | undefined): void {
  const attempt = leg && run.process.network.attempt(leg);
  if (!leg?.live || !attempt?.isAnswered || attempt.connectedAt !== undefined) return;
  attempt.connectedAt = run.process.system.monotonic();
  leg.connect();
}
